"""Notes that match nearly the same samples of train, for the same label, are one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from psopt.proposals import note_text, without_near_equals
from psopt.search_spaces import Edit, Provenance
from psopt.tasks import DatasetInfo, Sample, Task

ORIGIN = Provenance("rules", "accuracy", "", ("train-0",))
OPENINGS = ("how does", "how do", "how do", "how do", "how do", "when did")
TRAIN = tuple(
    Sample(f"train-{number}", f"{OPENINGS[number % 6]} the {number} of it end", "Description") for number in range(60)
)


@pytest.fixture
def small() -> Task:
    info = DatasetInfo("toy", "memory", "0" * 64)
    return Task("toy", "Sort it.", ("Description", "Number"), TRAIN, (), (), info, noun="question")


def note(*phrases: str, gain: float = 0.0, label: str = "Description") -> Edit:
    return Edit("note", label, note_text("question", phrases, label), ORIGIN, gain)


BOTH = note("^how do", "^how does", gain=0.1)
MOST = note("^how do", gain=0.2)  # 40 of the 50 that the other one matches
FEW = note("^how does", gain=0.3)


def test_the_one_with_more_gain_stays(small: Task) -> None:
    assert without_near_equals([FEW, MOST, BOTH], [], small) == [FEW, MOST]
    assert without_near_equals([replace(BOTH, gain=0.5), FEW, MOST], [], small) == [replace(BOTH, gain=0.5), FEW]


def test_ties_go_by_id(small: Task) -> None:
    tied = [replace(BOTH, gain=0.2), MOST]
    first = min(tied, key=lambda edit: edit.id)
    assert without_near_equals(tied, [], small) == without_near_equals(tied[::-1], [], small) == [first]


def test_what_is_in_the_pool_stands_whatever_the_gain(small: Task) -> None:
    assert without_near_equals([FEW, MOST], [BOTH], small) == [FEW]


def test_other_labels_other_kinds_and_what_matches_nothing_are_left_alone(small: Task) -> None:
    other_label = note("^how do", label="Number")
    definition = Edit("definition", "Description", "how something is done", ORIGIN)
    plain = Edit("note", "Description", "Questions of ways and means belong to Description.", ORIGIN)
    nowhere = [note("^why"), note("^whence")]
    edits = [MOST, other_label, definition, plain, *nowhere]
    assert without_near_equals(edits, [], small) == edits
    assert without_near_equals([], [MOST], small) == []
