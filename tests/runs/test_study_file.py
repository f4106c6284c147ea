"""What is told of a study's file without opening it as a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import optuna
from psopt.runs import n_evaluated

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_done_is_counted_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    assert n_evaluated(path) == 0
    study = optuna.create_study(storage=f"sqlite:///{path}")
    study.optimize(lambda _: 0.0, n_trials=3)
    assert n_evaluated(path) == 3
