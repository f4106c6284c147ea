"""What the rules say otherwise: what it reads like, what it never says, and what comes through untouched."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psopt.rephrasings import TAME, Checks, diversity_of, rephrase_by_rules
from psopt.rephrasings._description import read_description
from psopt.rephrasings._recipes import HELDOUT, SEARCH, Rules
from psopt.rephrasings._restate import restatements
from psopt.rephrasings._wordings import WORDINGS

BY = "Classify the question by the kind of answer that it asks for."
WHETHER = "Decide whether the review is positive or negative."
ASK = "Which team should handle this ticket?"
INTO = "Classify the text into one of the given classes."
AS = "Label the tweet as rude or polite."
LONG = (
    "You are a support agent. Read the message and decide which department should handle it. If it concerns 3 or more, "
    "choose the one that is named first. Do not guess."
)
DESCRIPTIONS = [BY, WHETHER, ASK, INTO, AS, LONG]


def said(description: str, rules: Rules, *labels: str) -> list[str]:
    """A description said otherwise, by several seeds."""
    read = read_description(description, labels)
    own = rules.without(labels)
    return [text.restore(text.text) for seed in range(3) for text in restatements(read, own, [seed], labels)]


@pytest.mark.parametrize(
    ("description", "pattern"),
    [
        (BY, r"What (kind|type|sort) of answer does the question (ask for|seek|call for|look for|want)\?"),
        (BY, r"Name the answer type of the question\."),
        (BY, r"Tell me the (kind|type|sort) of answer (asked for|sought|called for|wanted) by the question\."),
        (BY, r"The task at hand is the classification of the question on the basis of .*"),
        (BY, r"The question must be categorized by the .*"),
        (WHETHER, r"Is the review positive or negative\?"),
        (WHETHER, r"Which of these fits this review: positive or negative\?"),
        (ASK, r"Find out by which team this ticket (should|has to|ought to) be (handled|dealt with|taken care of)\."),
        (INTO, r"Which of the given classes fits the text best\?"),
        (AS, r"How would you describe the tweet: as rude or polite\?"),
        (LONG, r"Act as a support agent\. .*"),
        (LONG, r".* if it (concerns|touches) 3 or more\. (Never|You should not|Please do not|Be sure not to) guess\."),
    ],
)
def test_a_search_set_may_say(description: str, pattern: str) -> None:
    assert [text for text in said(description, SEARCH) if re.fullmatch(pattern, text)]


@pytest.mark.parametrize("rules", [SEARCH, HELDOUT], ids=["search", "heldout"])
@pytest.mark.parametrize("description", DESCRIPTIONS)
def test_it_reads_like_sentences(description: str, rules: Rules) -> None:
    texts = said(description, rules)
    assert len(set(texts)) >= 6
    for text in texts:
        assert text[0].isupper()
        assert text[-1] in ".?"
        assert not re.search(r"\{\w+\}|  | [.,?;:]|\b(\w+) \1\b|\.\.|[?.:] [a-z]\w* ?\Z|about by|whether whether", text)
        assert not re.search(r"\b(?:a|the) (?:a|the|this|each)\b|\ba [aeiou]|\bto (?:the )?please\b", text)


@pytest.mark.parametrize(
    "description",
    [
        "Sortiere jede Anfrage nach ihrem Thema.",
        "Classez la question selon son sujet.",
        "The email belongs to one of our teams.",
        "CLASSIFY THE TEXT BY ITS TOPIC.",
        "Label the text:",
    ],
)
def test_what_is_not_understood_is_left_to_frames_and_synonyms(description: str) -> None:
    assert said(description, SEARCH) == []
    assert len(rephrase_by_rules(description).search) == 10


@pytest.mark.parametrize("description", DESCRIPTIONS)
def test_nothing_that_is_held_out_is_said_while_searching(description: str) -> None:
    assert not set(said(description, SEARCH)) & set(said(description, HELDOUT))
    for name, templates in SEARCH.ways.items():
        assert not set(templates) & set(HELDOUT.ways[name])
    for wording in WORDINGS:
        assert not set(wording.search) & set(wording.heldout)


def test_no_label_is_brought_in_and_none_is_lost() -> None:
    labels = ("label", "topic", "person")
    texts = said("Assign the label of the text: topic or person.", SEARCH, *labels)
    texts += said("Label the text as topic or person.", SEARCH, *labels)
    assert texts
    for text in texts:
        assert text.count("topic") == text.count("person") == 1
        assert "subject" not in text
    for text in said("Sort the ticket by its theme.", SEARCH, *labels):
        assert not {"label", "topic", "person"} & set(re.findall(r"\w+", text.casefold()))


SENTENCES = st.sampled_from(
    [
        'Classify the "big" mail {body} by its topic.',
        "Decide which of the 12 teams should handle {body}.",
        "Read the mail and do not guess.",
        "If there are 2 or more, choose the first one.",
        "Is the text about billing or sales?",
        "Label the mail as billing or sales.",
        "Given the mail, tell whether it is urgent.",
        "Identify the kind of answer that `x` asks for.",
        "You are a clerk in 'The Shop'.",
    ]
)


@settings(max_examples=15, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=3).map(" ".join), st.integers(0, 3))
def test_what_must_stay_comes_through(description: str, seed: int) -> None:
    labels = ("billing", "sales")
    found = rephrase_by_rules(description, "mail", 8, 4, seed, protect=labels)
    assert found == rephrase_by_rules(description, "mail", 8, 4, seed, protect=labels)
    checks = Checks(description, labels, protects=True)
    kept = ("{body}", '"big"', "`x`", "'The Shop'", "billing", "sales")
    for text in (*found.search[1:], *found.heldout):
        assert checks.verdict(text, ()).accepted or len(text) > 4 * len(description), text
        assert Counter(re.findall(r"\d+", text)) == Counter(re.findall(r"\d+", description))
        assert [text.count(part) for part in kept] == [description.count(part) for part in kept]
        negations = [
            len(re.findall(r"\bnot\b|n't\b|\bnever\b|\bno account\b", each, re.I)) for each in (text, description)
        ]
        assert negations[0] - text.count("Please do not rush") == negations[1] or "don't mind" in text


@pytest.mark.parametrize(
    "description",
    [
        "Sort each ticket by its topic.",
        "Label the tweet as hateful, offensive or neutral.",
        "Identify the type of thing that the article describes.",
    ],
)
def test_sets_of_simple_descriptions_are_not_tame(description: str) -> None:
    labels = ("hateful", "offensive", "neutral")
    rephrased = rephrase_by_rules(description, description.split()[2], protect=labels)
    assert min(value or 0 for value in diversity_of(rephrased, labels).values()) >= TAME - 0.05
