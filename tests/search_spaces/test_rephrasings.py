import dataclasses
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.search_spaces import RephrasingSet, rephrase_by_rules, rephrasings_for
from psopt.search_spaces._builtin import read_written
from psopt.search_spaces._set import comparable
from psopt.search_spaces._wordings import HELDOUT, SEARCH

CLASSIFY = "Classify the text into one of the given classes."


@pytest.fixture
def trec(task):
    return dataclasses.replace(task, name="trec", description=read_written("trec").original)


def test_trec_has_at_least_30_to_search_and_10_held_out():
    written = read_written("trec")
    assert len(written.search) >= 30
    assert len(written.heldout) >= 10
    RephrasingSet(written.original, (written.original, *written.search), written.heldout, "builtin")


def test_trec_s_original_is_the_task_s_description():
    from psopt.tasks import load_task

    assert comparable(load_task("trec").description) == comparable(read_written("trec").original)


def test_no_rephrasing_of_trec_names_a_class(task):
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


@pytest.mark.parametrize("name", ["trec", "toy"])
def test_a_larger_set_begins_with_the_smaller_one(trec, name):
    task = dataclasses.replace(trec, name=name)
    small, large = rephrasings_for(task, 10, 5, seed=0), rephrasings_for(task, 30, 10, seed=0)
    assert large.search[:10] == small.search
    assert large.heldout[:5] == small.heldout


def test_the_seed_decides_and_0_is_a_seed(trec):
    assert rephrasings_for(trec, seed=0) == rephrasings_for(trec, seed=0) != rephrasings_for(trec, seed=1)
    assert rephrasings_for(trec, seed=0) != rephrasings_for(trec, seed=42)


def test_rules_fill_up_what_is_not_written(trec):
    found = rephrasings_for(trec, 50, 20)
    assert (len(found.search), len(found.heldout)) == (50, 20)


def test_another_description_of_a_built_in_task_is_rephrased_by_rule(trec):
    assert rephrasings_for(trec, 5, 5, description="Sort it out.").source == "rules"


@pytest.mark.parametrize("number", [{"n_search": 0}, {"n_heldout": 0}])
def test_too_small_numbers_are_refused(trec, number):
    with pytest.raises(InputError, match=r"must be at least 1"):
        rephrasings_for(trec, **number)


def test_more_than_the_rules_can_do_is_refused_with_the_number_they_can(task):
    with pytest.raises(InputError, match=r"5000 search rephrasings were asked for; the rules give \d+"):
        rephrase_by_rules(CLASSIFY, n_search=5000, n_heldout=1)


def test_an_imperative_goes_on_in_lower_case_after_a_frame():
    found = rephrase_by_rules(CLASSIFY, n_search=60, n_heldout=10).search
    assert "Please classify the text into one of the given classes." in found
    assert "Please categorize the passage into one of the following categories." in found


def test_what_is_no_imperative_is_not_put_after_please():
    found = rephrase_by_rules("The email belongs to one of our teams.", n_search=40, n_heldout=10).search
    assert not any(text.startswith(("Please", "Kindly", "Now")) for text in found)


def test_quotes_braces_addresses_and_protected_words_stay():
    description = 'Decide whether "the given text" at https://question.org/class or {question} is of class Text.'
    found = rephrase_by_rules(description, n_search=40, n_heldout=40, protect=("Text",))
    for text in (*found.search, *found.heldout):
        for kept in ('"the given text"', "https://question.org/class", "{question}", "Text."):
            assert kept in text


def test_held_out_uses_no_frame_and_no_synonym_of_the_search_set():
    for part in ("commands", "leads", "tails"):
        assert not set(getattr(SEARCH, part)) & set(getattr(HELDOUT, part))
    for word, synonym in HELDOUT.synonyms.items():
        assert SEARCH.synonyms.get(word) != synonym


@settings(max_examples=60, deadline=None)
@given(st.text(string.printable, min_size=1).filter(lambda text: text.strip()), st.integers(0, 5))
def test_any_description_can_be_rephrased(description, seed):
    found = rephrase_by_rules(description, n_search=15, n_heldout=10, seed=seed)
    assert found == rephrase_by_rules(description, n_search=15, n_heldout=10, seed=seed)
    assert found.search[0] == " ".join(description.split())
    everything = [comparable(text) for text in (*found.search, *found.heldout)]
    assert len(set(everything)) == 25


def test_a_set_survives_the_way_through_json_and_its_digest_depends_on_the_order():
    one = RephrasingSet("a b", ("a b", "c"), ("d",), "file")
    assert RephrasingSet.from_dict(one.to_dict()) == one
    assert one.sha256 != RephrasingSet("a b", ("a b", "d"), ("c",), "file").sha256


@pytest.mark.parametrize(
    ("search", "heldout", "message"),
    [
        (("b",), (), "first search rephrasing"),
        ((), (), "first search rephrasing"),
        (("a", "b", "B!"), (), "stands twice"),
        (("a", "b"), ("A.",), "stands twice"),
        (("a", " "), (), "one paragraph"),
        (("a", "b\nc"), (), "one paragraph"),
    ],
)
def test_a_set_that_is_not_sound_is_refused(search, heldout, message):
    with pytest.raises(InputError, match=message):
        RephrasingSet("a", search, heldout, "file")
