"""The rule-based rephraser: what it writes reads well, means the same, and keeps what must be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from psopt.errors import InputError
from psopt.rephrasings import rephrase_by_rules
from psopt.rephrasings._description import read_description
from psopt.rephrasings._recipes import HELDOUT, SEARCH, in_turn, recipes_for
from psopt.rephrasings._rules import rephrasings
from psopt.rephrasings._set import comparable

CLASSIFY = "Classify the text into one of the given classes."
ASK = "Is the review positive or negative?"
STATE = "The email belongs to one of our teams."
SEVERAL = "Read the review. Determine its sentiment. You must choose the correct label."
BY = "Classify the question by the kind of answer that it asks for."
DESCRIPTIONS = [CLASSIFY, ASK, STATE, SEVERAL, BY, "Topic:"]


def everything(description: str, noun: str = "text", rules: Any = SEARCH, protect: Any = ()) -> Any:
    """All that one side of the rules makes of a description."""
    return set(rephrasings(description, noun, rules, 0, protect, avoid=(description,)))


@pytest.mark.parametrize("description", DESCRIPTIONS)
@pytest.mark.parametrize("rules", [SEARCH, HELDOUT], ids=["search", "heldout"])
def test_every_short_description_gives_well_over_60_rephrasings(description: Any, rules: Any) -> None:
    assert len(everything(description, rules=rules)) >= 80


@pytest.mark.parametrize(
    ("description", "rephrasing"),
    [
        # frames
        (CLASSIFY, "Please classify the text into one of the given classes."),
        (CLASSIFY, "Here is what to do: Classify the text into one of the given classes."),
        (CLASSIFY, "Could you classify the text into one of the given classes?"),
        (CLASSIFY, "Classify the text into one of the given classes, please."),
        (SEVERAL, "Your task is to read the review. Determine its sentiment. You must choose the correct label."),
        (ASK, "Please answer this: Is the review positive or negative?"),
        (STATE, "Task: The email belongs to one of our teams."),
        ("classify it by topic", "This is the task. Classify it by topic"),
        ("CLASSIFY the text.", "Please CLASSIFY the text."),
        ("Route each ticket to a team.", "Could you route each ticket to a team?"),
        ("Spot the spam.", "Your task is to spot the spam."),
        # a frame of its own is taken off for another
        ("Please label the text.", "I need you to label the text."),
        ("Please label the text.", "Label the text."),
        ("Your task is to label the text.", "Could you label the text?"),
        # tails
        (ASK, "Is the review positive or negative? Be careful."),
        ("Label the text", "Label the text. Be careful."),
        ('Say "yes" or "no"', 'Say "yes" or "no". Be careful.'),
        ("Label the text:", "Be careful. Task: Label the text:"),
        ("Label it as in https://a.org/guide", "Be careful. Label it as in https://a.org/guide"),
        # synonyms
        (CLASSIFY, "Categorize the passage into one of the following categories."),
        (SEVERAL, "Read the review. Identify its sentiment. You have to select the right label."),
        (BY, "Classify the question according to the type of answer that it asks for."),
        ("Given a question, tell which class it belongs to.", "Given a query, say which class it belongs to."),
        ("CLASSIFY THE TEXT BELOW.", "CLASSIFY THE PASSAGE BELOW."),
        # contractions
        ("Label the text. Do not explain.", "Label the text. Don't explain."),
        # a closing clause moved to the front
        (BY, "Going by the kind of answer that it asks for, classify the question."),
        ("Label the tweet as rude or polite based on its tone", "Going by its tone, label the tweet as rude or polite"),
    ],
)
def test_it_says(description: Any, rephrasing: str) -> None:
    assert rephrasing in everything(description)


@pytest.mark.parametrize(
    ("description", "rephrasing"),
    [
        (CLASSIFY, "You are asked to sort the piece of text into one of the provided groups."),
        (BY, "Classify the inquiry by the sort of answer that it asks for."),
        ("Label a text as rude or not.", "Your assignment is to tag a text as rude or not."),
        ("Given a question, label it.", "Given an inquiry, label it."),
        ("Given a text, choose a topic.", "Given a piece of text, choose a topic."),
        ("Don’t label the text.", "Do not label the text."),
        (BY, "Judging by the kind of answer that it asks for, classify the question."),
    ],
)
def test_what_is_held_out_says(description: Any, rephrasing: str) -> None:
    assert rephrasing in everything(description, rules=HELDOUT)


@pytest.mark.parametrize(
    ("description", "never"),
    [
        # what is no imperative is not framed as one
        (STATE, ["Please the", "Kindly", "to the email belongs", "Here is what to do"]),
        (ASK, ["Please is", "to is", "Instructions:", "Here is what to do"]),
        ("Label noise in a text.", ["Please label", "to label"]),
        ("State and local news are told apart.", ["Please state", "to state"]),
        ("Sort of text.", ["Please sort", "Classify of"]),
        ("Spot checks of a text.", ["Please spot", "to spot"]),
        # one frame is enough
        ("Please label the text.", ["Please please", "lease Label"]),
        ("Your task is to label it.", ["Your task: Your", "Your task. Your"]),
        ("You are shown a review. Is it good?", ["You are an expert annotator. You"]),
        # words of several sentences are not wrapped into one
        (SEVERAL, ["Could you", ", please", "if you don't mind", "Would you read"]),
        ("Label the text as one of these: a, b", ["Could you", ", please"]),
        # nothing follows a colon, and no full stop spoils an address
        ("Label the text:", [": Be careful", ":. "]),
        ("Label it as in https://a.org/guide", ["guide."]),
        # words keep their other meanings
        ("Decide whether the text message is spam.", ["passage", "piece of text"]),
        ("Is the text a question or a statement?", ["query", "inquiry"]),
        ("Tell whether the class is suitable for beginners.", ["category", "group"]),
        ("Decide whether the film is based on a book.", ["according to", "on the basis"]),
        ("Decide whether or not it is rude.", ["if or not"]),
        ("Label each text with one label.", ["one mark", "one tag"]),
        ("Classify text by tone.", ["passage", "piece of"]),
        ("Label the text as rude or polite.", ["Going by", "Judging by"]),
        ("Classify the text by its topic into five classes.", ["Going by", "Judging by"]),
        ("Say who they are. Label the text.", ["they're."]),
    ],
)
def test_it_never_says(description: Any, never: list[str]) -> None:
    for rules in (SEARCH, HELDOUT):
        for text in everything(description, rules=rules):
            assert not [words for words in never if words in text], text


@pytest.mark.parametrize("rules", [SEARCH, HELDOUT], ids=["search", "heldout"])
def test_quotes_braces_addresses_and_protected_words_stay(rules: Any) -> None:
    description = (
        "Decide whether \"the given text\" or 'the text' at https://question.org/class?a={b}&text or {question} or "
        "<text> in [text] is of class Given Text or Question."
    )
    kept = ['"the given text"', "'the text'", "https://question.org/class?a={b}&text", "{question}", "<text>", "[text]"]
    for text in everything(description, rules=rules, protect=("Given Text", "question", "Text", "a", "")):
        for part in (*kept, "Given Text", "Question."):
            assert part in text


def test_no_label_is_brought_in() -> None:
    assert any("query" in text or "Task" in text for text in everything(BY))
    for text in everything(BY, protect=("Query", "Task", "no")):
        assert "query" not in text.casefold()
        assert "Task" not in text


def test_the_sample_is_called_the_same_in_the_frame_and_in_the_description() -> None:
    for text in everything(BY, noun="question"):
        assert not ("query" in text and "question" in text)


def test_held_out_uses_no_frame_and_no_synonym_of_the_search_set() -> None:
    for part in ("commands", "orders", "questions", "neutral", "clauses", "tails"):
        assert not set(getattr(SEARCH.frames, part)) & set(getattr(HELDOUT.frames, part))
    new = [{synonym for swap in rules.swaps for _, synonym in swap.words} for rules in (SEARCH, HELDOUT)]
    assert not new[0] & new[1]


@pytest.mark.parametrize("description", DESCRIPTIONS)
def test_nothing_that_is_held_out_can_come_into_a_search_set(description: Any) -> None:
    searched = {comparable(text) for text in everything(description)}
    heldout = {comparable(text) for text in everything(description, rules=HELDOUT)}
    assert not searched & heldout


def test_the_first_rephrasings_change_little_and_the_next_ones_more() -> None:
    recipes = list(in_turn(recipes_for(read_description(BY), SEARCH), seed=0))
    assert [min(3, recipe.depth) for recipe in recipes[:12]] == [1, 1, 2, 2, 3, 3] * 2
    assert len({recipe.frame for recipe in recipes[:60]}) > 20


def test_more_than_the_rules_can_do_is_refused_with_the_number_they_can() -> None:
    with pytest.raises(InputError, match=r"9000 search rephrasings were asked for; the rules give \d+"):
        rephrase_by_rules(CLASSIFY, n_search=9000)
    with pytest.raises(InputError, match=r"9000 held-out rephrasings were asked for; the rules give \d+"):
        rephrase_by_rules(CLASSIFY, n_heldout=9000)


def test_another_process_gives_the_same_set() -> None:
    program = f"from psopt.rephrasings import rephrase_by_rules; print(rephrase_by_rules({BY!r}, seed=0).sha256)"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.strip() == rephrase_by_rules(BY, seed=0).sha256
