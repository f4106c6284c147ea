"""A plan is as large as its limits pay for, the end of the run included; the smallest difference that it can show."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psopt import LMConfig, Task
from psopt.errors import InputError
from psopt.models.chat import Price, TokenRange
from psopt.runs import Grid, RunSettings, SearchBasis
from psopt.runs.planning import (
    Limits,
    Planner,
    Sizes,
    asked_sizes,
    effort_for,
    path,
    resumed_from,
    samples_to_see,
    with_changed_limits,
)
from psopt.settings import DataOptions, SizeOptions
from scipy.special import stdtrit

TASK = Task.from_records([{"text": f"what is {i} ?", "label": "ab"[i % 2] * 3} for i in range(30)])
SETTINGS = RunSettings(DataOptions("tickets.csv"), "openai/model")
ANSWER = TokenRange(2, 6)
MANY = {"train": 4000, "val": 1000, "test": 500}

task_sizes = st.fixed_dictionaries({split: st.integers(4, 3000) for split in ("train", "val", "test")})
limits = st.builds(
    Limits,
    st.none() | st.integers(50, 200_000),
    st.none() | st.integers(10_000, 50_000_000),
    st.none() | st.floats(0.001, 50),
)
sizes_asked = st.builds(
    SizeOptions,
    samples=st.none() | st.integers(2, 600),
    rephrasings=st.none() | st.integers(2, 12),
    trials=st.none() | st.integers(1, 80),
    rounds=st.none() | st.integers(1, 4),
)


def planner(
    limits: Limits, available: Any = None, asked: SizeOptions | None = None, *, races: bool = True, **changes: Any
) -> Planner:
    """A planner for a prompt of 50 tokens per call."""
    grid = Grid(100, 0, TokenRange(4000, 6000).middle, ANSWER.middle)
    splits: Any = ("val", "train", "test")
    price = Price(0.15, 0.6)
    chosen = replace(SETTINGS, **changes)
    grids, shapes = dict.fromkeys(splits, grid), dict.fromkeys(splits, (50, 2))
    basis = SearchBasis(TASK, chosen.baseline(TASK), grids, shapes, 170.0, price, races)
    return Planner(chosen, basis, asked_sizes(asked or SizeOptions()), available or MANY, limits)


@settings(max_examples=12)
@given(task_sizes, limits, sizes_asked, st.booleans(), st.floats(1, 20))
def test_what_is_expected_is_within_the_limits_or_it_is_said_and_larger_ones_never_give_a_smaller_run(
    available: Any, limits: Limits, asked: SizeOptions, races: Any, factor: float
) -> None:
    given: Any = {"available": available, "asked": asked, "races": races, "proposer": "rules"}
    plans = planner(limits, **given)
    sizes = plans.chosen
    raised = {name: limit and type(limit)(limit * factor) for name, limit in asdict(limits).items()}
    more = planner(Limits(**raised), **given).chosen
    assert more.val * more.rephrasings >= sizes.val * sizes.rephrasings
    assert more.test * more.heldout >= sizes.test * sizes.heldout
    assert more.trials >= sizes.trials
    estimate = plans.estimate(sizes)
    phases = {phase.what: phase.calls for phase in estimate.phases}
    assert phases["original prompt on test"] == sizes.test * sizes.heldout
    assert phases["front on test"] >= min(3, sizes.trials - 1) * sizes.test * sizes.heldout
    if limits.pay(estimate.expected):
        assert plans.warnings(sizes) == ()
    else:
        assert sizes == plans.path[0]
        assert len(plans.warnings(sizes)) == 1


@settings(max_examples=12)
@given(task_sizes, sizes_asked)
def test_nothing_falls_along_the_path_and_what_the_user_sets_is_kept(available: Any, asked: SizeOptions) -> None:
    steps = path(asked_sizes(asked), available)
    for before, after in itertools.pairwise(steps):
        assert after.val * after.rephrasings >= before.val * before.rephrasings
        assert after.test * after.heldout >= before.test * before.heldout
        assert (after.train, after.trials, after.rounds) >= (before.train, before.trials, before.rounds)
    whole = Sizes(500, 500, 10**9, rephrasings=10, heldout=asked.rephrasings or 10, trials=40, rounds=3)
    for sizes, planned in ((steps[0], steps[0]), (steps[len(steps) // 2],) * 2, (steps[-1], whole)):
        wanted = asdict(planned) | asked_sizes(asked)
        assert asdict(sizes) == {name: min(size, available.get(name, size)) for name, size in wanted.items()}


def test_a_grid_of_one_rung_is_counted_whole_and_edits_left_out_at_the_end_are_paid_for_too() -> None:
    plans = planner(Limits(5000), asked=SizeOptions(samples=20, rephrasings=2, trials=9))
    calls = {phase.what: phase.calls for phase in plans.estimate(plans.path[0]).phases}
    assert calls["candidates on val"] == 8 * 20 * 2
    plain, plans = planner(Limits(5000)).chosen, planner(Limits(5000), leave_one_out=4)
    assert plans.estimate(plans.chosen).calls <= 5000
    assert plans.chosen.val * plans.chosen.rephrasings < plain.val * plain.rephrasings


def test_a_limit_below_the_floor_and_more_trials_than_it_pays_are_said_with_what_would_do() -> None:
    plans = planner(Limits(300))
    (warning,) = plans.warnings(plans.chosen)
    floor = "the original prompt, three candidates and the front on test take"
    assert warning.startswith(f"300 calls is below the floor: {floor}")
    in_all = plans.estimate(plans.chosen).calls
    assert warning.endswith(f"take about {in_all:,} calls")  # as the table of the plan says
    enough = planner(Limits(in_all))
    assert enough.warnings(enough.chosen) == ()
    plans = planner(Limits(2000), asked=SizeOptions(trials=500))
    (warning,) = plans.warnings(plans.chosen)
    assert warning.startswith("500 trials of 40 x 2 would take about ")
    assert warning.endswith("2,000 calls end the search before")


def test_the_effort_is_light_by_default_and_limits_a_run_where_the_user_does_not() -> None:
    assert effort_for(None, LMConfig(), is_free=False) == "light"
    assert effort_for(None, LMConfig(max_cost=2.0), is_free=False) == "limits"
    assert effort_for(None, LMConfig(max_calls=9), is_free=True) == "full"
    assert effort_for("medium", LMConfig(max_cost=2.0), is_free=True) == "medium"
    assert Limits().within("light") == (Limits(5000), Limits(5000))
    assert Limits(900).within("light") == (Limits(900), Limits(900))
    assert Limits(90_000).within("light") == (Limits(5000), Limits(90_000))
    assert Limits(cost=2.0).within("limits") == (Limits(cost=2.0), Limits(cost=2.0))


def test_sizes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="unknown effort 'ligth'; did you mean 'light'"):
        SizeOptions("ligth")  # type: ignore[arg-type]
    for name in ("trials", "samples", "test_samples", "rephrasings", "heldout", "rounds"):
        with pytest.raises(InputError, match=f"{name} must be at least [12], not 0"):
            SizeOptions(**{name: 0})  # type: ignore[arg-type]


def test_a_run_that_is_resumed_keeps_its_sizes_and_its_limit() -> None:
    sizes: Any = {"samples": 100, "train_samples": 60, "test_samples": 80, "heldout": 3}
    limited: Any = {"effort": "light", "limited_by": "effort", "lm": LMConfig(max_calls=5000)}
    begun = replace(SETTINGS, **sizes, **limited)
    manifest = {"settings": begun.to_dict()}
    assert RunSettings.from_dict(begun.to_dict()) == begun
    again = resumed_from(manifest, SETTINGS, SizeOptions(trials=60))
    assert (again.samples, again.train_samples, again.test_samples, again.heldout) == (100, 60, 80, 3)
    assert (again.search.trials, again.lm.max_calls, again.limited_by) == (60, 5000, "effort")
    assert with_changed_limits(begun, {}) == begun
    freed = with_changed_limits(begun, {"max_cost": 2.0})
    assert (freed.lm.max_calls, freed.limited_by) == (None, "user")
    fitted = replace(begun, limited_by="plan")
    again = resumed_from({"settings": fitted.to_dict()}, replace(SETTINGS, lm=fitted.lm), SizeOptions())
    assert again.limited_by == "plan"
    assert with_changed_limits(fitted, {"max_cost": 2.0}).limited_by == "user"
    with pytest.raises(InputError, match="begun with effort light, and keeps it"):
        resumed_from(manifest, SETTINGS, SizeOptions("heavy"))


def seen(differences: Any) -> float:
    """How often a one-sided paired test over samples and wordings sees a gain: (trials, N, Q) differences by cell."""
    _, n, q = differences.shape
    by_sample, by_wording = differences.mean(axis=2), differences.mean(axis=1)
    of_samples, of_wordings = by_sample.var(axis=1, ddof=1) / n, by_wording.var(axis=1, ddof=1) / q
    variance = of_samples + of_wordings
    freedom = variance**2 / (of_samples**2 / (n - 1) + of_wordings**2 / (q - 1))
    ratios = differences.mean(axis=(1, 2)) / np.sqrt(variance)
    return float((ratios > stdtrit(freedom, 0.95)).mean())


@pytest.mark.parametrize(("difference", "q", "by_wording"), [(0.12, 4, 0.0005), (0.07, 10, 0.002)])
def test_simulated_tests_see_a_difference_on_the_samples_needed_in_four_of_five_cases(
    difference: float, q: int, by_wording: float
) -> None:
    of_samples, of_cells = 0.1, 0.05
    measured = (of_samples / 50 + of_cells / 50 / q, by_wording / q, 50, q - 1)  # on 50 samples
    n = round(samples_to_see(difference, 0.05, *measured))
    rng = np.random.default_rng(5)
    samples = rng.normal(0, np.sqrt(of_samples), (1000, n, 1))
    wordings = rng.normal(0, np.sqrt(by_wording), (1000, 1, q))
    noise = samples + wordings + rng.normal(0, np.sqrt(of_cells), (1000, n, q))
    assert seen(noise + difference) == pytest.approx(0.8, abs=0.06)
    assert seen(noise + difference / 2) < 0.5
    assert seen(noise) < 0.08
    assert samples_to_see(np.sqrt(by_wording / q), 0.05, *measured) == np.inf  # wordings alone vary as much


def test_what_few_samples_show_though_many_would_not_is_found() -> None:
    """With one degree of freedom of wordings, more samples leave fewer degrees of freedom in all."""
    assert samples_to_see(0.06, 0.05, 0.0001, 0.0001, 20, 1) < 20
