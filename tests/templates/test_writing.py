"""A template is written back as the file that it was, with its edits in it; or as one more prompt of promptfoo's."""

from __future__ import annotations

import difflib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.templates import (
    Additions,
    ReadTemplate,
    fill_slots,
    promptfoo_text,
    read_template,
    with_prompt,
    write_template,
)

from tests.sweeps import each
from tests.templates.asking import NOTHING, messages_to, read_text, template_of, written

COLUMNS = ("subject", "body")
LABELS = ("billing", "tech", "sales")
ADDITIONS = Additions(
    (("tech", "faults: all kinds"),),
    ("Bills go to billing.",),
    (({"subject": "Bill", "body": "Twice", "text": "Twice"}, "billing"),),
)
TEXT = "Decide which team answers.\n\nSubject: {subject}\nBody: {body}\nTeam:"
MESSAGES = [
    {"role": "system", "content": "Décide which team answers.\nAnswer with the team."},
    {"role": "user", "content": "Subject: Refund\nBody: Now."},
    {"role": "assistant", "content": "billing"},
    {"role": "user", "content": "Subject: {subject}\nBody: {body}"},
]
YAML = """\
# what we ask
messages:
  - role: system
    content: |
      Decide which team answers.

  # one turn
  - {role: user, content: 'Subject: Don''t\\nBody: "Now".'}
  - role: assistant
    content: billing
  - role: user
    content: >-
      Subject: {subject},
      body: {body}
temperature: 0  # always
"""
PROMPTFOO = "prompts:\n  - 'Decide which team answers: {{body}}'\nproviders: [openai:gpt-5-mini]\n"
FILES = {
    "text.txt": TEXT,
    "windows.md": "\ufeff# Task\r\n\r\nDecide which team answers.\r\n\r\n# Mail\r\n\r\n{{ body }}\r\n",
    "marked.txt": "Please <rephrase>sort {body} now</rephrase>.\n{{psopt.notes}}\n\n{{psopt.examples}}\n",
    "fieldless.txt": "Decide: billing, tech or sales?\n",
    "indented.json": json.dumps({"model": "m", "messages": MESSAGES, "top_p": 1}, indent=4, ensure_ascii=False) + "\n",
    "chat.yaml": YAML,
    "promptfooconfig.yaml": PROMPTFOO,
}


def read(folder: Path, name: str) -> ReadTemplate:
    return read_text(folder / name, FILES[name], COLUMNS, LABELS, label_column="team")


@each("name", FILES)
def test_a_file_is_itself_until_it_is_edited_and_then_asks_what_the_template_asks(tmp_path: Path, name: str) -> None:
    prompt = read(tmp_path, name)
    assert write_template(template_of(prompt)) == FILES[name]
    assert name == "marked.txt" or written(prompt) == FILES[name]
    edited = written(prompt, ADDITIONS)
    assert name != "windows.md" or "\r\n\r\n# Notes\r\n\r\n- Bills go to billing.\r\n" in edited
    options = {"label_column": "team", "prompt_format": template_of(prompt).origin.format}
    again = read_text(tmp_path / f"again{Path(name).suffix}", edited, COLUMNS, LABELS, **options)
    row = {"subject": "Hi", "body": "Help", "text": "Help"}
    assert messages_to(again, row) == messages_to(prompt, row, ADDITIONS)
    if name in ("text.txt", "windows.md", "fieldless.txt"):
        signs = {line[0] for line in difflib.ndiff(FILES[name].splitlines(True), edited.splitlines(True))}
        assert signs == {" ", "+"}


