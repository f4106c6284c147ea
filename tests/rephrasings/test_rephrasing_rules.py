"""The rule-based rephraser: sentences a person would write, around a description that stays as it is."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from typing import Any, Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.rephrasings import rephrase_by_rules
from psopt.rephrasings._frames import Named, frames_without
from psopt.rephrasings._rules import rephrasings

from tests.sweeps import each
from tests.texts import letters

Side = Literal["search", "heldout"]
CLASSIFY = "Classify the text into one of the given classes."
ASK = "Is the review positive or negative?"
STATE = "The email belongs to one of our teams."
SEVERAL = "Read the review. Determine its sentiment. You must choose the correct label."
ROLE = "You sort mail for a shop. Please decide which team should answer the mail."
BY = "Classify the question by the kind of answer that it asks for."
DESCRIPTIONS = [CLASSIFY, ASK, STATE, SEVERAL, ROLE, BY, "Topic:"]
SIDES: tuple[Side, ...] = ("search", "heldout")
DESKS = ("Delivery", "Payment", "Returns")
ASKED = "Decide what a message to a shop is about."


def everything(description: str, side: Side = "search", protect: Any = (), **named: Any) -> list[str]:
    """All that one side of the rules makes of a description."""
    return list(rephrasings(description, Named(**{"noun": "text", **named}), side, 0, protect, (description,)))


@each("description", DESCRIPTIONS)
def test_every_description_stays_in_over_60_rephrasings_that_read_like_sentences(description: str) -> None:
    kept = description.removeprefix(ROLE[:34])[1:].rstrip(".")
    for side in SIDES:
        texts = everything(description, side)
        assert len(texts) >= 60
        for text in texts:
            assert kept in text
            assert text[0].isupper()
            assert text[-1] in ".?!:"
            assert not re.search(r"\{\w+\}|  | [.,?;:]|\b(\w+) \1\b|\.\.|[?.] [a-z]|\bplease please\b", text), text


@each(
    "description, says, never",
    [
        (CLASSIFY, "Please classify the text into one of the given classes.", []),
        # sentences after it, or before it
        (CLASSIFY, "Please classify the text into one of the given classes. Thank you!", []),
        ("Label the text:", "Please be precise. Label the text:", []),
        # several sentences are not wrapped into one
        (
            SEVERAL,
            "Your task is to read the review. Determine its sentiment. You must choose the correct label.",
            ["Can you read", "Could you"],
        ),
        (ROLE, "You sort mail for a shop. Your job is to decide which team should answer the mail.", []),
        ("You are a clerk. Label the text.", "", ["annotator", "specialist", "expert"]),
        # what is no imperative is not framed as one
        (ASK, "Given the text, is the review positive or negative?", ["Please is", "to is"]),
        (STATE, "", ["Please the", "to the email belongs"]),
        ("Label noise in a text.", "", ["Please label", "to label"]),
        # a frame of its own is taken off for another, and one is enough
        ("Please label the text.", "I want you to label the text.", ["lease please", "lease Label"]),
        # nothing spoils an address
        ("Label it as in https://a.org/guide", "", ["guide.", "guide?"]),
    ],
)
def test_it_says_and_never_says(description: str, says: str, never: list[str]) -> None:
    found = everything(description)
    assert not says or says in found
    for text in (*found, *everything(description, "heldout")):
        assert not [words for words in never if words in text], text


def test_held_out_has_no_sentence_of_the_search_set() -> None:
    search, heldout = (frames_without(side, ()) for side in SIDES)
    for kind, sentences in search.items():
        assert not set(sentences) & set(heldout[kind])
    for description in DESCRIPTIONS:
        named: dict[str, Any] = {"labels": DESKS, "alone": True, "asks_for_label": True}
        searched = {letters(text) for text in everything(description, **named)}
        assert not searched & {letters(text) for text in everything(description, "heldout", **named)}


def test_labels_are_named_in_turn_with_other_wordings() -> None:
    rephrased = rephrase_by_rules(ASKED, "message", 10, 10, labels=DESKS, asks_for_label=True)
    for texts in (rephrased.search[1:], rephrased.heldout):
        assert [all(desk in text for desk in DESKS) for text in texts] == ([True, False] * 5)[: len(texts)]
        assert any("shop" not in text for text in texts)
    written = everything(ASKED, noun="message", labels=DESKS, alone=True, asks_for_label=True)
    assert "Which of these fits the message best: Delivery, Payment or Returns?" in written
    assert "Label the message." in written
    assert f"Options: Delivery, Payment, Returns. {ASKED}" in written
    assert f"{ASKED} Answer Delivery, Payment or Returns." in written
    assert f"{ASKED} Answer with the label only." in written


URGENT = "Decide how urgent the message is."


@each(
    "description, labels",
    [
        # labels that do not say of what they are
        *((URGENT, labels) for labels in (("yes", "no"), ("High", "Low"), ("positive", "negative"), ("1", "2"))),
        (URGENT, ("only",)),
        # what labels do not hold
        ("Decide what the message is about. Irony counts as praise.", DESKS),
        ("Decide which of 3 desks answers the message.", DESKS),
        (" ".join(["Decide what the message is about and"] + ["who"] * 20), DESKS),
    ],
)
def test_what_labels_do_not_say_is_not_left_out_beside_them(description: str, labels: tuple[str, ...]) -> None:
    texts = everything(description, labels=labels, alone=True, asks_for_label=True)
    assert all(description[1:].rstrip(".") in text for text in texts)


def test_many_labels_are_not_enumerated() -> None:
    labels = tuple(f"desk {letter}" for letter in "abcdefghi")
    texts = everything(ASKED, labels=labels, alone=True, asks_for_label=True)
    assert "Label the text." in texts
    assert not [text for text in texts if "desk b" in text]
    assert any("a, b; c" in text for text in everything(ASKED, labels=("a, b", "c"), asks_for_label=True))


@each(
    "description",
    [
        "Sortiere jede Anfrage nach ihrem Thema.",
        "Classez la question selon son sujet.",
        "将问题分类",
        'Bestimme das Thema der Mail {body}. "the text that this is"',  # what is quoted does not count
    ],
)
def test_other_languages_get_no_english_wordings_and_one_line_says_so(description: str) -> None:
    with pytest.raises(InputError, match=r"this prompt is not in English, .* \(--rephraser MODEL\)") as refused:
        rephrase_by_rules(description)
    assert len(str(refused.value).splitlines()) == 1
    for english in ("Sort it.", "Topic:", "{body}", "Label La La Land reviews", "Los Angeles crime"):
        assert rephrase_by_rules(english).search


def test_another_process_gives_the_same_set() -> None:
    program = f"from psopt.rephrasings import rephrase_by_rules; print(rephrase_by_rules({BY!r}, seed=0).sha256)"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.strip() == rephrase_by_rules(BY, seed=0).sha256
    seeds = itertools.pairwise(rephrase_by_rules(BY, seed=seed).sha256 for seed in (0, 1, 2))
    assert all(first != second for first, second in seeds)


WORDS = ["Please", "Classify", "label", "Label", "decide whether", "based on its", "by the kind of", "a question"]
SMALL_WORDS = ["the text", "given", "text", "as", "or", "is", "it's", "don't", "into one of the classes", "class"]
FOLDED = ["ſort", "İf"]
VERBATIM = ["{text}", "{{x}}", '"the class"', "“text”", "https://a.b/text.", "'text'", "\ue000", "\ue0010\ue001"]
SIGNS = [".", "?", ":", ",", "…", "(", ")"]
FRAGMENTS = st.sampled_from([*WORDS, *SMALL_WORDS, *FOLDED, *VERBATIM, *SIGNS])
SENTENCES = st.lists(FRAGMENTS, min_size=1, max_size=12).map(" ".join)
ANY_TEXT = st.one_of(st.text(min_size=1), SENTENCES).filter(str.split)


@given(ANY_TEXT, st.text(max_size=10), st.lists(st.text(max_size=5), max_size=3), st.integers(0, 3))
def test_any_description_can_be_rephrased_and_braces_quotes_and_addresses_come_out_as_they_went_in(
    description: str, noun: str, protect: list[str], seed: int
) -> None:
    try:
        found = rephrase_by_rules(description, noun, 15, 10, seed, protect=protect)
    except InputError as error:
        assume("not in English" not in str(error) and "this one is empty" not in str(error))  # signs that show nothing
        raise
    assert found == rephrase_by_rules(description, noun, 15, 10, seed, protect=protect)
    assert found.search[:5] == rephrase_by_rules(description, noun, 5, 1, seed, protect=protect).search
    assert found.search[0] == found.original == " ".join(description.split())
    texts = (*found.search, *found.heldout)
    assert len({letters(text) for text in texts}) == 25
    for part in ("{text}", "{{x}}", '"the class"', "“text”", "https://a.b/text.", "\ue000", "\ue001"):
        assert part in noun or {text.count(part) for text in texts} == {found.original.count(part)}
