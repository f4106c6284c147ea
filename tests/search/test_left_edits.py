"""Edits that clearly do no good by all trials so far leave the search, and nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.search import _left_edits
from psopt.search._edit_effects import edit_effects
from psopt.search._estimates import Estimate
from psopt.search._left_edits import hopeless
from psopt.search_spaces import Edit, Provenance

from tests.search.racing.test_racing_search import complete, make_evaluator, make_search, make_task

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ORIGIN = Provenance("rules", "accuracy", "", ("train-1",))
POOL = [Edit("note", "Number", f"Note {number} of Number.", ORIGIN) for number in range(12)]
MERGED = Edit("note", "Number", "Notes 0 and 1.", ORIGIN, merges=(POOL[0].id, POOL[1].id))
TRUE_EFFECTS = {POOL[0].id: (-0.06, -0.05, -0.04), POOL[1].id: (-0.06, 0.06, 0.0), POOL[2].id: (0.05, 0.04, 0.06)}
ERROR = 0.008


def make_estimates(n: int, seed: int = 0, error: float = ERROR, merged: bool = False) -> list[Estimate]:
    """Candidates with each edit by the flip of a coin, and leads that are sums of effects and noise."""
    rng = np.random.default_rng(seed)
    estimates = [Estimate(0, "0", (), np.zeros(3), np.zeros(3), 100, True)]
    for trial in range(1, n):
        edits = [edit for edit in POOL if rng.random() < 0.5]
        lead = sum((np.array(TRUE_EFFECTS.get(edit.id, (0, 0, 0))) for edit in edits), rng.normal(0, error, 3))
        if merged and POOL[0] in edits and POOL[1] in edits:
            edits = [*(edit for edit in edits if edit not in POOL[:2]), MERGED]
        errors = np.full(3, error)
        estimates.append(Estimate(trial, str(trial), tuple(edits), np.asarray(lead), errors, 100, True))
    return estimates


def test_effects_are_found_with_honest_errors() -> None:
    misses = []
    for seed in range(8):
        effects = edit_effects(make_estimates(30, seed), POOL)
        truth = np.array([TRUE_EFFECTS.get(name, (0, 0, 0)) for name in effects.parameters])
        misses.append((effects.means - truth) / effects.errors)
    assert np.abs(np.mean(misses, axis=0)).max() < 1.5
    assert 0.6 < np.std(misses) < 1.4


def test_what_merges_others_counts_as_these() -> None:
    apart, merged = (edit_effects(make_estimates(30, merged=is_merged), [*POOL, MERGED]) for is_merged in (False, True))
    assert merged.parameters == apart.parameters == tuple(edit.id for edit in POOL)
    assert np.array_equal(merged.means, apart.means)


def test_only_what_is_worse_and_nowhere_better_is_hopeless() -> None:
    named = [hopeless(edit_effects(make_estimates(40, seed), POOL)) for seed in range(4)]
    assert all(POOL[0].id in names for names in named)
    assert not any(POOL[1].id in names or POOL[2].id in names for names in named)


def test_nothing_is_hopeless_on_little_evidence() -> None:
    assert hopeless(edit_effects(make_estimates(5), POOL)) == []
    noisy = [name for seed in range(8) for name in hopeless(edit_effects(make_estimates(20, seed, 0.1), POOL))]
    assert noisy == []


def test_of_edits_that_do_nothing_hardly_any_is_hopeless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.search.test_left_edits.TRUE_EFFECTS", {})
    names = [name for seed in range(8) for name in hopeless(edit_effects(make_estimates(40, seed), POOL))]
    assert len(names) <= 0.05 * 8 * len(POOL)


def test_an_edit_that_has_left_is_in_no_further_candidate_and_stays_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task()
    search = make_search(tmp_path, make_evaluator(task), own=8)
    seen: dict[str, Any] = {}

    def judged(effects: Any) -> list[str]:
        seen.setdefault("name", effects.parameters[0])
        return [seen["name"]]

    lines: list[str] = []
    search.problem.observer.phase = lines.append
    monkeypatch.setattr(_left_edits, "_FEWEST", 2)
    monkeypatch.setattr(_left_edits, "hopeless", judged)
    search.run()
    ((name, after),) = search.left_edits.items()
    assert name == seen["name"]
    (edit,) = [edit for edit in search.pool if edit.parameter_name == name]
    assert f"clearly no good, and tried no more: {edit}" in lines
    monkeypatch.setattr(_left_edits, "hopeless", lambda _: [])
    again = make_search(tmp_path, make_evaluator(task))
    again.run()
    assert again.left_edits == {name: after}
    before = [trial for trial in complete(again) if trial.number <= after]
    later = [trial for trial in complete(again) if trial.number > after]
    assert later
    assert any(trial.params.get(edit.title) for trial in before)
    assert not any(trial.params.get(edit.title) for trial in later)
    assert not any(edit in candidate.edits for candidate in again.history.evaluated if candidate.trial > after)
    plain = make_search(tmp_path, make_evaluator(task), race="off")
    assert plain.left_edits == {}
