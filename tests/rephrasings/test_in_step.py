"""Passages go forward together, and every combination comes once."""

from __future__ import annotations

import itertools

import pytest
from psopt.rephrasings._passages import in_step


@pytest.mark.parametrize("sizes", [(3,), (3, 2), (2, 3), (2, 2), (1, 4, 2), (4, 2, 3)])
def test_every_combination_comes_once_and_the_first_ones_go_in_step(sizes: tuple[int, ...]) -> None:
    lists = [[f"{place}{number}" for number in range(size)] for place, size in enumerate(sizes)]
    combinations = list(in_step(lists, ["?"] * len(sizes)))
    assert sorted(combinations) == sorted(itertools.product(*lists))
    for number, combination in enumerate(combinations[: max(sizes)]):
        assert combination == tuple(texts[number % len(texts)] for texts in lists)


def test_no_more_is_drawn_than_is_asked_for() -> None:
    endless = (str(number) for number in itertools.count())
    assert list(itertools.islice(in_step([endless, ["a", "b"]], ["?", "?"]), 3)) == [("0", "a"), ("1", "b"), ("2", "a")]
    assert next(endless) == "3"


def test_where_nothing_can_change_there_is_nothing() -> None:
    assert list(in_step([[], []], ["a", "b"])) == []
