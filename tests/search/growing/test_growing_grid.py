"""A diagnosis on a part of train finds the groups that fail, asks little where nothing does, and keeps to its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from psopt.diagnosis import NameableGroups, diagnose_predictions
from psopt.evaluation import Predictions
from psopt.models import NOT_ASKED
from psopt.search import expected_diagnosis_calls
from psopt.search.growing import EarlierFailures, GrowingGrid
from psopt.tasks import Sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

N, Q = 400, 10
LABELS = ("Thing", "Number")
COLOURS = tuple(range(40, 400, 60))  # six samples whose phrase is a sign of their class
OPENINGS = ("what colour has", "name me", "how many cost", "when came")


def sample(number: int) -> Sample:
    opening = OPENINGS[0] if number in COLOURS else OPENINGS[1 + number % 3]
    # words that no other sample has: only the opening can name a group
    return Sample(
        f"train-{number}", f"{opening} zq{number} zk{number} ?", LABELS[0 if number in COLOURS else number % 2]
    )


SAMPLES = tuple(map(sample, range(N)))
TRUTH = np.array([LABELS.index(str(sample.label)) for sample in SAMPLES])


def failing_on(members: tuple[int, ...], n_wrong: int = Q) -> NDArray[np.int64]:
    """Answers that are right but to some samples, under the last rephrasings of each."""
    answers = np.repeat(TRUTH[:, None], Q, axis=1)
    for member in members:
        answers[member, Q - n_wrong :] = 1 - TRUTH[member]
    return answers


def failing_with_others(n_wrong: int = Q) -> NDArray[np.int64]:
    """The colours fail, and so many others that any group of their class may well fail."""
    answers = failing_on(COLOURS, n_wrong)
    others = [row for row in range(0, N, 11) if row not in COLOURS]
    answers[others] = failing_on(tuple(others))[others]
    return answers


def grid(seed: int = 0) -> GrowingGrid:
    return GrowingGrid(NameableGroups.of(SAMPLES, LABELS), TRUTH, Q, seed)


def grow(
    answers: NDArray[np.int64], earlier: EarlierFailures | None = None, most: int | None = None
) -> NDArray[np.bool_]:
    return grid().grow(lambda _: answers, earlier or EarlierFailures.none(N), most)


def test_groups_are_of_those_that_share_a_sign_of_their_class() -> None:
    groups = NameableGroups.of(SAMPLES, LABELS)
    members = {tuple(np.flatnonzero(column)) for column in groups.members.T}
    assert COLOURS in members
    assert not (groups.members & groups.others).any()


def test_where_nothing_fails_little_is_asked() -> None:
    cells = grow(failing_on(()))
    assert cells.sum() < 0.15 * N * Q


@pytest.mark.parametrize("n_wrong", [Q, Q // 2])
def test_a_small_group_that_fails_is_found_for_a_third_of_the_calls(n_wrong: int) -> None:
    answers = failing_with_others(n_wrong)
    cells = grow(answers)
    assert cells.sum() <= N * Q / 3
    assert cells[list(COLOURS)].any(axis=1).all()
    rows = np.flatnonzero(cells.any(axis=1))
    asked = np.where(cells, answers, NOT_ASKED)[rows]
    part = diagnose_predictions(Predictions(asked, tuple(SAMPLES[row] for row in rows), LABELS), labelled=SAMPLES)
    assert any("what colour" in " ".join(failing.phrases) for failing in part.slices if failing.label == "Thing")


def test_a_group_of_which_few_fail_is_asked_under_more_wordings() -> None:
    answers = failing_with_others()
    sound = list(COLOURS[2:])
    answers[sound] = TRUTH[sound, None]
    cells = grow(answers)
    assert (cells[list(COLOURS)].sum(axis=1) == 4).all()
    assert (grow(failing_with_others())[list(COLOURS)].sum(axis=1) == 2).all()  # here it is clear
    assert set(cells.sum(axis=1)) <= {0, 2, 4}


def test_the_limit_holds_but_for_two_of_each_class() -> None:
    answers = failing_on(tuple(range(0, N, 2)))
    for most in (60, 300, 1001):
        assert grow(answers, most=most).sum() <= most
    assert grow(answers, most=0).sum() == 8
    assert set(TRUTH[grow(answers, most=0).any(axis=1)]) == {0, 1}


def test_a_later_diagnosis_begins_with_what_failed_earlier() -> None:
    failed = np.zeros(N, dtype=np.bool_)
    failed[list(COLOURS)] = True
    earlier = EarlierFailures.none(N).after(failed, np.ones(N, dtype=np.bool_))
    cells = grow(failing_on(()), earlier, most=40)
    assert cells[list(COLOURS)].any(axis=1).all()
    assert cells.any(axis=1).sum() > len(COLOURS)  # and with fresh ones


def test_the_latest_diagnosis_says_what_a_sample_is() -> None:
    both = np.ones(2, dtype=np.bool_)
    earlier = EarlierFailures.none(2).after(np.array([True, False]), both)
    assert earlier.kinds.tolist() == [1, 2]
    assert earlier.after(np.array([False, True]), np.array([True, False])).kinds.tolist() == [2, 2]


def test_the_same_cells_are_asked_again() -> None:
    answers = failing_on(COLOURS)
    assert (grow(answers) == grow(answers)).all()


def test_no_more_is_expected_than_there_is() -> None:
    assert expected_diagnosis_calls(500, 10, 6, 3)[0] < 500 * 10 / 3
    assert expected_diagnosis_calls(30, 2, 2, 2) == (60, 60)


def test_figures_are_of_what_was_asked() -> None:
    """Two samples under two and four rephrasings are scored as each would be alone."""
    array = np.array([[0, 1, -1, -1], [0, 0, 0, 1]])
    part = Predictions(array, SAMPLES[:2], LABELS)
    alone = [Predictions(array[:1, :2], SAMPLES[:1], LABELS), Predictions(array[1:], SAMPLES[1:2], LABELS)]
    assert not part.is_whole
    for name in ("sensitivities", "share_right", "share_wrong", "n_right"):
        assert getattr(part, name).tolist() == pytest.approx([float(getattr(single, name)[0]) for single in alone])
    assert part.answers_to(0) == {"Thing": 1, "Number": 1}
    assert part.wrong.sum() == part.asked.sum() - part.right.sum()
