"""Edits stand where a reader would write them, in the style of what is around them."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import pytest
import yaml
from psopt.templates import Additions, fill_slots, read_template, write_template

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("good", "bad", "mixed")
ADDITIONS = Additions((("mixed", "both"),), ("Be fair.",), (({"text": "Nice.", "by": "Eve"}, "good"),))
PLAIN = "What the labels mean:\n- mixed: both\n\nNotes:\n- Be fair.\n\n"
# What a prompt is and what it becomes: ~ stands for the notes, ^ for the examples.
STYLES = {
    "plain": (
        "Judge the review.\n\n~Answer with good or bad.\n\n^Review: {text}\nLabel:",
        "Review: Nice.\nLabel: good",
    ),
    "no space": (
        "Judge the review.\n~Answer with good or bad.\n\n^Review: {text}\nLabel:",
        "Review: Nice.\nLabel: good",
    ),
    "leading": ("~^Judge the review:\n\n{text}\n", "Nice.\nAnswer: good"),
    "beside a field": ("~^Judge this: {text}\nLabel:", "Nice.\nLabel: good"),
    "steps": ("Judge the review:\n1. Read it.\n2. Judge.\n\n~^> {text}", "> Nice.\nAnswer: good"),
    "quoted": ('Judge the review.\n\n~^Review:\n"""\n{text}\n"""', 'Review:\n"""\nNice.\n"""\nAnswer: good'),
    "open sentence": ('Judge the review.\n\n~^It says "{text}". It is', 'It says "Nice.". It is good'),
    "answer tags": (
        "Judge the review.\n\n~^Review: {text}\n\nAnswer so:\n<tone>..</tone>",
        "Review: Nice.\n<tone>good</tone>",
    ),
    "several fields": ("Judge it well.\n\n~^By: {by}\n\nSays: {text}\n", "By: Eve\n\nSays: Nice.\n\nAnswer: good"),
}


def edited(folder: Path, text: str, suffix: str = ".txt") -> str:
    path = folder / f"prompt{suffix}"
    path.write_bytes(text.encode())
    prompt = read_template(path, ("text", "by"), labels=LABELS, label_column="tone")
    assert prompt.template is not None
    return write_template(fill_slots(prompt.template, prompt.description, ADDITIONS))


@pytest.mark.parametrize("style", STYLES)
def test_plain_prompts_get_plain_paragraphs(tmp_path: Path, style: str) -> None:
    prompt, example = STYLES[style]
    notes = ("\n" if style == "no space" else "") + PLAIN
    expected = prompt.replace("~", notes).replace("^", f"Examples:\n\n{example}\n\n")
    assert edited(tmp_path, prompt.replace("~", "").replace("^", "")) == expected


def test_markdown_gets_sections_of_the_same_level(tmp_path: Path) -> None:
    assert edited(
        tmp_path, "# Task\n\nJudge the review.\n\n## Labels\n\n* good\n* bad\n\n## Review\n\n{text}\n", ".md"
    ) == (
        "# Task\n\nJudge the review.\n\n## What the labels mean\n\n* mixed: both\n\n## Notes\n\n* Be fair.\n\n## Labels"
        "\n\n* good\n* bad\n\n## Examples\n\nNice.\nAnswer: good\n\n## Review\n\n{text}\n"
    )


def test_within_a_markdown_section_no_heading_parts_it(tmp_path: Path) -> None:
    text = edited(tmp_path, "# Task\nJudge the review.\n\nAnswer with one label.\n\n# Review\n{text}\n", ".md")
    assert text.startswith(f"# Task\nJudge the review.\n\n{PLAIN}Answer with one label.\n\n# Examples\n\nNice.")


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


def test_an_author_may_say_where(tmp_path: Path) -> None:
    text = "Judge the review.\n\nMind:\n  {{ psopt.notes }}\n{{psopt.examples}}\n{text} ({{psopt.definitions}})"
    assert edited(tmp_path, text) == (
        "Judge the review.\n\nMind:\n  - Be fair.\nNice. ()\nAnswer: good\n\n{text} (- mixed: both)"
    )


def test_turns_are_shown_as_turns(tmp_path: Path) -> None:
    chat = (
        "- {role: system, content: Judge the review.}\n- {role: user, content: 'R: Bah.'}\n"
        "- {role: assistant, content: 'Tone: bad!'}\n- {role: user, content: 'R: {text}'}\n"
    )
    path = tmp_path / "chat.yaml"
    path.write_text(chat)
    prompt = read_template(path, ("text",), labels=LABELS)
    assert prompt.template is not None
    written = write_template(fill_slots(prompt.template, prompt.description, Additions(examples=ADDITIONS.examples)))
    added = [line[2:] for line in difflib.ndiff(chat.splitlines(), written.splitlines()) if line[0] == "+"]
    assert added == ["- {role: user, content: 'R: Nice.'}", "- {role: assistant, content: 'Tone: good!'}"]


@pytest.mark.parametrize(
    ("name", "chat", "added"),
    [
        (
            "chat.json",
            '[\n {"role": "system", "content": "Judge the review."},\n'
            ' {"content": "R: {text}\\n", "role": "user"}\n]\n',
            [' {"role": "user", "content": "R: Nice.\\n"},', ' {"role": "assistant", "content": "good"},'],
        ),
        (
            "chat.yaml",
            "- role: system # its task\n  content: |\n    Judge the\n    review.\n"
            "- {role: user, content: 'R: {text}'}\n",
            [
                *("- role: user # its task", "  content: |-", "    R: Nice."),
                *("- role: assistant # its task", "  content: |-", "    good"),
            ],
        ),
    ],
)
def test_where_the_last_message_only_shows_the_sample_examples_are_turns_before_it(
    tmp_path: Path, name: str, chat: str, added: list[str]
) -> None:
    path = tmp_path / name
    path.write_text(chat)
    prompt = read_template(path, ("text",), labels=LABELS)
    assert prompt.template is not None
    written = write_template(fill_slots(prompt.template, prompt.description, Additions(examples=ADDITIONS.examples)))
    assert [line[2:] for line in difflib.ndiff(chat.splitlines(), written.splitlines()) if line[0] == "+"] == added
    assert len(yaml.safe_load(written)) == 4


def test_examples_stand_where_the_author_says_even_beside_turns(tmp_path: Path) -> None:
    chat = (
        "- {role: system, content: 'Judge the review. {{psopt.examples}}'}\n- {role: user, content: 'R: Bah.'}\n"
        "- {role: assistant, content: 'Tone: bad!'}\n- {role: user, content: 'R: {text}'}\n"
    )
    path = tmp_path / "chat.yaml"
    path.write_text(chat)
    prompt = read_template(path, ("text",), labels=LABELS)
    assert prompt.template is not None
    written = write_template(fill_slots(prompt.template, prompt.description, Additions(examples=ADDITIONS.examples)))
    assert yaml.safe_load(written)[0]["content"] == "Judge the review. R: Nice.\nTone: good!"
    assert len(yaml.safe_load(written)) == 4


def test_after_the_last_line_edits_begin_a_paragraph(tmp_path: Path) -> None:
    assert edited(tmp_path, "{text}\n\nIs the review good or bad?\n") == (
        f"Examples:\n\nNice.\nAnswer: good\n\n{{text}}\n\nIs the review good or bad?\n\n{PLAIN.rstrip()}\n"
    )


def test_sections_of_input_and_answer_are_both_shown(tmp_path: Path) -> None:
    text = edited(tmp_path, "### Task:\nJudge the review.\n\n### Input:\n{text}\n\n### Response:\n", ".md")
    assert "### Examples\n\n### Input:\nNice.\n\n### Response:\ngood\n\n### Input:\n{text}" in text
