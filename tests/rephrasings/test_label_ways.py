"""Wordings that say a task by its labels, and where they would not say the same."""

from __future__ import annotations

import pytest
from psopt.rephrasings import diversity, rephrase_by_rules
from psopt.rephrasings._label_ways import in_the_words_of_labels, mixed

DESKS = ("Delivery", "Payment", "Returns")
ASKED = "Decide what a message to a shop is about."


def by_labels(description: str, labels: tuple[str, ...] = DESKS) -> list[str]:
    return list(in_the_words_of_labels(description, "message", labels, "search"))


def test_one_wording_in_three_is_by_the_labels_from_the_second_on() -> None:
    rephrased = rephrase_by_rules(ASKED, "message", 7, 6, labels=DESKS)
    plain = rephrase_by_rules(ASKED, "message", 7, 6)
    assert rephrased.search[0] == ASKED
    assert rephrased.search[1] == "Which of these fits the message: Delivery, Payment or Returns?"
    assert rephrased.search[4] == "Label the message."
    assert [text for place, text in enumerate(rephrased.search) if place % 3 != 1] == list(plain.search[:5])
    assert rephrased.heldout[1] == "Delivery, Payment or Returns: where does the message go?"
    assert not set(rephrased.search) & set(rephrased.heldout)
    assert diversity(rephrased.search) > diversity(plain.search)


def test_a_larger_set_begins_with_the_smaller_one() -> None:
    small, large = (rephrase_by_rules(ASKED, "message", n, n, seed=3, labels=DESKS) for n in (4, 12))
    assert large.search[:4] == small.search
    assert large.heldout[:4] == small.heldout


@pytest.mark.parametrize("labels", [("yes", "no"), ("High", "Low"), ("positive", "negative"), ("very-good", "fine")])
def test_labels_that_do_not_say_of_what_keep_the_description_beside_them(labels: tuple[str, ...]) -> None:
    texts = by_labels("Decide how urgent the message is.", labels)
    assert texts
    assert all(
        "how urgent the message is" in text and all(label.casefold() in text.casefold() for label in labels)
        for text in texts
    )


@pytest.mark.parametrize(
    "description",
    [
        "Decide what the message is about. Irony counts as praise.",  # the labels don't say that
        "Decide what the message is about, but not who wrote it.",
        "Decide what the message is about if it is in English.",
        "Decide which of 3 desks answers the message.",
        "Decide what the message is about; answer in JSON.",
        "Entscheide, worum es in der Nachricht geht.",
        " ".join(["Decide what the message is about and"] + ["who"] * 20),
    ],
)
def test_what_labels_do_not_hold_is_not_left_out(description: str) -> None:
    assert not by_labels(description)


@pytest.mark.parametrize("labels", [("A", "B"), ("1", "2"), ("only",)])
def test_labels_that_say_nothing_take_no_part(labels: tuple[str, ...]) -> None:
    assert not by_labels(ASKED, labels)


def test_many_labels_are_not_enumerated() -> None:
    texts = by_labels(
        ASKED,
        tuple(f"desk {word}" for word in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]),
    )
    assert texts == ["Label the message.", "Which class does the message belong to?", "Pick the class of the message."]


def test_what_is_mixed_ends_with_the_rules_wordings() -> None:
    assert list(mixed(["r1", "r2", "r3"], ["l1"], first=1)) == ["r1", "l1", "r2", "r3"]
    assert list(mixed([], ["l1", "l2"], first=0)) == ["l1"]
