"""A user's prompt is read as it is: its format, its fields, its instructions, its places for edits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from psopt.search_spaces import Prompt, render
from psopt.templates import Additions, ReadTemplate, detect_format, named_fields, read_template

from tests.sweeps import each
from tests.templates.asking import asked, messages_to, read_text, template_of, written

COLUMNS = ("id", "subject", "body")
LABELS = ("billing", "tech", "sales")
ROW = {"id": "7", "subject": "Hi {body}", "body": "{{ subject }} <rephrase>", "text": "whole"}
PLAIN = "Decide which team answers.\n\nAnswer with the team.\n\nSubject: {subject}\nBody: {{ body }}\nTeam:\n"
CHAT = [{"role": "system", "content": "Decide which team answers."}, {"role": "user", "content": "{{body}} {body}"}]


def read(folder: Path, text: str, name: str = "prompt.txt", **options: Any) -> ReadTemplate:
    return read_text(folder / name, text, COLUMNS, LABELS, label_column="team", **options)


def test_a_text_is_one_message_and_fields_are_filled_once(tmp_path: Path) -> None:
    expected = PLAIN.replace("{subject}", "S").replace("{{ body }}", ROW["body"]).replace("S\n", ROW["subject"] + "\n")
    assert asked(read(tmp_path, PLAIN), ROW) == [expected]


@each(
    "text", ['Sort it: "{nobody}" {body}', "Sort it.\n```\n{nobody}\n```\n{body}", 'Sort it as {"a": {nobody}}: {body}']
)
def test_braces_in_quotes_fences_and_json_mean_themselves(tmp_path: Path, text: str) -> None:
    assert asked(read(tmp_path, text), ROW) == [text.replace("{body}", ROW["body"])]


def test_named_fields_are_known_before_the_data(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text('Sort {subject} as "{x}".\n\n"{body}" {{ subject }}')
    assert named_fields(tmp_path / "prompt.md") == ("subject",)
    assert named_fields(tmp_path / "prompt.md", columns=COLUMNS) == ("subject", "body")


OWN = json.dumps({"description": "Decide.", "labels": list(LABELS)})
FILES = [
    ("p.txt", "Decide which team answers: {body}", "text"),
    ("expression.md", "Decide: {{ row.body }}", "text"),
    ("d.txt", "Decide which team answers.", "description"),
    ("chat.json", json.dumps(CHAT), "openai"),
    ("wrapped.yml", "model: m\nmessages:\n- {role: user, content: Decide}\n", "openai"),
    ("own.json", OWN, "psopt"),
    ("config.yaml", "description: mail\nprompts: [p.txt]\n", "promptfoo"),
]


@each("name, text, expected", FILES)
def test_the_format_is_seen_and_can_be_overruled(tmp_path: Path, name: str, text: str, expected: str) -> None:
    (tmp_path / name).write_text(text)
    assert detect_format(tmp_path / name, labels=LABELS, columns=("body",)) == expected
    assert detect_format(tmp_path / name, "text") == "text"


def test_a_description_is_told_from_a_prompt(tmp_path: Path) -> None:
    prompt = read(tmp_path, "Decide which team answers.\n")
    assert prompt.template is None
    assert prompt.description == "Decide which team answers.\n"
    assert "taken for the task's description; --prompt-format overrules" in prompt.notes[0]
    overruled = read(tmp_path, "Decide which team answers.\n", prompt_format="text")
    assert asked(overruled, ROW) == ["Decide which team answers.\n\nwhole"]


def test_a_prompt_without_fields_gets_the_text_at_its_end(tmp_path: Path) -> None:
    prompt = read(tmp_path, "Decide: billing, tech or sales?", "p.md", inputs=("subject", "body"))
    assert "the prompt names no field: subject, body goes to its end" in prompt.notes
    assert messages_to(prompt, {"subject": "S", "body": "B"}) == [
        {"role": "user", "content": "Decide: billing, tech or sales?\n\nsubject: S\nbody: B"}
    ]


@each(
    "entry",
    [
        "prompts: file://chat.json",
        "prompts:\n- id: file://chat.json\n  label: mine\n",
        f"prompts: [{json.dumps(json.dumps(CHAT))}]",
        f"prompts:\n- label: mine\n  raw: {json.dumps(json.dumps(CHAT))}\n",
    ],
)
def test_a_promptfoo_configuration_holds_or_names_one_prompt_whose_fields_have_double_braces(
    tmp_path: Path, entry: str
) -> None:
    row = {"body": "B"}
    chat = json.dumps(CHAT)
    assert asked(read(tmp_path, chat, "chat.json"), row) == ["Decide which team answers.", "B B"]
    read_so = read(tmp_path, chat, "chat.json", prompt_format="promptfoo")
    configured = read(tmp_path, entry, "promptfooconfig.yaml")
    assert asked(read_so, row) == asked(configured, row) == ["Decide which team answers.", "B {body}"]
    assert named_fields(tmp_path / "chat.json", "promptfoo") == ("body",)


def test_promptfoos_text_files_hold_one_prompt(tmp_path: Path) -> None:
    text = "Decide it: {{body}}\n---\nDecide that: {{body}}\n"
    with pytest.raises(ValueError, match="holds 2 prompts, parted by ---"):
        read(tmp_path, text, prompt_format="promptfoo")
    assert asked(read(tmp_path, text), {"body": "B"}) == ["Decide it: B\n---\nDecide that: B\n"]


def test_fields_of_a_function_are_where_the_data_went() -> None:
    name = "tests.templates.prompt_functions:text"
    assert named_fields(name) == ("subject", "body")
    assert named_fields("tests.templates.prompt_functions:adds_its_own") == ("subject",)
    prompt = read_template(name, COLUMNS, labels=LABELS)
    assert prompt.format == "python"
    row = {"subject": "{body}", "body": "B", "id": "7", "text": ""}
    assert messages_to(prompt, row) == [{"role": "user", "content": "Decide which team answers.\n\n{body}: B {id}"}]


def test_a_system_message_alone_gets_the_text_in_a_message_after_it(tmp_path: Path) -> None:
    prompt = read(tmp_path, json.dumps(CHAT[:1]), "p.json")
    assert messages_to(prompt, {"text": "T"})[1:] == [{"role": "user", "content": "T"}]
    edited = Additions(notes=("Be exact.",), examples=(({"text": "T2"}, "tech"),))
    (message,) = json.loads(written(prompt, edited))
    assert message["role"] == "system"
    assert message["content"].endswith("- Be exact.\n\nExamples:\n\nT2\nAnswer: tech")


# Instructions whose sentences are broken to fit a line.
BROKEN = (
    "Sort the mail into the queue of the team that has to\nanswer it. Judge by what is wanted, not by words alone.",
    "Find the team without which the writer is not helped; you have\nfour teams:",
)
# A prompt, [what] is rephrased of it, and how many parts that has: what the author marked, else the first instructions.
PARTS = [
    ("Read the review.\n\nSay how it is.\n\nIt is from a shop.\n\nReview: {text}", 2),
    ("# Judge the review\n\n[Say how it is.]\n\n{text}", 1),
    ("You are a judge of texts.\n\n[Judge the review.]\n\n{text}", 1),
    ("[You are a judge of texts.]\n\n{text}", 1),  # a role where nothing else is
    ("[Judge the review.]\nAnswer with one word only.\n\n{text}", 1),
    ("[Judge whether the review is good, bad or mixed.]\n\n{text}", 1),
    ("```\nJudge this not.\n```\n[Judge the review.]\n\n{text}", 1),
    ("Examples:\nIs it good?\n\n# Task\n[Judge the review.]\n\n{text}", 1),
    ("[Judge it well.]\n\nReview: Judge me!\nLabel: bad\n\nReview: {text}\nLabel:", 1),
    ("[Is the review {text} good or bad?] Answer with one word only.", 1),
    ("[请判断以下评论的情感。]\n\n评论:{text}", 1),
    ("- [Read the review.]\n- [Judge it.]\n\n{text}", 2),
    ("Judge.\n<rephrase>[One paragraph\nof two lines.]\n\n- [an item]\n- [another]\n</rephrase>\n{text}", 3),
    ("Please <rephrase>[judge {text} now]</rephrase>, thanks.", 1),
    ("You are a judge.\n\nExamples:\n\nReview: Bah.\nLabel: bad\n\n[Now judge this one.]\n\nReview: {text}", 1),
    ("<examples>\n<example>\nJudge me!\n</example>\n</examples>\n\n[Judge it well.]\n\n<r>{text}</r>", 1),
    ("[次のメールを分類してください:]\n\nメール:\n{text}", 1),
    *((f"# Job\n\n[{text}]\n\n- good\n- bad\n\nAnswer with a label alone.\n\n{{text}}\n", 1) for text in BROKEN),
]
TONES = ("good", "bad", "mixed")


@each("text, n_parts", PARTS)
def test_the_instruction_is_found(tmp_path: Path, text: str, n_parts: int) -> None:
    plain = text.replace("[", "").replace("]", "")
    prompt = read_text(tmp_path / "prompt.txt", plain, ["text"], TONES, prompt_format="text")
    parts = prompt.description.split("\n\n")
    assert len(parts) == n_parts
    if "[" in text:
        assert parts == [piece.split("]")[0] for piece in text.split("[")[1:]]


@each(
    "text",
    [
        "Review:\n{text}\n\nWhich tone has this review?",
        "Example 1:\nReview: Bah.\nLabel: bad\n\nNow judge this one.\nReview: {text}",
    ],
)
def test_a_prompt_with_examples_has_the_instructions_of_the_one_without(tmp_path: Path, text: str) -> None:
    prompt = read_text(tmp_path / "prompt.txt", text, ["text"], TONES)
    shown = [({"text": "Hi\n\nPlease check my order and judge it.\n\nBye"}, "bad"), ({"text": "Is it good?"}, "good")]
    for notes in ((), ("Be exact.",)):
        edited = written(prompt, Additions((), notes, tuple(shown)))
        again = read_text(tmp_path / "again.txt", edited, ["text"], TONES, prompt_format="text")
        assert again.description == prompt.description


def test_each_message_gives_its_first_instruction_but_no_turn_of_an_example(tmp_path: Path) -> None:
    shown = ("Judge reviews.", "Judge this: Bah.", "Judge it bad.", "Say how this is: {text}")
    for contents, description in (
        (shown, "Judge reviews."),
        (("Judge reviews.", "Say how it is.\n\n{text}"), "Judge reviews.\n\nSay how it is."),
    ):
        turns = zip(("system", "user", "assistant", "user"), contents, strict=False)
        chat = [{"role": role, "content": content} for role, content in turns]
        assert read_text(tmp_path / "chat.json", json.dumps(chat), ["text"], TONES).description == description


def test_a_rephrasing_keeps_the_fields_of_its_part(tmp_path: Path) -> None:
    text = "Please <rephrase>judge {{ text }} now</rephrase>, thanks."
    prompt = Prompt(
        "say how {{ text }} is", TONES, template=template_of(read_text(tmp_path / "p", text, ["text"], TONES))
    )
    assert prompt.template
    assert prompt.template.fields == ("text",)
    (message,) = render(prompt, "{{ text }} {x}")
    assert message["content"] == "Please say how {{ text }} {x} is, thanks."
    with pytest.raises(ValueError, match=r"a rephrasing lost the field \{\{ text \}\}: 'say how it is'"):
        render(prompt.described_as("say how it is"), "x")
    with pytest.raises(ValueError, match="1 parts that are rephrased, and the description 2"):
        render(prompt.described_as("a {{ text }}\n\nb"), "x")
