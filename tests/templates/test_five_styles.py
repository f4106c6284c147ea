"""Prompts of five styles, on a real socket: measured, fixed, and written back as the originals with additions."""

from __future__ import annotations

import csv
import json
import runpy
from typing import TYPE_CHECKING, Any

import psopt
import pytest
import yaml
from psopt.search_spaces import render
from psopt.templates import read_template

from tests.docs.pages import ROOT
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FOLDER = ROOT / "examples" / "own_prompt"
EXAMPLE = runpy.run_path(str(FOLDER / "walk.py"))
MAIL: Path = EXAMPLE["MAIL"]
COLUMNS: dict[str, Any] = EXAMPLE["COLUMNS"]
SMALL: dict[str, Any] = {"trials": 5, "rounds": 1, "rephrasings": 3}
TRAITS = "accuracy=0.5,wobble=0.6,grouped=0,na=0"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    """A small model: it sways with the wording, and gets better by what is added to a prompt."""
    with FakeServer(answer=f"sim/{TRAITS}", task=MAIL, **COLUMNS) as server:
        yield server


@pytest.fixture(scope="module")
def task() -> psopt.Task:
    return psopt.Task.from_csv(MAIL, **COLUMNS)


@pytest.fixture(scope="module", params=EXAMPLE["PROMPTS"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def run(style: str, server: FakeServer, tmp_path_factory: pytest.TempPathFactory) -> psopt.Run:
    """A run that started from the file of one style."""
    folder = tmp_path_factory.mktemp("own")
    cache = folder / "cache"
    started: psopt.Run = EXAMPLE["fix"](style, folder, server.url, "openai/small", cache_dir=cache, **SMALL)
    return started


def messages_of(text: str, suffix: str) -> list[tuple[str, str]]:
    """The roles and texts of a prompt's file, fields open."""
    if suffix in (".txt", ".md"):
        return [("user", text)]
    data = json.loads(text) if suffix == ".json" else yaml.safe_load(text)
    turns = data["messages"] if isinstance(data, dict) else data
    return [(turn["role"], _joined(turn["content"])) for turn in turns]


def _joined(content: Any) -> str:
    return "".join(part["text"] for part in content) if isinstance(content, list) else str(content)


def is_within(original: Iterable[str], extended: Iterable[str]) -> bool:
    """Whether the extended sequence is the original with additions and nothing else."""
    rest = iter(extended)
    return all(item in rest for item in original)


def test_the_mails_are_as_untidy_as_mail_is() -> None:
    with MAIL.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len({row["id"] for row in rows}) == 60
    bodies = [row["body"] for row in rows]
    for mark in (",", '"', "\n", "{name}", "{{ticket}}", "{id", "ß", "€", "&"):
        assert any(mark in body for body in bodies), mark


def test_the_baseline_is_measured_and_a_better_prompt_is_found(run: psopt.Run) -> None:
    assert run.baseline.val.sensitivity > 0
    assert run.baseline.val.na_rate == 0
    knee = run.pick("knee")
    assert knee.edits
    assert knee.val.f1 > run.baseline.val.f1
    assert knee.val.sensitivity <= run.baseline.val.sensitivity


def test_the_prompt_comes_back_as_the_original_and_additions(
    style: str, run: psopt.Run, server: FakeServer, task: psopt.Task
) -> None:
    requests_before = server.counts()["requests"]
    exported = psopt.export(run.path, "knee", verify=10, task=task, cache_dir=run.path.parent / "cache")
    original = (FOLDER / style).read_bytes().decode()
    assert exported.text != original
    assert exported.suffix == (FOLDER / style).suffix
    assert is_within(original, exported.text)
    before, after = (messages_of(text, exported.suffix) for text in (original, exported.text))
    assert is_within([role for role, _ in before], [role for role, _ in after])
    lines_before, lines_after = (
        [line for _, content in messages for line in content.splitlines()] for messages in (before, after)
    )
    assert is_within(lines_before, lines_after)
    for note in run.pick("knee").prompt.notes:
        assert any(note in line for line in lines_after)
    changes = [line[0] for line in exported.diff.splitlines()[2:]]
    assert changes.count("+") >= len(run.pick("knee").prompt.notes)
    assert "-" not in changes
    assert exported.verification
    assert exported.verification.line.startswith("reproduces 10 of 10 answers")
    assert server.counts()["requests"] == requests_before  # from the cache
    assert exported.after.tokens > exported.before.tokens


def test_what_comes_back_is_read_as_what_was_measured(
    style: str, run: psopt.Run, task: psopt.Task, tmp_path: Path
) -> None:
    prompt = run.pick("knee").prompt
    file = tmp_path / style
    file.write_bytes(psopt.export(run.path, "knee").text.encode())
    read = read_template(file, ["id", "subject", "body", "reason"], labels=task.labels, label_column="team")
    assert read.template is not None
    again = psopt.Prompt(read.description, task.labels, template=read.template)
    assert again.answer == prompt.answer
    for sample in task.test:
        assert render(again, sample.text) == render(prompt, sample.text)
