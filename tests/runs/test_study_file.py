"""What is told of a study's file without opening it as a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import optuna
from psopt.runs import n_evaluated
from psopt.search.distributed import TOTAL

if TYPE_CHECKING:
    from pathlib import Path


def test_a_search_that_has_converged_is_done_though_trials_were_left_out(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    assert n_evaluated(path, 20) == 0
    study = optuna.create_study(storage=f"sqlite:///{path}")
    study.optimize(lambda _: 0.0, n_trials=3)
    study.set_user_attr(f"{TOTAL}:20", 4)
    assert n_evaluated(path, 20) == 3
    study.optimize(lambda _: 0.0, n_trials=1)
    assert n_evaluated(path, 20) == 20
    assert n_evaluated(path, 30) == 4  # more were asked for since
