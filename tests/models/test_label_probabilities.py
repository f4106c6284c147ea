"""Probabilities of labels, read behind the lead of an answer in JSON, and of an answer's tokens: worked out by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from psopt.models.chat._label_probabilities import confidence_of, kept_places, label_probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

LABELS = ["Number", "Numeral", "Entity"]


def place(token: str, **shares: float) -> tuple[str, list[tuple[str, float]]]:
    return token, [(text, math.log(share)) for text, share in shares.items()]


def lead(*tokens: str) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(token, [("Sure", -0.1), (token, -9.0)]) for token in tokens]


END = ('"}', [('"}', 0.0)])


def assert_read(answer: list[tuple[str, list[tuple[str, float]]]], expected: Sequence[float]) -> None:
    assert label_probabilities(answer, LABELS) == pytest.approx(expected)
    assert label_probabilities(kept_places(answer, LABELS), LABELS) == pytest.approx(expected)


def test_what_the_grammar_forbids_is_shared_out_among_the_labels() -> None:
    # Num .2, of which ber .5 and eral .25; Ent .1; so .1 : .05 : .1
    first = place("Num", Question=0.6, Num=0.2, Ent=0.1)
    second = place("ber", ber=0.5, eral=0.25, bers=0.25)
    assert_read([*lead('{"', "label", '":', ' "'), first, second, END], [0.4, 0.2, 0.4, 0.0])


def test_white_space_in_the_lead_and_a_fence_before_it_are_passed_over() -> None:
    answer = [*lead("```", "json", "\n", "{\n ", ' "', "label", '"', " :\n", '"'), place("Entity", Entity=0.3, The=0.7)]
    assert_read([*answer, ('"\n', []), ("}", [])], [0.0, 0.0, 1.0, 0.0])


def test_a_token_that_ends_the_lead_and_begins_the_label_is_cut() -> None:
    """As tokenizers have it that join a quote to the letters behind it."""
    straddling = ('": "Num', [('": "Num', math.log(0.3)), ('": "Ent', math.log(0.1)), ('":', math.log(0.6))])
    answer = [*lead('{"label'), straddling, place("ber", ber=0.5, eral=0.5), END]
    assert_read(answer, [0.375, 0.375, 0.25, 0.0])


def test_the_lead_in_other_white_space_is_the_same_lead() -> None:
    straddling = (' "Num', [(' "Num', math.log(0.2)), ('"Ent', math.log(0.2)), ("  ", math.log(0.6))])
    answer = [*lead('{"label":'), straddling, place("ber", ber=1.0), END]
    assert_read(answer, [0.5, 0.0, 0.5, 0.0])


def test_alternatives_that_say_nothing_are_not_shared_out() -> None:
    first = ("Ent", [("Ent", math.log(0.2)), (" ", math.log(0.4)), ("", math.log(0.3)), ("num", math.log(0.1))])
    assert_read([*lead('{"label": "'), first, ("ity", []), END], [1 / 6, 1 / 6, 2 / 3, 0.0])


def test_the_closing_quote_tells_a_label_from_one_that_it_begins() -> None:
    labels = ["Number", "Number theory"]
    closing = ('"', [('"', math.log(0.7)), (" theory", math.log(0.2)), ("s", math.log(0.1))])
    answer = [*lead('{"label": "'), place("Number", Number=1.0), closing]
    assert label_probabilities(answer, labels) == pytest.approx([7 / 9, 2 / 9, 0.0])


def test_labels_are_compared_as_json_holds_them() -> None:
    labels = ['so-called "news"', "größer", "**"]
    quoted = [*lead('{"label": "'), place('so-called \\"news\\"', Entity=1.0), END]
    assert label_probabilities(quoted, labels) == [1.0, 0.0, 0.0, 0.0]
    stars = [*lead('{"label": "'), ("**", [("**", math.log(0.5)), ("größ", math.log(0.5))]), END]
    assert label_probabilities(stars, labels) == pytest.approx([0.0, 0.5, 0.5, 0.0])


def test_json_that_names_no_label_is_not_available() -> None:
    """Where a server holds answers to JSON, and not to its members; what named labels besides keeps its part."""
    answer = [*lead('{"label": "'), place("Thing", Thing=0.6, Entity=0.3), END]
    assert_read(answer, [0.0, 0.0, 0.3, 0.7])


def test_a_label_that_is_never_likely_is_certain_where_it_was_written() -> None:
    answer = [*lead('{"label": "'), ("Entity", [("Entity", -9999.0)]), END]
    assert_read(answer, [0.0, 0.0, 1.0, 0.0])


def test_without_a_lead_an_answer_is_read_from_its_beginning() -> None:
    answer = [place("Ent", Ent=0.5, Num=0.3, The=0.2), place("ity", ity=1.0)]
    assert_read(answer, [0.15, 0.15, 0.5, 0.2])
    assert kept_places(answer, LABELS) == answer


def test_what_is_kept_is_the_lead_and_what_begins_a_label() -> None:
    answer = [*lead('{"', 'label": "'), place("Ent", The=0.5, Ent=0.4, Num=0.1), ("ity", [("ity", 0.0), ("er", -9.0)])]
    kept = kept_places([*answer, ('"', [('"', 0.0)]), ("}", [("}", 0.0)])], LABELS)
    expected = [place("Ent", Ent=0.4, Num=0.1), ("ity", [("ity", 0.0)]), ('"', [('"', 0.0)])]
    assert kept == [('{"label": "', []), *expected]


@pytest.mark.parametrize(
    ("told", "confidence"),
    [
        ([math.log(0.5), math.log(0.25)], 0.375),
        ([1e-7], 1.0),
        ([-9999.0], 0.0),
        ([-0.1, None], None),
        ([math.nan], None),
        ([], None),
    ],
)
def test_the_probabilities_of_tokens_are_read_as_servers_send_them(told: Any, confidence: float | None) -> None:
    places = [{"token": "x", "logprob": logprob} for logprob in told]
    assert confidence_of({"content": places}) == (None if confidence is None else pytest.approx(confidence))


@pytest.mark.parametrize(
    ("tokens", "confidence"),
    [
        (["<think>", "maybe", " 8", "</think>", "7"], 0.9),
        (["<th", "ink>maybe 7</think>\n", "\n", "7"], 0.9),
        (["[THINK]", "hm", "[/THINK]", "7", "7"], 0.9),
        (["7", " or", " 7"], 1.1 / 3),  # nothing here is thought
    ],
)
def test_thoughts_before_the_answer_do_not_count(tokens: list[str], confidence: float) -> None:
    places = [{"token": token, "logprob": math.log(0.9 if token == "7" else 0.1)} for token in tokens]
    assert confidence_of({"content": places}) == pytest.approx(confidence)


@pytest.mark.parametrize("nothing", [None, {}, {"content": None}, {"tokens": ["7"]}])
def test_a_completion_may_say_nothing_of_its_tokens(nothing: Any) -> None:
    assert confidence_of(nothing) is None
