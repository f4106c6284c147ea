"""Probabilities of labels, read behind the lead of an answer in JSON, and of an answer's tokens: worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from psopt.models.chat._label_probabilities import confidence_of, kept_places, label_probabilities

from tests.sweeps import each

LABELS = ["Number", "Numeral", "Entity"]


def at(token: str, shares: dict[str, float]) -> tuple[str, list[tuple[str, float]]]:
    return token, [(text, math.log(share)) for text, share in shares.items()]


def place(token: str, **shares: float) -> tuple[str, list[tuple[str, float]]]:
    return at(token, shares)


def lead(*tokens: str) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(token, [("Sure", -0.1), (token, -9.0)]) for token in tokens]


LEAD = lead('{"label": "')
SPACED = lead("```", "json", "\n", "{\n ", ' "', "label", '"', " :\n", '"')
END = ('"}', [('"}', 0.0)])
EITHER = place("ber", ber=0.5, eral=0.5)
IN_PIECES = [*lead('{"', "label", '":', ' "'), place("Num", Question=0.6, Num=0.2, Ent=0.1)]
READ: dict[str, tuple[list[Any], list[float]]] = {
    # Num .2, of which ber .5 and eral .25; Ent .1; so .1 : .05 : .1
    "what the grammar forbids is shared out": (
        [*IN_PIECES, place("ber", ber=0.5, eral=0.25, bers=0.25), END],
        [0.4, 0.2, 0.4, 0.0],
    ),
    "white space in the lead and a fence before it": (
        [*SPACED, place("Entity", Entity=0.3, The=0.7), ('"\n', []), ("}", [])],
        [0.0, 0.0, 1.0, 0.0],
    ),
    # as tokenizers have it that join a quote to the letters behind it
    "a token that ends the lead and begins the label": (
        [*lead('{"label'), at('": "Num', {'": "Num': 0.3, '": "Ent': 0.1, '":': 0.6}), EITHER, END],
        [0.375, 0.375, 0.25, 0.0],
    ),
    "alternatives that say nothing are not shared out": (
        [*LEAD, at("Ent", {"Ent": 0.2, " ": 0.4, "": 0.3, "num": 0.1}), ("ity", []), END],
        [1 / 6, 1 / 6, 2 / 3, 0.0],
    ),
    # where a server holds answers to JSON, and not to its members; what named labels besides keeps its part
    "JSON that names no label": ([*LEAD, place("Thing", Thing=0.6, Entity=0.3), END], [0.0, 0.0, 0.3, 0.7]),
    "a label that was written and never likely": (
        [*LEAD, ("Entity", [("Entity", -9999.0)]), END],
        [0.0, 0.0, 1.0, 0.0],
    ),
    # a server that gives the token it chose 0, and the others what they were at another temperature
    "more than 1 in all": ([place("Entity", Entity=1.0, Numeral=0.25)], [0.0, 0.2, 0.8, 0.0]),
    "no lead": ([place("Ent", Ent=0.5, Num=0.3, The=0.2), place("ity", ity=1.0)], [0.15, 0.15, 0.5, 0.2]),
}


@each("case", READ)
def test_probabilities_are_read_from_an_answer_and_from_what_is_kept_of_it(case: str) -> None:
    answer, expected = READ[case]
    assert label_probabilities(answer, LABELS) == pytest.approx(expected)
    assert label_probabilities(kept_places(answer, LABELS), LABELS) == pytest.approx(expected)


def test_labels_that_begin_each_other_or_hold_quotes_are_told_apart() -> None:
    """The closing quote tells a label from one that it begins, and labels are compared as JSON holds them."""
    begun = [place("Number", Number=1.0), at('"', {'"': 0.7, " theory": 0.2, "s": 0.1})]
    assert label_probabilities([*LEAD, *begun], ["Number", "Number theory"]) == pytest.approx([7 / 9, 2 / 9, 0.0])
    odd = ['so-called "news"', "größer", "**"]
    quoted = [*LEAD, place('so-called \\"news\\"', Entity=1.0), END]
    assert label_probabilities(quoted, odd) == pytest.approx([1.0, 0.0, 0.0, 0.0])
    signs = [*LEAD, at("**", {"**": 0.5, "größ": 0.5}), END]
    assert label_probabilities(signs, odd) == pytest.approx([0.0, 0.5, 0.5, 0.0])


HALF, QUARTER = math.log(0.5), math.log(0.25)


@each(
    "told, confidence",
    [([HALF, QUARTER], 0.375), ([1e-7], 1.0), ([-9999.0], 0.0), ([-0.1, None], None), ([math.nan], None), ([], None)],
)
def test_the_probabilities_of_tokens_are_read_as_servers_send_them(told: Any, confidence: float | None) -> None:
    places = [{"token": "x", "logprob": logprob} for logprob in told]
    assert confidence_of({"content": places}) == (None if confidence is None else pytest.approx(confidence))
    for nothing in (None, {}, {"content": None}, {"tokens": ["7"]}):
        assert confidence_of(nothing) is None
