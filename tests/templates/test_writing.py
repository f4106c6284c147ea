"""A template is written back as the file that it was, with the edits in it and nothing else changed."""

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
from psopt.templates import Additions, Template, fill_slots, read_template, render_template, write_template

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
    "list.json": json.dumps(MESSAGES),
    "indented.json": json.dumps({"model": "m", "messages": MESSAGES, "top_p": 1}, indent=4, ensure_ascii=False) + "\n",
    "chat.yaml": YAML,
    "promptfooconfig.yaml": PROMPTFOO,
}


def template_of(folder: Path, name: str) -> tuple[Template, str]:
    path = folder / name
    path.write_bytes(FILES[name].encode())
    prompt = read_template(path, COLUMNS, labels=LABELS, label_column="team", prompt_format=None)
    assert prompt.template is not None
    return prompt.template, prompt.description


@pytest.mark.parametrize("name", FILES)
def test_what_was_not_edited_is_the_file_byte_for_byte(tmp_path: Path, name: str) -> None:
    template, description = template_of(tmp_path, name)
    assert write_template(template) == FILES[name]
    if name != "marked.txt":
        assert write_template(fill_slots(template, description, Additions())) == FILES[name]


@pytest.mark.parametrize("name", FILES)
def test_an_edited_file_asks_what_the_template_asks(tmp_path: Path, name: str) -> None:
    template, description = template_of(tmp_path, name)
    row = {"subject": "Hi", "body": "Help", "text": "Help"}
    written = write_template(fill_slots(template, description, ADDITIONS))
    again = tmp_path / f"again{Path(name).suffix}"
    again.write_bytes(written.encode())
    prompt = read_template(again, COLUMNS, labels=LABELS, label_column="team", prompt_format=template.origin.format)
    assert prompt.template is not None
    asked = render_template(prompt.template, prompt.description, Additions(), row)
    assert asked == render_template(template, description, ADDITIONS, row)


@pytest.mark.parametrize("name", ["text.txt", "windows.md", "fieldless.txt"])
def test_an_edited_text_is_the_original_plus_lines(tmp_path: Path, name: str) -> None:
    template, description = template_of(tmp_path, name)
    written = write_template(fill_slots(template, description, ADDITIONS))
    signs = {line[0] for line in difflib.ndiff(FILES[name].splitlines(True), written.splitlines(True))}
    assert signs == {" ", "+"}


def test_everything_around_the_messages_stays(tmp_path: Path) -> None:
    template, description = template_of(tmp_path, "chat.yaml")
    written = write_template(fill_slots(template, description, ADDITIONS))
    assert written.startswith("# what we ask\nmessages:\n  - role: system\n    content: |\n      Decide which team")
    assert "  # one turn\n" in written
    assert written.endswith("temperature: 0  # always\n")
    contents = [message["content"] for message in yaml.safe_load(written)["messages"]]
    assert contents[3:] == ["Subject: Bill, body: Twice", "billing", "Subject: {subject}, body: {body}"]


def test_members_keep_their_order_and_json_its_indentation(tmp_path: Path) -> None:
    template, description = template_of(tmp_path, "indented.json")
    written = write_template(fill_slots(template, description, ADDITIONS))
    data = json.loads(written)
    assert written == json.dumps(data, indent=4, ensure_ascii=False) + "\n"
    assert list(data) == ["model", "messages", "top_p"]


def test_a_function_is_written_as_messages() -> None:
    name = "tests.templates.prompt_functions:mail"
    prompt = read_template(name, COLUMNS, labels=LABELS)
    assert prompt.template is not None
    written = json.loads(write_template(fill_slots(prompt.template, prompt.description, Additions())))
    assert written[1] == {"role": "user", "content": 'Mail {"subject": "{subject}"}\n{body}'}
    with pytest.raises(InputError, match="filled"):
        write_template(prompt.template)


TEXTS = st.text(st.sampled_from(" \t\n\r'\"\\#:-|>[]{}&*!%@`,ab\u00e9\u2028\u0085\U0001f600"), max_size=30)


def _document(suffix: str, contents: list[str]) -> Any:
    messages = [{"role": "user", "content": f"Sort {{body}} now.\n{content}"} for content in contents]
    return json.dumps(messages) if suffix == ".json" else yaml.safe_dump(messages, allow_unicode=True)


@given(contents=st.lists(TEXTS, min_size=1, max_size=3), note=TEXTS, suffix=st.sampled_from([".json", ".yaml"]))
def test_any_text_survives_being_written(contents: list[str], note: str, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"prompt{suffix}"
        path.write_bytes(_document(suffix, contents).encode())
        try:
            prompt = read_template(path, COLUMNS, labels=LABELS)
        except InputError:
            return  # a name in braces that is no column
        assert prompt.template is not None
        row = {"body": "{subject}", "subject": "", "text": ""}
        asked = render_template(prompt.template, prompt.description, Additions(), row)
        meant = json.loads(path.read_bytes()) if suffix == ".json" else yaml.safe_load(path.read_bytes())
        assert asked == [{**message, "content": message["content"].replace("{body}", "{subject}")} for message in meant]
        filled = fill_slots(prompt.template, prompt.description, Additions(notes=(note,)))
        written = write_template(filled)
        data = json.loads(written) if suffix == ".json" else yaml.safe_load(written)
        assert [message["content"] for message in data] == [
            "".join(piece if isinstance(piece, str) else piece.spelled for piece in message.pieces)
            for message in filled.messages
        ]
