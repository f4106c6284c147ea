"""A finished run, which all tests of reports look at."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest
from psopt.api import optimize

from tests.conftest import KeywordModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.tasks import Sample, Task

HOSTILE = '<script>alert("x")</script>'


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
