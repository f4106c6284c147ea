"""Prompts of five styles: what they say of labels is read; what a run makes of one is written back."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import psopt
import pytest
from psopt.errors import InputError
from psopt.search_spaces import Definition, Prompt, additions_of, render, with_statements
from psopt.templates import fill_slots, read_template, write_template

from tests.docs.pages import ROOT
from tests.sweeps import each

FOLDER = ROOT / "examples" / "own_prompt"
EXAMPLE = runpy.run_path(str(FOLDER / "walk.py"))
MAIL: Path = EXAMPLE["MAIL"]
COLUMNS: dict[str, Any] = EXAMPLE["COLUMNS"]
SMALL: dict[str, Any] = {"trials": 4, "rounds": 1, "rephrasings": 3}
LABELS = ("accounts", "billing", "sales", "technical")
NOTES = (
    'A mail whose body contains "seats" belongs to sales.',
    'A mail that begins with "app_x" belongs to technical.',
)


@pytest.fixture(scope="module")
def task() -> psopt.Task:
    return psopt.Task.from_csv(MAIL, **COLUMNS)


def read(file: Path) -> Prompt:
    prompt = read_template(file, ["id", "subject", "body", "reason"], labels=LABELS, label_column="team")
    assert prompt.template
    return Prompt(prompt.description, LABELS, template=prompt.template)


def meanings_of(prompt: Prompt) -> dict[str, set[str]]:
    return {definition.label: set(definition.text.split("; ")) for definition in prompt.definitions}


@each("style", EXAMPLE["PROMPTS"])
def test_a_prompt_with_its_edits_written_out_says_what_it_said(style: str, tmp_path: Path) -> None:
    """Models that read a prompt by its parts see what a prompt of the user's own says in its literal text."""
    edited = replace(read(FOLDER / style), notes=NOTES, definitions=(Definition("accounts", "who may log in, roles"),))
    assert edited.template
    text = write_template(fill_slots(edited.template, edited.description, additions_of(edited)))
    (tmp_path / style).write_text(text, encoding="utf-8")
    before, after = with_statements(edited), with_statements(read(tmp_path / style))
    assert set(NOTES) <= set(after.notes) == set(before.notes)
    assert meanings_of(after) == meanings_of(before)
    assert "who may log in, roles" in meanings_of(after)["accounts"]


def test_what_a_run_finds_comes_back_as_what_was_measured(task: psopt.Task, tmp_path: Path) -> None:
    run = EXAMPLE["fix"]("reasoned.json", tmp_path, "", "sim/accuracy=0.6,wobble=0.5", **SMALL)
    knee = run.pick("knee")
    assert knee.edits
    with pytest.raises(InputError, match="format"):
        psopt.export(run.path, "knee", format="json")  # it is called form
    with pytest.raises(InputError, match="a prompt is picked by a text, such as 'knee' or its id, not 3"):
        psopt.export(run.path, 3)  # type: ignore[arg-type]
    exported = psopt.export(run.path, "knee")
    changes = [line[0] for line in exported.diff.splitlines()[2:]]
    assert changes.count("+") >= len(knee.prompt.notes)
    assert "-" not in changes
    (tmp_path / "again.json").write_bytes(exported.text.encode())
    again = replace(read(tmp_path / "again.json"), labels=task.labels)
    assert again.answer == knee.prompt.answer
    for sample in task.test:
        assert render(again, sample.text) == render(knee.prompt, sample.text)
