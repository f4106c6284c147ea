"""A user's prompt is read as it is: its fields, its instructions, its places for edits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psopt.errors import InputError
from psopt.templates import Additions, fill_slots, named_fields, read_template, render_template, write_template

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.templates import ReadTemplate

COLUMNS = ("id", "subject", "body")
LABELS = ("billing", "tech", "sales")
ROW = {"id": "7", "subject": "Hi {body}", "body": "{{ subject }} <rephrase>", "text": "whole"}
PLAIN = "Decide which team answers.\n\nAnswer with the team.\n\nSubject: {subject}\nBody: {{ body }}\nTeam:\n"


def read(folder: Path, text: str, name: str = "prompt.txt", **options: str) -> ReadTemplate:
    path = folder / name
    path.write_bytes(text.encode())
    return read_template(path, COLUMNS, labels=LABELS, label_column="team", **options)


def rendered(prompt: ReadTemplate, additions: Additions | None = None) -> list[str]:
    assert prompt.template is not None
    messages = render_template(prompt.template, prompt.description, additions or Additions(), ROW)
    return [message["content"] for message in messages]


def test_a_text_is_one_message_and_fields_are_filled_once(tmp_path: Path) -> None:
    expected = PLAIN.replace("{subject}", "S").replace("{{ body }}", ROW["body"]).replace("S\n", ROW["subject"] + "\n")
    assert rendered(read(tmp_path, PLAIN)) == [expected]


def test_windows_line_ends_and_the_last_line_are_kept(tmp_path: Path) -> None:
    text = PLAIN.replace("\n", "\r\n").rstrip()
    prompt = read(tmp_path, "\ufeff" + text)
    assert prompt.template is not None
    assert write_template(fill_slots(prompt.template, prompt.description, Additions())) == f"\ufeff{text}"
    (edited,) = rendered(prompt, Additions(notes=("Refunds go to billing.",)))
    assert "answers.\r\n\r\nNotes:\r\n- Refunds go to billing.\r\n\r\nAnswer with" in edited


def test_edits_stand_after_the_instruction_and_before_the_fields(tmp_path: Path) -> None:
    additions = Additions((("tech", "faults"),), ("No guess.",), (({"subject": "Bill", "body": "Twice"}, "billing"),))
    (text,) = rendered(read(tmp_path, PLAIN), additions)
    assert text.startswith(
        "Decide which team answers.\n\nWhat the labels mean:\n- tech: faults\n\nNotes:\n- No guess.\n\nAnswer with the"
        " team.\n\nExamples:\n\nSubject: Bill\nBody: Twice\nTeam: billing\n\nSubject: Hi"
    )


def test_openai_messages_are_read_with_or_without_a_wrapper(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Sort it."},
        {"role": "user", "content": [{"type": "text", "text": "{body}"}]},
    ]
    for data in (messages, {"model": "m", "messages": messages}):
        prompt = read(tmp_path, json.dumps(data), "chat.json")
        assert rendered(prompt)[1] == ROW["body"]
        assert prompt.format == "openai"


@pytest.mark.parametrize(
    "text", ['Sort it: "{nobody}" {body}', "Sort it.\n```\n{nobody}\n```\n{body}", 'Sort it as {"a": {nobody}}: {body}']
)
def test_braces_in_quotes_fences_and_json_mean_themselves(tmp_path: Path, text: str) -> None:
    assert rendered(read(tmp_path, text)) == [text.replace("{body}", ROW["body"])]


def test_a_name_that_is_no_column_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\{boddy\}.*did you mean 'body'\? columns: id, subject, body"):
        read(tmp_path, "Sort it now. {boddy}")


def test_the_label_is_no_field(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="would tell the answer"):
        read(tmp_path, "Sort this mail now. {body} {team}")


def test_named_fields_are_known_before_the_data(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text('Sort {subject} as "{x}".\n\n"{body}" {{ subject }}')
    assert named_fields(tmp_path / "prompt.md") == ("subject",)
    assert named_fields(tmp_path / "prompt.md", columns=COLUMNS) == ("subject", "body")
