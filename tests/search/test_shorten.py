"""Edits that do no good are dropped; those that do are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.evaluation import Predictions, score
from psopt.proposals import merged_edit, replace_merged
from psopt.search import Candidate
from psopt.search._shorten import edit_worths, is_as_good, next_shorter, shortest
from psopt.search_spaces import Edit, Prompt, Provenance

if TYPE_CHECKING:
    from psopt.tasks import Task

ORIGIN = Provenance("rules", "accuracy", "", ("train-1",))
POOL = [Edit("note", "Number", f"note {i}", ORIGIN) for i in range(8)]


def candidate(task: Task, number: int, edits: Any, n_right: int, first: int = 0) -> tuple[Any, Any]:
    """One with its answers: 40 samples under 4 rephrasings, of which `n_right` are right, from the `first` on."""
    truth = np.array([task.labels.index(sample.label) for sample in task.val])
    array = np.repeat(1 - truth[:, None], 4, axis=1)
    array[first : first + n_right] = truth[first : first + n_right, None]
    found = Predictions(array, task.val, task.labels)
    return Candidate(number, Prompt(f"number {number}", task.labels), tuple(edits), score(found)), found


def by(on_val: Any) -> Any:
    return lambda one, knee: is_as_good(one, knee, on_val)


@pytest.fixture
def tried(task: Task) -> list[Any]:
    """Notes 0 and 1 are worth 10 samples each; the others nothing."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(24):
        edits = [edit for edit in POOL if rng.random() < 0.5]
        worth = sum(10 for edit in edits if edit in POOL[:2])
        found.append(candidate(task, number, edits, 15 + worth)[0])
    return found


def test_worths_find_the_edits_that_do_good_and_those_are_kept_in_their_order(task: Task, tried: list[Any]) -> None:
    worths = edit_worths(tried, POOL)
    assert min(worths[edit.id] for edit in POOL[:2]) > 3 * max(abs(worths[edit.id]) for edit in POOL[2:])
    everything, _ = candidate(task, 99, POOL, 35)
    subsets = next_shorter(everything, tried, POOL)
    assert [len(edits) for edits in subsets] == [4, 5, 6, 7]
    for edits in subsets:
        assert set(POOL[:2]) <= set(edits)
        assert list(edits) == [edit for edit in POOL if edit in edits]


@pytest.mark.parametrize(
    ("of_knee", "of_shorter", "is_accepted"),
    [
        ((36,), (36,), True),
        ((36,), (25,), False),
        ((32,), (31, 8), True),  # other samples are right, one less in all: that may be chance
        ((32,), (24,), False),  # eight less are not
    ],
)
def test_the_shortest_that_loses_no_more_than_one_standard_error_stands_for_the_knee(
    task: Task, of_knee: Any, of_shorter: Any, is_accepted: bool
) -> None:
    known = [candidate(task, 0, POOL, *of_knee), candidate(task, 1, POOL[:2], *of_shorter)]
    known.append(candidate(task, 2, POOL[:1], 15))
    on_val = {one.id: found for one, found in known}
    knee, shorter, worse = (one for one, _ in known)
    assert worse.val.f1 < shorter.val.f1 <= knee.val.f1
    stands = shortest([knee, shorter, worse], knee, by(lambda one: on_val[one.id]))
    assert stands is (shorter if is_accepted else knee)


def test_what_merges_notes_is_worth_as_much_as_they_are_together(tried: list[Any]) -> None:
    merged = merged_edit(POOL[:3], "note 0, 1 and 2")
    worths = edit_worths(tried, [*POOL, merged])
    assert worths[merged.parameter_name] == pytest.approx(sum(worths[edit.id] for edit in POOL[:3]))
    assert replace_merged(POOL, [merged]) == (*POOL[3:], merged)
    assert merged_edit([merged, POOL[3]], "more").merges == tuple(edit.id for edit in POOL[:4])
