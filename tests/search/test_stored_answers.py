"""Answers travel with their trial, whole grids and parts of them: nobody asks for them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import optuna
import pytest
from psopt.evaluation import Evaluator
from psopt.models import load_model
from psopt.rephrasings import RephrasingSet
from psopt.search import open_study
from psopt.search.distributed import read_answers, write_answers
from psopt.search_spaces import seed_prompt

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

DESCRIPTION = "Sort the question by what it asks for."
SET = RephrasingSet(DESCRIPTION, (DESCRIPTION, "Sort it by what it asks.", "Say what is asked."), (), "rules")
CELLS = np.add.outer(np.arange(40), np.arange(3)) % 2 == 0


@pytest.mark.parametrize("from_probabilities", [False, True])
def test_a_stopped_candidate_s_answers_are_gone_on_with_elsewhere(
    task: Task, tmp_path: Path, *, from_probabilities: bool
) -> None:
    here, elsewhere = (
        Evaluator(load_model("sim/na=0.3", task), SET, {"val": task.val}, from_probabilities=from_probabilities)
        for _ in range(2)
    )
    prompt = seed_prompt(task)
    study = open_study(f"sqlite:///{tmp_path / 'study.db'}", "toy", "random", 42)
    trial = study.ask()
    answers = here.answers(prompt, "val", CELLS)
    write_answers(study, trial.number, here.partial_answers(prompt, "val"))
    study.tell(trial, [0.5, 0.5, 0.5])

    (stored,) = read_answers(study.read_trial(trial.number))
    elsewhere.remember(prompt, "val", *stored)
    np.testing.assert_array_equal(elsewhere.answers(prompt, "val", CELLS), answers)
    assert (elsewhere.budget.usage.made, elsewhere.budget.usage.cached) == (0, 60)

    whole, expected = elsewhere.predictions(prompt, "val"), here.predictions(prompt, "val")
    assert elsewhere.budget.usage.made == 60
    np.testing.assert_array_equal(whole.scored, expected.scored)


def test_a_trial_without_answers_has_none(tmp_path: Path) -> None:
    study = open_study(f"sqlite:///{tmp_path / 'study.db'}", "toy", "random", 42)
    assert read_answers(optuna.trial.create_trial(values=[0.5] * 3)) == []
    trial = study.ask()
    assert read_answers(study.read_trial(trial.number)) == []
