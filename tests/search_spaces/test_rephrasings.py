"""The rephrasings of a task: those written for it, then those by rule."""

import dataclasses
import itertools
import json
from importlib import resources

import numpy as np
import pytest
from psopt.errors import InputError
from psopt.search_spaces import RephrasingSet, rephrasings_for
from psopt.search_spaces._builtin import read_written
from psopt.search_spaces._set import comparable

BUILTIN = [
    file.name.removesuffix(".json")
    for file in resources.files("psopt.search_spaces.builtin").iterdir()
    if file.name.endswith(".json")
]


@pytest.fixture
def trec(task):
    return dataclasses.replace(task, name="trec", description=read_written("trec").original)


@pytest.mark.parametrize("name", BUILTIN)
def test_what_is_written_for_a_task_is_enough_and_sound(name):
    written = read_written(name)
    assert len(written.search) >= 30
    assert len(written.heldout) >= 10
    RephrasingSet(written.original, (written.original, *written.search), written.heldout, "builtin")
    file = resources.files("psopt.search_spaces.builtin").joinpath(f"{name}.json")
    assert json.loads(file.read_text("utf-8"))["task"] == name


def test_trec_s_original_is_the_task_s_description():
    from psopt.tasks import load_task

    assert comparable(load_task("trec").description) == comparable(read_written("trec").original)


def test_no_rephrasing_of_trec_names_a_class():
    words = {
        word.strip(".,?!")
        for text in (*read_written("trec").search, *read_written("trec").heldout)
        for word in text.split()
    }
    assert not words & {"Number", "Location", "Person", "Description", "Entity", "Abbreviation"}


def test_the_original_comes_first_and_is_one_of_q(trec):
    found = rephrasings_for(trec, 10, 10)
    assert found.search[0] == trec.description
    assert (len(found.search), len(found.heldout), found.source) == (10, 10, "builtin")
    written = read_written("trec")
    assert set(found.search[1:]) <= set(written.search)
    assert set(found.heldout) <= set(written.heldout)


@pytest.mark.parametrize("name", ["trec", "toy"])
def test_with_q_1_there_is_only_the_original(trec, name):
    task = dataclasses.replace(trec, name=name)
    assert rephrasings_for(task, 1, 1).search == (task.description,)


@pytest.mark.parametrize("name", ["trec", "toy"])
@pytest.mark.parametrize("seed", [0, 42])
def test_a_larger_set_begins_with_the_smaller_one(trec, name, seed):
    task = dataclasses.replace(trec, name=name)
    sets = [
        rephrasings_for(task, n_search, n_heldout, seed=seed) for n_search, n_heldout in [(10, 5), (30, 10), (60, 30)]
    ]
    for small, large in itertools.pairwise(sets):
        assert large.search[: len(small.search)] == small.search
        assert large.heldout[: len(small.heldout)] == small.heldout


@pytest.mark.parametrize("name", ["trec", "toy"])
def test_the_seed_decides_and_0_is_a_seed(trec, name):
    task = dataclasses.replace(trec, name=name)
    assert rephrasings_for(task, seed=0) == rephrasings_for(task, seed=0)
    assert len({rephrasings_for(task, seed=seed).sha256 for seed in (0, 1, 42)}) == 3
    assert rephrasings_for(task) == rephrasings_for(task, seed=42)


def test_rules_fill_up_what_is_not_written(trec):
    written = read_written("trec")
    found = rephrasings_for(trec, 100, 60)
    assert (len(found.search), len(found.heldout), found.source) == (100, 60, "builtin")
    assert set(written.search) < set(found.search)
    assert set(written.heldout) < set(found.heldout)


def test_another_description_of_a_built_in_task_is_rephrased_by_rule(trec):
    found = rephrasings_for(trec, 5, 5, description="Sort it\n  out.")
    assert (found.source, found.original) == ("rules", "Sort it out.")


def test_another_task_s_name_does_not_get_at_what_is_written(trec):
    for name in ("toy", "Trec?", "../trec", "builtin/trec", "trec.json", ""):
        assert rephrasings_for(dataclasses.replace(trec, name=name), 5, 5).source == "rules"


def test_no_rephrasing_by_rule_brings_in_a_label(trec):
    task = dataclasses.replace(
        trec, name="toy", labels=("Task", "Query", "Work"), train=(), val=(), test=(), definitions={}
    )
    for text in (*(found := rephrasings_for(task, 300, 300)).search, *found.heldout):
        assert not {"task", "query", "work"} & set(text.casefold().replace(".", " ").replace(":", " ").split())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_search": 0}, "n_search must be a whole number, at least 1, not 0"),
        ({"n_heldout": 0}, "n_heldout must be a whole number, at least 1, not 0"),
        ({"n_search": -3}, "at least 1, not -3"),
        ({"n_search": 2.5}, "whole number"),
        ({"n_search": None}, "whole number"),
        ({"seed": -1}, "seed must be a whole number, at least 0, not -1"),
        ({"description": ""}, "description is needed"),
        ({"description": " \n "}, "description is needed"),
    ],
)
@pytest.mark.parametrize("name", ["trec", "toy"])
def test_wrong_input_is_refused_in_one_line(trec, name, wrong, message):
    with pytest.raises(InputError, match=message) as refused:
        rephrasings_for(dataclasses.replace(trec, name=name), **wrong)
    assert len(str(refused.value).splitlines()) == 1


def test_numbers_of_numpy_are_numbers(trec):
    assert rephrasings_for(trec, np.int64(5), np.int64(3), seed=np.int64(1)) == rephrasings_for(trec, 5, 3, seed=1)


@pytest.mark.parametrize("name", ["trec", "toy"])
def test_more_than_the_rules_can_do_is_refused_with_the_number_they_can(trec, name):
    with pytest.raises(InputError, match=r"9000 search rephrasings were asked for; the rules give \d+"):
        rephrasings_for(dataclasses.replace(trec, name=name), 9000, 1)
