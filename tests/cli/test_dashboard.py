"""Optuna's dashboard on a study: it is told of one best trial. Notes are in test_living_studies.py."""

from __future__ import annotations

import json
from typing import Any
from wsgiref.util import setup_testing_defaults

import optuna
import optuna_dashboard
from psopt.cli._report import with_one_badge


def details(study: optuna.Study, query: str = "after=0", path: str | None = None) -> tuple[str, Any]:
    """The status of an answer, and what it holds."""
    request: dict[str, Any] = {"PATH_INFO": path or f"/api/studies/{study._study_id}", "QUERY_STRING": query}
    setup_testing_defaults(request)
    begun: list[Any] = []
    served = with_one_badge(optuna_dashboard.wsgi(study._storage), study._storage)
    body = b"".join(served(request, lambda *words: begun.append(words)))  # type: ignore[arg-type]
    status, headers = begun[-1][:2]
    assert int(dict(headers)["Content-Length"]) == len(body)
    return status, json.loads(body)


def test_the_chosen_trial_is_told_as_the_best_one_and_the_others_are_those_asked_for() -> None:
    """Three trials are on the front, and one behind; the first has the badge once it is chosen."""
    study = optuna.create_study(directions=["maximize", "minimize"])
    for pair in ((0.5, 0.1), (0.4, 0.1), (0.6, 0.2), (0.7, 0.3)):
        study.add_trial(optuna.trial.create_trial(values=pair))
    assert [trial["number"] for trial in details(study)[1]["best_trials"]] == [0, 2, 3]  # as before 0.2
    study._storage.set_study_system_attr(study._study_id, "psopt:chosen", 1)
    for after in range(5):
        _, found = details(study, f"after={after}")
        assert [trial["number"] for trial in found["best_trials"]] == [1]
        assert [trial["number"] for trial in found["trials"]] == list(range(after, 4))
    assert details(study, path="/api/studies/99")[0].startswith("404")
    assert "study_summaries" in details(study, path="/api/studies")[1]
