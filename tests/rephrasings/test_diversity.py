"""How much rephrasings differ, by hand calculation; what counts, and when that is said."""

from __future__ import annotations

import math

import pytest
from psopt.rephrasings import (
    TAME,
    diversity,
    diversity_of,
    diversity_of_instructions,
    freeze_rephrasings,
    rephrasings_for,
    tame_note,
)
from psopt.settings import RephrasingOptions
from psopt.tasks import load_task


def test_it_is_the_share_of_the_shorter_texts_words_and_pairs_that_the_other_lacks() -> None:
    # a, b, ab | a, c, d, ac, cd: of the first one's three, "a" is shared
    assert diversity(["A b.", "a c d"]) == pytest.approx(2 / 3)
    assert diversity(["a b", "a b", "c d"]) == pytest.approx((0 + 1 + 1) / 3)
    assert diversity(["", ""]) == 0
    assert diversity(["", "a"]) == 1
    assert math.isnan(diversity(["a"]))


def test_frames_add_nothing_and_another_order_does() -> None:
    assert diversity(["Sort the mail.", "Task: Sort the mail. Be careful."]) == 0
    assert diversity(["mail the sort", "sort the mail"]) == pytest.approx(2 / 5)


def test_what_every_rephrasing_must_keep_does_not_count() -> None:
    texts = ["Is {body} good or bad?", "Decide about {body}: good or bad."]
    assert diversity_of_instructions(texts, ["good", "bad"]) == pytest.approx(2 / 3, abs=0.001)
    contract = ' Answer as JSON: {"team": "a"}'
    assert diversity_of_instructions([f"Sort it.{contract}", f"Find the team.{contract}"]) == 1
    assert diversity_of_instructions(["Sort it.", "Sort it."]) is None


@pytest.mark.parametrize("name", ["trec", "cb", "rte", "dbpedia", "wos"])
def test_of_sets_written_for_a_task_nothing_is_said_and_of_frames_alone_it_is(name: str) -> None:
    task = load_task(name)
    for seed in (0, 1, 2):
        written = diversity_of(rephrasings_for(task, seed=seed), task.labels)
        assert min(value or 0 for value in written.values()) >= TAME
    framed = freeze_rephrasings(task, task.description, 10, 10, 0, RephrasingOptions(families=("wording",)))
    note = tame_note(diversity_of(framed, task.labels)["search"])
    assert note is not None
    assert "--rephraser" in note


def test_at_the_bound_nothing_is_said() -> None:
    assert tame_note(TAME) is None
    assert tame_note(None) is None
    assert "too similar (diversity .29, below .30); S is underestimated" in str(tame_note(0.294))
