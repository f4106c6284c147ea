"""Prompts of five styles: measured, fixed on a real socket, and written back as the originals with additions."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psopt
import pytest
import yaml
from psopt.search_spaces import Definition, Prompt, additions_of, render, with_statements
from psopt.templates import fill_slots, read_template, write_template

from tests.docs.pages import ROOT
from tests.fake_server import FakeServer
from tests.models.tiny_lm import save_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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


def messages_of(text: str, style: str) -> list[tuple[str, str]]:
    """The roles and texts of a prompt's file, fields open."""
    if style.endswith((".txt", ".md")):
        return [("user", text)]
    data = json.loads(text) if style.endswith(".json") else yaml.safe_load(text)
    turns = data["messages"] if isinstance(data, dict) else data
    return [(turn["role"], _joined(turn["content"])) for turn in turns]


def _joined(content: Any) -> str:
    return "".join(part["text"] for part in content) if isinstance(content, list) else str(content)


def is_within(original: Iterable[str], extended: Iterable[str]) -> bool:
    """Whether the extended sequence is the original with additions and nothing else."""
    rest = iter(extended)
    return all(item in rest for item in original)


def assert_extended(style: str, text: str, notes: Iterable[str]) -> None:
    """Assert that a text is the prompt of a style with these notes added, and otherwise the same."""
    original = (FOLDER / style).read_bytes().decode()
    assert text != original
    assert is_within(original, text)
    before, after = messages_of(original, style), messages_of(text, style)
    assert is_within([role for role, _ in before], [role for role, _ in after])
    lines_before, lines_after = (
        [line for _, content in messages for line in content.splitlines()] for messages in (before, after)
    )
    assert is_within(lines_before, lines_after)
    for note in notes:
        assert any(note in line for line in lines_after)


def meanings_of(prompt: Prompt) -> dict[str, set[str]]:
    return {definition.label: set(definition.text.split("; ")) for definition in prompt.definitions}


@pytest.mark.parametrize("style", EXAMPLE["PROMPTS"])
def test_a_prompt_with_edits_is_the_original_with_additions_and_says_what_it_said(style: str, tmp_path: Path) -> None:
    """Models that read a prompt by its parts see what a prompt of the user's own says in its literal text."""
    edited = replace(read(FOLDER / style), notes=NOTES, definitions=(Definition("accounts", "who may log in, roles"),))
    assert edited.template
    text = write_template(fill_slots(edited.template, edited.description, additions_of(edited)))
    assert_extended(style, text, NOTES)
    (tmp_path / style).write_text(text, encoding="utf-8")
    before, after = with_statements(edited), with_statements(read(tmp_path / style))
    assert set(NOTES) <= set(after.notes) == set(before.notes)
    assert meanings_of(after) == meanings_of(before)
    assert "who may log in, roles" in meanings_of(after)["accounts"]


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    """A small model: it sways with the wording, and gets better by what is added to a prompt."""
    with FakeServer(answer="knows", task=MAIL, inputs="subject,body", label_column="team") as server:
        yield server


@pytest.fixture(scope="module")
def run(server: FakeServer, tmp_path_factory: pytest.TempPathFactory) -> psopt.Run:
    """A run that started from the file of one style; tests of `psopt export` have one of another."""
    folder = tmp_path_factory.mktemp("own")
    options = {"cache_dir": folder / "cache", **SMALL}
    started: psopt.Run = EXAMPLE["fix"]("reasoned.json", folder, server.url, "openai/small", **options)
    return started


def test_the_baseline_is_measured_and_a_better_prompt_is_found(run: psopt.Run) -> None:
    assert run.baseline.val.sensitivity > 0
    assert run.baseline.val.na_rate == 0
    knee = run.pick("knee")
    assert knee.edits
    assert knee.val.f1 > run.baseline.val.f1
    assert knee.val.sensitivity <= run.baseline.val.sensitivity


def test_the_prompt_comes_back_as_the_original_and_additions_and_is_read_as_what_was_measured(
    run: psopt.Run, server: FakeServer, task: psopt.Task, tmp_path: Path
) -> None:
    requests_before = server.counts()["requests"]
    exported = psopt.export(run.path, "knee", verify=10, task=task, cache_dir=run.path.parent / "cache")
    prompt = run.pick("knee").prompt
    (style,) = (name for name in EXAMPLE["PROMPTS"] if name == f"{run.path.name}{exported.suffix}")
    assert_extended(style, exported.text, prompt.notes)
    changes = [line[0] for line in exported.diff.splitlines()[2:]]
    assert changes.count("+") >= len(prompt.notes)
    assert "-" not in changes
    assert exported.verification
    assert exported.verification.line.startswith("reproduces 10 of 10 answers")
    assert server.counts()["requests"] == requests_before  # from the cache
    assert exported.after.tokens > exported.before.tokens
    (tmp_path / style).write_bytes(exported.text.encode())
    again = replace(read(tmp_path / style), labels=task.labels)
    assert again.answer == prompt.answer
    for sample in task.test:
        assert render(again, sample.text) == render(prompt, sample.text)


def test_a_local_model_scores_labels_where_the_answer_has_them(task: psopt.Task, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra `local` is not installed")
    pytest.importorskip("transformers", reason="the extra `local` is not installed")
    model = f"hf/{save_model(tmp_path / 'tiny')}"
    small: dict[str, Any] = {"model": model, "rephrasings": 2, "samples": 6, "cache_dir": tmp_path / "cache"}
    measured = [psopt.measure(task, FOLDER / style, **small) for style in ("turns.yaml", "reasoned.json")]
    for predictions in measured:
        assert predictions.array.max() < len(task.labels)  # its labels are scored: none is N/A
    assert (measured[0].array != measured[1].array).any()
