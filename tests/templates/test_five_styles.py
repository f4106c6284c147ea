"""Prompts of five styles: what they say of labels is read; one is fixed on a real socket, and written back."""

from __future__ import annotations

import runpy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.search_spaces import Definition, Prompt, additions_of, render, with_statements
from psopt.templates import fill_slots, read_template, write_template

from tests.docs.pages import ROOT
from tests.fake_server import FakeServer
from tests.models.tiny_lm import save_model

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "examples" / "own_prompt"
EXAMPLE = runpy.run_path(str(FOLDER / "walk.py"))
MAIL: Path = EXAMPLE["MAIL"]
COLUMNS: dict[str, Any] = EXAMPLE["COLUMNS"]
SMALL: dict[str, Any] = {"trials": 5, "rounds": 1, "rephrasings": 3}
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


@pytest.mark.parametrize("style", EXAMPLE["PROMPTS"])
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


def test_a_run_finds_a_better_prompt_that_comes_back_as_what_was_measured(task: psopt.Task, tmp_path: Path) -> None:
    """The small model sways with the wording, and gets better by what is added to a prompt."""
    cache = tmp_path / "cache"
    with FakeServer(answer="knows", task=MAIL, inputs="subject,body", label_column="team") as server:
        run = EXAMPLE["fix"]("reasoned.json", tmp_path, server.url, "openai/small", cache_dir=cache, **SMALL)
        n_requests = server.counts()["requests"]
        exported = psopt.export(run.path, "knee", verify=10, task=task, cache_dir=cache)
        assert server.counts()["requests"] == n_requests  # from the cache
    baseline, knee = run.baseline.val, run.pick("knee")
    assert baseline.sensitivity > 0
    assert baseline.na_rate == 0
    assert knee.edits
    assert knee.val.f1 > baseline.f1
    assert knee.val.sensitivity <= baseline.sensitivity
    changes = [line[0] for line in exported.diff.splitlines()[2:]]
    assert changes.count("+") >= len(knee.prompt.notes)
    assert "-" not in changes
    assert exported.verification
    assert exported.verification.line.startswith("reproduces 10 of 10 answers")
    assert exported.after.tokens > exported.before.tokens
    (tmp_path / "again.json").write_bytes(exported.text.encode())
    again = replace(read(tmp_path / "again.json"), labels=task.labels)
    assert again.answer == knee.prompt.answer
    for sample in task.test:
        assert render(again, sample.text) == render(knee.prompt, sample.text)


def test_a_local_model_scores_labels_where_the_answer_has_them(task: psopt.Task, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra `local` is not installed")
    pytest.importorskip("transformers", reason="the extra `local` is not installed")
    model = f"hf/{save_model(tmp_path / 'tiny')}"
    small: dict[str, Any] = {"model": model, "rephrasings": 2, "samples": 6, "cache_dir": tmp_path / "cache"}
    measured = [psopt.measure(task, FOLDER / style, **small) for style in ("turns.yaml", "reasoned.json")]
    for predictions in measured:
        assert predictions.array.max() < len(task.labels)  # its labels are scored: none is N/A
    assert (measured[0].array != measured[1].array).any()
