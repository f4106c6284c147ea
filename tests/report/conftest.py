"""A finished run, which all tests of reports look at."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from psopt.api import optimize
from psopt.runs import RunDirectory
from psopt.tasks import Sample, Task

from tests.conftest import KeywordModel

HOSTILE = '<script>alert("x")</script>'


def read(directory: RunDirectory, name: str) -> Any:
    return json.loads((directory.path / f"{name}.json").read_text("utf-8"))


def changed_copy(original: RunDirectory, name: str = "other", **files: Any) -> RunDirectory:
    """A copy of a run with other contents of some of its files."""
    folder = Path(tempfile.mkdtemp(dir=original.path.parent)) / name
    shutil.copytree(original.path, folder)
    for file, content in files.items():
        (folder / f"{file}.json").write_text(json.dumps(content), "utf-8")
    return RunDirectory.open(folder)


def hostile(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    return tuple(dataclasses.replace(sample, text=f"{sample.text} {HOSTILE}") for sample in samples)


@pytest.fixture(scope="package")
def done(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run on hostile texts, which no test changes."""
    model: Any = KeywordModel()
    model.is_free = True
    train, test, description = hostile(task.train), hostile(task.test), f"Sort it. {HOSTILE}"
    task = dataclasses.replace(task, train=train, test=test, description=description)
    return optimize(task, trials=6, rounds=1, rephrasings=8, model=model, out=tmp_path_factory.mktemp("done") / "run")


@pytest.fixture
def directory(done: Any) -> RunDirectory:
    return RunDirectory.open(done.path)
