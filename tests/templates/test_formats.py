"""A prompt's format is seen from its file, and can be said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psopt.templates import (
    Additions,
    detect_format,
    fill_slots,
    named_fields,
    read_template,
    render_template,
    write_template,
)

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("billing", "tech")
CHAT = [{"role": "system", "content": "Decide which team answers."}, {"role": "user", "content": "{{body}} {body}"}]
OWN = {"description": "Decide.", "labels": list(LABELS)}
FILES = {
    "p.txt": ("Decide which team answers: {body}", "text"),
    "q.md": ("Decide: billing or tech?", "text"),
    "marked.md": ("<rephrase>Decide</rephrase>", "text"),
    "expression.md": ("Decide: {{ row.body }}", "text"),
    "d.txt": ("Decide which team answers.", "description"),
    "json.txt": ('Decide which team answers, as {"a": 1}.', "description"),
    "chat.json": (json.dumps(CHAT), "openai"),
    "chat.txt": (json.dumps(CHAT), "openai"),
    "wrapped.yml": ("model: m\nmessages:\n- {role: user, content: Decide}\n", "openai"),
    "own.json": (json.dumps(OWN), "psopt"),
    "own.txt": (json.dumps(OWN), "psopt"),
    "config.yaml": ("description: mail\nprompts: [p.txt]\n", "promptfoo"),
}


def asked(path: Path, prompt_format: str | None = None) -> list[str]:
    prompt = read_template(path, ("body",), labels=LABELS, prompt_format=prompt_format)
    assert prompt.template is not None
    row = {"body": "B", "text": "T"}
    return [message["content"] for message in render_template(prompt.template, prompt.description, Additions(), row)]


@each("name", FILES)
def test_the_format_is_seen_and_can_be_overruled(tmp_path: Path, name: str) -> None:
    text, expected = FILES[name]
    (tmp_path / name).write_text(text)
    assert detect_format(tmp_path / name, labels=LABELS, columns=("body",)) == expected
    assert detect_format(tmp_path / name, "text") == "text"


def test_a_description_is_told_from_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("Decide which team answers.\n")
    prompt = read_template(tmp_path / "d.txt", ("body",), labels=LABELS)
    assert prompt.template is None
    assert prompt.description == "Decide which team answers.\n"
    assert "taken for the task's description; --prompt-format overrules" in prompt.notes[0]
    assert asked(tmp_path / "d.txt", "text") == ["Decide which team answers.\n\nT"]


def test_a_prompt_without_fields_gets_the_text_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("Decide: billing or tech?")
    prompt = read_template(tmp_path / "p.md", ("body", "subject"), labels=LABELS, inputs=("subject", "body"))
    assert "the prompt names no field: subject, body goes to its end" in prompt.notes
    assert prompt.template is not None
    messages = render_template(prompt.template, prompt.description, Additions(), {"subject": "S", "body": "B"})
    assert messages == [{"role": "user", "content": "Decide: billing or tech?\n\nsubject: S\nbody: B"}]


def test_text_parts_are_joined_by_a_line_break(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "Decide which team answers."}, {"type": "text", "text": "{body}"}]
    (tmp_path / "p.json").write_text(json.dumps([{"role": "user", "content": parts}]))
    assert asked(tmp_path / "p.json") == ["Decide which team answers.\nB"]


def test_in_promptfoos_files_only_double_braces_are_fields(tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    assert asked(tmp_path / "chat.json") == ["Decide which team answers.", "B B"]
    assert asked(tmp_path / "chat.json", "promptfoo") == ["Decide which team answers.", "B {body}"]
    assert named_fields(tmp_path / "chat.json", "promptfoo") == ("body",)


@pytest.mark.parametrize(
    "entry",
    [
        "prompts: file://chat.json",
        "prompts: [chat.json]",
        "prompts:\n- id: file://chat.json\n  label: mine\n",
        f"prompts: [{json.dumps(json.dumps(CHAT))}]",
        f"prompts:\n- label: mine\n  raw: {json.dumps(json.dumps(CHAT))}\n",
    ],
)
def test_a_configuration_holds_or_names_one_prompt(tmp_path: Path, entry: str) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    (tmp_path / "promptfooconfig.yaml").write_text(entry)
    assert asked(tmp_path / "promptfooconfig.yaml") == ["Decide which team answers.", "B {body}"]


def test_promptfoos_text_files_hold_one_prompt(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Decide it: {{body}}\n---\nDecide that: {{body}}\n")
    with pytest.raises(ValueError, match="holds 2 prompts, parted by ---"):
        asked(tmp_path / "p.txt", "promptfoo")
    assert asked(tmp_path / "p.txt") == ["Decide it: B\n---\nDecide that: B\n"]


def test_fields_of_a_function_are_where_the_data_went() -> None:
    name = "tests.templates.prompt_functions:text"
    assert named_fields(name) == ("subject", "body")
    prompt = read_template(name, ("subject", "body", "id"), labels=LABELS)
    assert prompt.format == "python"
    assert prompt.template is not None
    row = {"subject": "{body}", "body": "B", "id": "7", "text": ""}
    messages = render_template(prompt.template, prompt.description, Additions(), row)
    assert messages == [{"role": "user", "content": "Decide which team answers.\n\n{body}: B {id}"}]


def test_a_system_message_alone_gets_the_text_in_a_message_after_it(tmp_path: Path) -> None:
    source = json.dumps([{"role": "system", "content": "Decide which team answers."}])
    (tmp_path / "p.json").write_text(source)
    prompt = read_template(tmp_path / "p.json", ("body",), labels=LABELS)
    assert prompt.template is not None
    messages = render_template(prompt.template, prompt.description, Additions(), {"text": "T"})
    assert messages[1:] == [{"role": "user", "content": "T"}]
    edited = Additions(notes=("Be exact.",), examples=(({"text": "T2"}, "tech"),))
    written = json.loads(write_template(fill_slots(prompt.template, prompt.description, edited)))
    assert [message["role"] for message in written] == ["system"]
    assert written[0]["content"].endswith("- Be exact.\n\nExamples:\n\nT2\nAnswer: tech")