def test_a_chat_that_is_taken_for_a_text_is_written_as_one(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    taken = read_text(path, json.dumps(MESSAGES), COLUMNS, LABELS, prompt_format="text", label_column="team")
    assert written(taken, ADDITIONS).count(json.dumps(MESSAGES)[-40:]) == 1
    assert write_template(template_of(taken)) == json.dumps(MESSAGES)


COMMENTED = """\
- role: system  # who
  content: |  # what
    Decide which team answers.

# a turn
- role: user
  name: example_user
  content: I paid
# its answer
- role: assistant
  content: billing  # easy

# the last
- role: user
  content: "{body}"
"""
PARTED = [
    {"role": "user", "content": [{"type": "text", "text": text}]} for text in ("Decide which team answers.", "{body}")
]
NAMED = [{**message, "name": "n", "weight": 0} for message in MESSAGES[:-1]]


@each(
    "name, text",
    [
        ("chat.yaml", COMMENTED),
        ("chat.txt", COMMENTED),
        (
            "block.yaml",
            "-\n  content: Decide which team answers.\n  role: system\n\n# c\n-\n  content: '{body}'\n  role: user\n",
        ),
        ("flow.yaml", "[{role: system, content: Decide which team answers.}, # c\n {role: user, content: '{body}'}]\n"),
        ("parts.json", json.dumps(PARTED)),
        ("beside.json", json.dumps(MESSAGES, indent=2).replace("[\n  {", "[{").replace("},\n  {", "}, {")),
        ("named.json", json.dumps([*NAMED, MESSAGES[-1]], indent=2)),
        ("all.json", json.dumps([*NAMED, {**MESSAGES[-1], "name": "n"}], indent=2)),
        (
            "c.yaml",
            "prompts:\n - |\n   - role: system\n     content: Decide which team answers.\n"
            "   - {role: user, content: '{{body}}'}\n",
        ),
    ],
)
def test_an_added_turn_has_a_role_and_a_text_alone(tmp_path: Path, name: str, text: str) -> None:
    prompt = read_text(tmp_path / name, text, COLUMNS, LABELS, label_column="team")
    assert written(prompt) == text
    edited = written(prompt, ADDITIONS)
    before, after = yaml.safe_load(text), yaml.safe_load(edited)
    if name == "c.yaml":
        before, after = yaml.safe_load(before["prompts"][0]), yaml.safe_load(after["prompts"][0])
    shown = messages_to(prompt, {"subject": "Hi", "body": "Help", "text": "Help"}, ADDITIONS)
    assert [set(message) for message in after[-3:-1]] == [{"role", "content"}] * 2
    assert [message["role"] for message in after] == [message["role"] for message in shown]
    beside = [{**message, "content": ""} for message in (*after[:-3], after[-1])]
    assert beside == [{**message, "content": ""} for message in before]
    assert edited.count("#") == text.count("#")
    kept = iter(edited)
    assert all(sign in kept for sign in text.split("content:")[-1])


def test_a_function_is_written_as_messages() -> None:
    prompt = read_template("tests.templates.prompt_functions:mail", COLUMNS, labels=LABELS)
    assert json.loads(written(prompt))[1] == {"role": "user", "content": 'Mail {"subject": "{subject}"}\n{body}'}
    with pytest.raises(InputError, match="filled"):
        write_template(template_of(prompt))


TEXTS = st.text(st.sampled_from(" \t\n\r'\"\\#:-|>[]{}&*!%@`,ab\u00e9\u2028\u0085\U0001f600"), max_size=30)


@given(contents=st.lists(TEXTS, min_size=1, max_size=3), note=TEXTS, suffix=st.sampled_from([".json", ".yaml"]))
def test_any_text_survives_being_written(contents: list[str], note: str, suffix: str) -> None:
    meant = [{"role": "user", "content": f"Sort {{body}} now.\n{content}"} for content in contents]
    document = json.dumps(meant) if suffix == ".json" else yaml.safe_dump(meant, allow_unicode=True)
    load: Any = json.loads if suffix == ".json" else yaml.safe_load
    with tempfile.TemporaryDirectory() as folder:
        try:
            prompt = read_text(Path(folder) / f"prompt{suffix}", document, COLUMNS, LABELS)
        except InputError:
            return  # a name in braces that is no column
    asked = messages_to(prompt, {"body": "{subject}", "subject": "", "text": ""})
    assert asked == [{**turn, "content": turn["content"].replace("{body}", "{subject}")} for turn in load(document)]
    filled = fill_slots(template_of(prompt), prompt.description, Additions(notes=(note,)))
    assert [message["content"] for message in load(write_template(filled))] == [
        "".join(piece if isinstance(piece, str) else piece.spelled for piece in message.pieces)
        for message in filled.messages
    ]


ADDED = "Sort the mail: \"A\" or 'B'.\n\n  # indented: {{x}} \U0001f600\n"
CONFIGS = {
    "block": "a: 1 # c\nprompts:\n  - one\n  - two  # mine\nproviders: [x] # p\n",
    "block at the margin": "prompts:\n- one\n- |\n  two\n\n\n# p\nproviders: [x]\n",
    "objects": "prompts:\n  - id: file://a.txt\n    label: l # c\n# p\n\ntests: []\n",
    "flow": "prompts: [one, 'two'] # c\nproviders: [x]\n",
    "one": "prompts: file://prompt.txt  # c\nproviders: [x]\n",
    "one object": "prompts: {raw: one, label: l} # c\nproviders: [x]\n",
    "windows": "prompts:\r\n  - one\r\nproviders: [x]\r\n",
    "mark": "\ufeffprompts:\n  - one\n",
    "p.json": '{\n  "prompts": [\n    "one",\n    "two"\n  ],\n  "tests": []\n}\n',
}


@each("name", CONFIGS)
def test_a_prompt_is_added_and_the_rest_stays(name: str, tmp_path: Path) -> None:
    path = tmp_path / (name if name.endswith(".json") else "promptfooconfig.yaml")
    path.write_bytes(CONFIGS[name].encode())
    changed = with_prompt(path, ADDED, "psopt-1")
    before, after = yaml.safe_load(CONFIGS[name]), yaml.safe_load(changed)
    stated = before["prompts"] if isinstance(before["prompts"], list) else [before["prompts"]]
    assert after == {**before, "prompts": [*stated, {"label": "psopt-1", "raw": ADDED}]}
    assert changed.count("# c") == CONFIGS[name].count("# c")
    assert changed.count("# p") == CONFIGS[name].count("# p")
    if name != "one":
        kept = iter(changed)
        assert all(sign in kept for sign in CONFIGS[name])  # nothing of it is lost, and all in its order
    path.write_bytes(changed.encode())
    with pytest.raises(InputError, match="holds this prompt already"):
        with_prompt(path, ADDED, "psopt-2")


def test_the_text_is_what_is_sent_with_variables(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": text} for text in ("Sort the mail.", "{body}")]
    prompt = read_text(tmp_path / "p.json", json.dumps([{"role": "user", "content": parts}]), ["body"], ["a", "b"])
    assert promptfoo_text(fill_slots(template_of(prompt), prompt.description, NOTHING)) == "Sort the mail.\n{{body}}"
    bare = read_text(tmp_path / "p.txt", "Sort it: a or b.", ["body"], ["a", "b"])
    with pytest.raises(InputError, match="would never show it the text"):
        promptfoo_text(fill_slots(template_of(bare), bare.description, NOTHING))


def test_prompts_that_others_share_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("mine: &p\n  - one\nprompts: *p\n")
    with pytest.raises(InputError, match="put it there by hand"):
        with_prompt(tmp_path / "c.yaml", ADDED, "psopt-1")
    (tmp_path / "d.yaml").write_text("tests: []\n")
    with pytest.raises(InputError, match="is no promptfoo configuration"):
        with_prompt(tmp_path / "d.yaml", ADDED, "psopt-1")
