from __future__ import annotations

from typing import Any

import pytest
from psopt.text import read_sentences

LABELS = ("Number", "Person", "Entity")


@pytest.mark.parametrize(
    ("sentence", "label", "phrases"),
    [
        ('A question that begins with "when" belongs to Number.', 0, ("^when",)),
        ('Anything about "what color" is an Entity.', 2, ("what color",)),
        ('A text that begins with "how old" or "how far" belongs to Number.', 0, ("^how old", "^how far")),
        ('It begins with "who" or contains "whose": Person.', 1, ("^who", "whose")),
        ('It contains "whose" or begins with "who": Person.', 1, ("whose", "^who")),
        ("Questions about dates ask for a Number.", 0, ()),
        ('The word "Number" itself is an Entity.', 2, ("number",)),
    ],
)
def test_a_sentence_that_names_one_label_is_read(sentence: str, label: int, phrases: Any) -> None:
    (statement,) = read_sentences(sentence, LABELS)
    assert (statement.label, statement.phrases) == (label, phrases)


@pytest.mark.parametrize("sentence", ["Number or Person, who knows.", "Think well.", "Numbers are not named here.", ""])
def test_a_sentence_that_names_no_label_or_several_says_nothing(sentence: str) -> None:
    assert read_sentences(sentence, LABELS) == []


def test_sentences_are_read_one_by_one() -> None:
    statements = read_sentences("Dates are a Number. Colours are an Entity! Think well.", LABELS)
    assert [statement.label for statement in statements] == [0, 2]


def test_without_quotes_the_rest_of_the_sentence_is_the_topic() -> None:
    (statement,) = read_sentences("Questions about dates ask for a Number.", LABELS)
    assert statement.topic == "Questions about dates ask for a ."
