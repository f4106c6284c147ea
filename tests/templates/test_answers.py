"""How a prompt wants to be answered is found in what it says, and examples are answered so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psopt.templates import example_answer, read_template

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.templates import Template

LABELS = ("billing", "tech", "sales")
FIELDS = {"body": "B", "reason": "It is late."}
# A prompt, how it is read, how an example is answered.
ANSWERS = {
    "Answer with the team.": ("label", "tech"),
    'Respond with {"reason": "..", "team": ".."}.': ("json:team", '{"reason": "It is late.", "team": "tech"}'),
    'Return {"why": "..", "queue": "billing|tech"}': ("json:queue", '{"queue": "tech"}'),
    'Like this:\n```json\n{"label": "<one>"}\n```': ("json:label", '{"label": "tech"}'),
    'The mail is {"body": "{body}"}.': ("label", "tech"),
    "Answer as JSON with team and reason.": ("json:team", '{"team": "tech", "reason": "It is late."}'),
    "Output a JSON object with the keys `reason` and `category`.": (
        "json:category",
        '{"reason": "It is late.", "category": "tech"}',
    ),
    "Put it in <answer> tags.": ("xml:answer", "<answer>tech</answer>"),
    "Like this: <verdict>sales</verdict>": ("xml:verdict", "<verdict>tech</verdict>"),
    "Of these:\n<label>billing</label>\n<label>tech</label>": ("label", "tech"),
    'Like {"a": "..", "b": ".."}.': ("label", "tech"),
    "Write <team>..</team>.": ("xml:team", "<team>tech</team>"),
    "Think first. End with a last line:\nAnswer: <team>": ("last-line", "Answer: tech"),
    "The customer was told:\nAnswer: {reason}": ("label", "tech"),  # an answer that is shown, as judges are
    "Explain, and give the label on the last line.": ("last-line", "Answer: tech"),
}


def template(folder: Path, text: str, answer: str | None = None) -> Template:
    path = folder / "prompt.txt"
    path.write_text(f"Decide which team answers.\n\n{text}\n\n{{body}}")
    prompt = read_template(path, ("body", "reason"), labels=LABELS, label_column="team", answer=answer)
    assert prompt.template is not None
    assert f"answers are read as {prompt.template.answer}" in prompt.notes[-1]
    return prompt.template


@each("text", ANSWERS)
def test_the_answer_is_read_as_the_prompt_says(tmp_path: Path, text: str) -> None:
    spec, shown = ANSWERS[text]
    found = template(tmp_path, text)
    assert found.answer == spec
    assert example_answer(found.example, FIELDS, "tech") == shown


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("label", "tech"),
        ("json:why", '{"why": "tech", "x": "X"}'),
        ("json:other", '{"other": "tech"}'),
        ("xml:out", "<out>tech</out>"),
        ("last-line", "Answer: tech"),
        ("regex:(\\w+)$", "tech"),
    ],
)
def test_what_the_user_says_goes_before(tmp_path: Path, spec: str, shown: str) -> None:
    found = template(tmp_path, 'Answer as {"why": "billing", "x": ".."}.', spec)
    assert found.answer == spec
    assert example_answer(found.example, {"x": "X"}, "tech") == shown


def test_turns_show_the_form(tmp_path: Path) -> None:
    turn = json.dumps({"team": "sales", "reason": "They buy."})
    chat = [
        {"role": "user", "content": "Decide which team answers.\n\nMail: I buy."},
        {"role": "assistant", "content": turn},
        {"role": "user", "content": "Mail: {body}"},
    ]
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    prompt = read_template(tmp_path / "chat.json", ("body", "reason"), labels=LABELS, label_column="team")
    assert prompt.template is not None
    assert prompt.template.answer == "json:team"
    assert prompt.template.example.turns
    assert example_answer(prompt.template.example, FIELDS, "tech") == '{"team": "tech", "reason": "It is late."}'


def test_json_whose_label_is_unclear_is_named(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text('Decide which team answers: {body}\n\nAnswer as {"a": "..", "b": ".."}')
    notes = read_template(tmp_path / "prompt.txt", ("body",), labels=LABELS).notes
    assert "no member is plainly the label (--answer json:NAME says which)" in notes[-1]
