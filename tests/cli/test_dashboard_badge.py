"""The dashboard is told of one best trial, the one that psopt has chosen, whatever part of the trials it asks for."""

from __future__ import annotations

import json
from typing import Any
from wsgiref.util import setup_testing_defaults

import optuna
import optuna_dashboard
import pytest
from psopt.cli._dashboard import OneBadge


def study_of(*values: tuple[float, float]) -> optuna.Study:
    study = optuna.create_study(directions=["maximize", "minimize"])
    for pair in values:
        study.add_trial(optuna.trial.create_trial(values=pair))
    return study


def details(study: optuna.Study, query: str = "after=0", path: str | None = None) -> tuple[str, Any]:
    """The status of an answer, and what it holds."""
    environment: dict[str, Any] = {"PATH_INFO": path or f"/api/studies/{study._study_id}", "QUERY_STRING": query}
    setup_testing_defaults(environment)
    begun: list[Any] = []
    served = OneBadge(optuna_dashboard.wsgi(study._storage), study._storage)
    body = b"".join(served(environment, lambda *words: begun.append(words)))  # type: ignore[arg-type]
    status, headers = begun[-1][:2]
    assert int(dict(headers)["Content-Length"]) == len(body)
    return status, json.loads(body)


@pytest.fixture
def study() -> optuna.Study:
    """Three trials on the front, and one behind, which is chosen."""
    study = study_of((0.5, 0.1), (0.4, 0.1), (0.6, 0.2), (0.7, 0.3))
    study._storage.set_study_system_attr(study._study_id, "psopt:chosen", 1)
    return study


@pytest.mark.parametrize("after", range(5))
def test_the_chosen_trial_is_the_best_one_and_the_others_are_those_asked_for(study: optuna.Study, after: int) -> None:
    _, found = details(study, f"after={after}")
    assert [trial["number"] for trial in found["best_trials"]] == [1]
    assert [trial["number"] for trial in found["trials"]] == list(range(after, 4))


def test_a_study_of_before_0_2_has_the_front_s_badges() -> None:
    _, found = details(study_of((0.5, 0.1), (0.4, 0.1), (0.6, 0.2)))
    assert [trial["number"] for trial in found["best_trials"]] == [0, 2]


def test_what_is_not_a_study_is_answered_by_the_dashboard(study: optuna.Study) -> None:
    assert details(study, path="/api/studies/99")[0].startswith("404")
    assert "study_summaries" in details(study, path="/api/studies")[1]
