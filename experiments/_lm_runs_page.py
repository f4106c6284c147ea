"""The section of RESULTS.md on whole runs with language models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from _tables import table

if TYPE_CHECKING:
    Results = dict[str, Any]

_MEASURES = ("f1", "sensitivity", "consistency")
_HEAD = """F1 / S / C in percent, each the mean of the seeds: of the original prompt, then of the recommended one. Seeds
whose verdict was to keep the original prompt count with its scores. *Worse* counts runs whose recommended prompt lies
below the original one on test by more than a point in F1, or above by more than a point in S (in F1 alone where the
original prompt always says the same).
"""


def lm_runs(results: Results) -> str:
    """By model and set: what runs began with, and what they recommend."""
    groups: dict[tuple[str, str], list[Results]] = {}
    for run in results["runs"]:
        groups.setdefault((run["model"], run["dataset"]), []).append(run)
    head = ("model", "set", "runs", "test", "original", "recommended", "under people's wordings", "better", "worse")
    rows = [_row(*group, runs) for group, runs in groups.items()]
    return f"{_HEAD}\n{table((*head, 'edits', 'calibrated', 'answers'), rows)}"


def _row(model: str, dataset: str, runs: list[Results]) -> tuple[str, ...]:
    changes = [{name: run["recommended"][name] - run["original"][name] for name in _MEASURES} for run in runs]
    # S of a prompt that always says the same is worth nothing: there F1 alone is compared, as the gate does.
    compared = ["say nothing" not in run["reason"] for run in runs]
    is_worse = [
        change["f1"] < -0.01 or (counts and change["sensitivity"] > 0.01)
        for change, counts in zip(changes, compared, strict=True)
    ]
    people = [_under_other_wordings(run) for run in runs]
    before, after = ([pair[index] for pair in people] for index in (0, 1))
    return (
        model,
        dataset,
        str(len(runs)),
        str(runs[0]["evaluated"]["test"]),
        _triple([run["original"] for run in runs]),
        _triple([run["recommended"] for run in runs]),
        f"{_triple(before)} -> {_triple(after)}",
        f"{sum(run['verdict'] == 'better' for run in runs)} of {len(runs)}",
        f"{sum(is_worse)} of {len(runs)}",
        " ".join(str(len(run["edits"])) for run in runs),
        f"{sum(run['calibrated'] for run in runs)} of {len(runs)}",
        f"{np.mean([run['answers'] for run in runs]):,.0f}",
    )


def _under_other_wordings(run: Results) -> tuple[Results, Results]:
    """The original's scores and those of the recommended prompt: the same where the original is kept."""
    measured = run["other_wordings"]
    if run["verdict"] != "better":
        return measured["baseline"], measured["baseline"]
    return measured["baseline"], {name: change["after"] for name, change in measured["differences"].items()}


def _triple(scores: list[Results]) -> str:
    return " / ".join(f"{100 * np.mean([of[name] for of in scores]):.1f}" for name in _MEASURES)
