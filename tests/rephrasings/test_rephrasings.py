"""The rephrasings of a task: those written for it, then those by rule; how much they differ, and when that is said."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import InputError
from psopt.rephrasings import (
    TAME,
    RephrasingSet,
    diversity,
    diversity_of,
    freeze_rephrasings,
    rephrasings_for,
    tame_note,
)
from psopt.settings import RephrasingOptions
from psopt.tasks import Task, list_datasets, load_task

from tests.sweeps import each
from tests.texts import letters

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITTEN: dict[str, dict[str, Any]] = {
    file.name.removesuffix(".json"): json.loads(file.read_text("utf-8"))
    for file in (resources.files("psopt.rephrasings") / "builtin").iterdir()
    if file.name.endswith(".json")
}


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Task]]:
    """The samples that were written for the built-in tasks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PSOPT_OFFLINE", "1")
        patch.setattr("platformdirs.user_cache_path", lambda name: tmp_path_factory.getbasetemp())
        yield {name: load_task(name) for name in WRITTEN}


@pytest.fixture
def trec(task: Task) -> Task:
    return dataclasses.replace(task, name="trec", description=WRITTEN["trec"]["original"])


@pytest.fixture
def both(trec: Task) -> tuple[Task, Task]:
    """A task for which rephrasings are written and one for which none are."""
    return trec, dataclasses.replace(trec, name="toy")


def test_every_built_in_task_has_its_rephrasings() -> None:
    assert set(WRITTEN) == {dataset.name for dataset in list_datasets()}


@each("name", WRITTEN)
def test_what_is_written_for_a_task_is_enough_and_sound_and_names_no_class(name: str, bundled: dict[str, Task]) -> None:
    written, task = WRITTEN[name], bundled[name]
    assert written["task"] == name
    assert len(written["search"]) >= 30
    assert len(written["heldout"]) >= 10
    RephrasingSet(written["original"], (written["original"], *written["search"]), (*written["heldout"],), "builtin")
    assert letters(task.description) == letters(written["original"])
    assert rephrasings_for(task, 30, 10).source == "builtin"
    for texts in (written["search"], written["heldout"]):
        lengths = sorted(map(len, texts))
        assert lengths[-1] > 3 * lengths[0]
        assert any(text.endswith("?") for text in texts)
        assert len({text.split()[0] for text in texts}) > len(texts) / 2
        for text, label in itertools.product(texts, task.labels):
            assert not re.search(rf"\b{label}\b", text), text


@each("name", WRITTEN)
def test_of_sets_written_for_a_task_nothing_is_said_and_of_frames_alone_it_is(
    name: str, bundled: dict[str, Task]
) -> None:
    task = bundled[name]
    written = diversity_of(rephrasings_for(task), task.labels)
    assert min(value or 0 for value in written.values()) >= TAME
    framed = freeze_rephrasings(task, task.description, 10, 10, 0, RephrasingOptions(families=("wording",)))
    assert "--rephraser" in str(tame_note(diversity_of(framed, task.labels)["search"]))


def test_diversity_is_the_share_of_the_shorter_texts_words_and_pairs_that_the_other_lacks() -> None:
    # a, b, ab | a, c, d, ac, cd: of the first one's three, "a" is shared
    assert diversity(["A b.", "a c d"]) == pytest.approx(2 / 3)
    assert diversity(["a b", "a b", "c d"]) == pytest.approx((0 + 1 + 1) / 3)
    assert diversity(["", ""]) == 0
    assert diversity(["", "a"]) == 1
    assert math.isnan(diversity(["a"]))
    # frames add nothing, and another order does
    assert diversity(["Sort the mail.", "Task: Sort the mail. Be careful."]) == 0
    assert diversity(["mail the sort", "sort the mail"]) == pytest.approx(2 / 5)


def test_the_original_comes_first_and_is_one_of_q(both: tuple[Task, Task]) -> None:
    trec = both[0]
    found = rephrasings_for(trec, 10, 10)
    assert found.search[0] == trec.description
    assert (len(found.search), len(found.heldout), found.source) == (10, 10, "builtin")
    for texts, written in ((found.search[1:], WRITTEN["trec"]["search"]), (found.heldout, WRITTEN["trec"]["heldout"])):
        assert all(all(label in text for label in trec.labels) for text in texts[::2])
        assert set(texts[1::2]) <= set(written)
    for task in both:
        assert rephrasings_for(task, 1, 1).search == (task.description,)


def test_a_larger_set_begins_with_the_smaller_one_and_the_seed_decides(both: tuple[Task, Task]) -> None:
    for task, seed in itertools.product(both, (0, 42)):
        sets = [rephrasings_for(task, *sizes, seed=seed) for sizes in ((10, 5), (30, 10), (60, 30))]
        for small, large in itertools.pairwise(sets):
            assert large.search[: len(small.search)] == small.search
            assert large.heldout[: len(small.heldout)] == small.heldout
    for task in both:
        by_seed = {seed: rephrasings_for(task, seed=seed) for seed in (0, 1, 42)}
        assert rephrasings_for(task, seed=0) == by_seed[0]
        assert len({found.sha256 for found in by_seed.values()}) == 3
        assert rephrasings_for(task) == by_seed[42]


def test_another_description_or_name_does_not_get_at_what_is_written(trec: Task) -> None:
    found = rephrasings_for(trec, 5, 5, description="Sort it\n  out.")
    assert (found.source, found.original) == ("rules", "Sort it out.")
    for name in ("toy", "Trec?", "../trec", "builtin/trec", "trec.json", ""):
        assert rephrasings_for(dataclasses.replace(trec, name=name), 5, 5).source == "rules"


def test_a_rephrasing_by_rule_brings_in_all_labels_or_none(trec: Task) -> None:
    labels = ("Task", "Query", "Work")
    task = dataclasses.replace(trec, name="toy", labels=labels, train=(), val=(), test=(), definitions={})
    found = rephrasings_for(task, 90, 90)
    for text in (*found.search, *found.heldout):
        words = set(re.findall(r"\w+", text.casefold()))
        assert {"task", "query", "work"} & words in (set(), {"task", "query", "work"})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"description": ""}, "description is needed"),
        ({"n_search": 9000}, r"9000 search rephrasings were asked for; the rules give \d+"),
    ],
)
def test_wrong_input_is_refused_in_one_line(both: tuple[Task, Task], wrong: dict[str, Any], message: str) -> None:
    for task in both:
        with pytest.raises(InputError, match=message) as refused:
            rephrasings_for(task, **wrong)
        assert len(str(refused.value).splitlines()) == 1
