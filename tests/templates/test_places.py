"""Edits stand where a reader would write them, in the style of what is around them."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import yaml
from psopt.templates import Additions

from tests.sweeps import each
from tests.templates.asking import read_text, written

LABELS = ("good", "bad", "mixed")
ADDITIONS = Additions((("mixed", "both"),), ("Be fair.",), (({"text": "Nice.", "by": "Eve"}, "good"),))
PLAIN = "What the labels mean:\n- mixed: both\n\nNotes:\n- Be fair.\n\n"
# What a prompt is and what it becomes: ~ stands for the notes, ^ for the examples; and the example as it is shown.
STYLES = [
    ("Judge the review.\n\n~Answer with good or bad.\n\n^Review: {text}\nLabel:", "Review: Nice.\nLabel: good"),
    ("Judge the review.\n\\~Answer with good or bad.\n\n^Review: {text}\nLabel:", "Review: Nice.\nLabel: good"),
    ("~^Judge the review:\n\n{text}\n", "Nice.\nAnswer: good"),
    ('Judge the review.\n\n~^Review:\n"""\n{text}\n"""', 'Review:\n"""\nNice.\n"""\nAnswer: good'),
    ('Judge the review.\n\n~^It says "{text}". It is', 'It says "Nice.". It is good'),
    ("Judge the review.\n\n~^Review: {text}\n\nAnswer so:\n<tone>..</tone>", "Review: Nice.\n<tone>good</tone>"),
    # Examples have every field that the user's messages show, however these are parted.
    ("Judge it.\n\n~^Review:\n{text}\n\nAnswer:\n{by}\n", "Review:\nNice.\n\nAnswer:\nEve\n\nAnswer: good"),
    ("Judge it.\n\n~^[By]\n{by}\n\n[Review]\n{text}\n", "[By]\nEve\n\n[Review]\nNice.\n\nAnswer: good"),
    ('Judge it.\n\n~^"""\n{by}\n"""\n\n"""\n{text}\n"""\nTone:', '"""\nEve\n"""\n\n"""\nNice.\n"""\nTone: good'),
    ("It is by {by}.\n\nJudge it.\n\n~^Review: {text}\nTone:", "by: Eve\nReview: Nice.\nTone: good"),
]


def edited(folder: Path, text: str, suffix: str = ".txt") -> str:
    prompt = read_text(folder / f"prompt{suffix}", text, ("text", "by"), LABELS, label_column="tone")
    return written(prompt, ADDITIONS)


@each("prompt, example", STYLES)
def test_plain_prompts_get_plain_paragraphs(tmp_path: Path, prompt: str, example: str) -> None:
    """Where no empty line is, marked by a backslash, one goes before the notes."""
    expected = prompt.replace("\\~", f"\n{PLAIN}").replace("~", PLAIN).replace("^", f"Examples:\n\n{example}\n\n")
    assert edited(tmp_path, prompt.replace("\\", "").replace("~", "").replace("^", "")) == expected


def test_markdown_gets_sections_of_the_same_level(tmp_path: Path) -> None:
    text = "# Task\n\nJudge the review.\n\n## Labels\n\n* good\n* bad\n\n## Review\n\n{text}\n"
    assert edited(tmp_path, text, ".md") == (
        "# Task\n\nJudge the review.\n\n## What the labels mean\n\n* mixed: both\n\n## Notes\n\n* Be fair.\n\n## Labels"
        "\n\n* good\n* bad\n\n## Examples\n\nNice.\nAnswer: good\n\n## Review\n\n{text}\n"
    )


def test_examples_have_all_sections_of_a_sample(tmp_path: Path) -> None:
    text = "Judge the review.\n\n## By\n\n{by}\n\n## Review\n\n{text}\n\n## Tone\n"
    example = text.partition("\n\n")[2].format(by="Eve", text="Nice.") + "good"
    notes = "## What the labels mean\n\n- mixed: both\n\n## Notes\n\n- Be fair.\n\n"
    edits = f"Judge the review.\n\n{notes}## Examples\n\n{example}\n\n"
    assert edited(tmp_path, text, ".md") == text.replace("Judge the review.\n\n", edits)
    enclosed = "<by>\n{by}\n</by>\n\n<review>\n{text}\n</review>\n"
    example = enclosed.format(by="Eve", text="Nice.")
    with_examples = edited(tmp_path, f"Judge it.\n\n{enclosed}\nTone:")
    assert f"</notes>\n\n<examples>\n<example>\n{example}\nTone: good\n</example>\n</examples>" in with_examples


def test_xml_gets_sections_after_the_instructions(tmp_path: Path) -> None:
    text = "<task>\nJudge the review.\n</task>\n<review>{text}</review>\nAnswer in <answer> tags."
    assert edited(tmp_path, text) == (
        "<task>\nJudge the review.\n</task>\n<definitions>\n- mixed: both\n</definitions>\n<notes>\n- Be fair."
        "\n</notes>\n<examples>\n<example>\n<review>Nice.</review>\n<answer>good</answer>\n</example>\n</examples>\n\n"
        "<review>{text}</review>\nAnswer in <answer> tags."
    )


def test_examples_go_on_with_those_that_are_there(tmp_path: Path) -> None:
    text = "Judge the review.\n\nReview: Bah.\nLabel: bad\n\nReview: {text}\nLabel:"
    assert "Label: bad\n\nReview: Nice.\nLabel: good\n\nReview: {text}" in edited(tmp_path, text)


OWN_LISTS = [
    "Judge the review.\n\nNotes:\n- Praise is good,\n  mostly.\n-~\n\nReview: {text}",
    "# Task\n\nJudge it.\n\n## Rules\n\n  * Praise is good.\n\n  * Else bad.\n    * or\n  *~\n\n## Review\n{text}",
    "<task>Judge the review.</task>\n<notes>\n- Praise is good.\n-~\n</notes>\n<review>{text}</review>",
    "\\Judge it.\n\nRules:\n1. Praise is good.\n2. Else bad.\n\n{text}",  # a number would have to go on
    "\\Judge the review.\n\nPraise:\n- is good.\n\n{text}",
]


@each("prompt", OWN_LISTS)
def test_notes_go_on_with_the_author_s(tmp_path: Path, prompt: str) -> None:
    """~ stands for a note; none goes on with the list where a prompt begins with a backslash."""
    has_own = not prompt.startswith("\\")
    before = re.sub(r"\n *[-*]~", "", prompt.removeprefix("\\"))
    read = read_text(tmp_path / "prompt.txt", before, ("text",), LABELS)
    after = written(read, Additions(notes=("Be fair.",)))
    assert (after == prompt.replace("~", " Be fair.")) == has_own
    assert has_own or "Notes:\n- Be fair." in after


def test_an_author_may_say_where(tmp_path: Path) -> None:
    text = "Judge the review.\n\nMind:\n  {{ psopt.notes }}\n{{psopt.examples}}\n{text} ({{psopt.definitions}})"
    assert edited(tmp_path, text) == (
        "Judge the review.\n\nMind:\n  - Be fair.\nNice. ()\nAnswer: good\n\n{text} (- mixed: both)"
    )


def with_an_example(path: Path, chat: str) -> str:
    return written(read_text(path, chat, ("text",), LABELS), Additions(examples=ADDITIONS.examples))


TURNS = (
    "- {role: system, content: Judge the review.}\n- {role: user, content: 'R: Bah.'}\n"
    "- {role: assistant, content: 'Tone: bad!'}\n- {role: user, content: 'R: {text}'}\n"
)
# A chat, and the lines that an example adds: turns go on with turns, and are begun where the last message only shows
# the sample.
CHATS = [
    ("chat.yaml", TURNS, ["- role: user", '  content: "R: Nice."', "- role: assistant", '  content: "Tone: good!"']),
    (
        "chat.json",
        '[\n {"role": "system", "content": "Judge the review."},\n {"content": "R: {text}\\n", "role": "user"}\n]\n',
        [' {"role": "user", "content": "R: Nice.\\n"},', ' {"role": "assistant", "content": "good"},'],
    ),
    (
        "chat.yaml",
        "- role: system # its task\n  content: |\n    Judge the\n    review.\n- {role: user, content: 'R: {text}'}\n",
        ["- role: user", '  content: "R: Nice."', "- role: assistant", '  content: "good"'],
    ),
]


@each("name, chat, added", CHATS)
def test_examples_of_a_chat_are_turns(tmp_path: Path, name: str, chat: str, added: list[str]) -> None:
    text = with_an_example(tmp_path / name, chat)
    assert [line[2:] for line in difflib.ndiff(chat.splitlines(), text.splitlines()) if line[0] == "+"] == added
    assert len(yaml.safe_load(text)) == (6 if chat == TURNS else 4)
