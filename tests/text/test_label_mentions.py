from __future__ import annotations

from typing import Any

from psopt.text import label_mentions, names_label

from tests.sweeps import each

LABELS = ("Number", "Person", "Entity")


@each(
    "sentence, label, cues",
    [
        ('A question that begins with "when" belongs to Number.', 0, ("^when",)),
        ('Anything about "what color" is an Entity.', 2, ("what color",)),
        ('A text that begins with "how old" or "how far" belongs to Number.', 0, ("^how old", "^how far")),
        ('It contains "whose" or begins with "who": Person.', 1, ("whose", "^who")),
        ("Questions about dates ask for a Number.", 0, ()),
        ('A mail whose subject contains "a" or begins with "how": Number.', 0, ("subject: a", "subject: ^how")),
        ('A mail whose body begins with "who" or that contains "a" is a Person.', 1, ("body: ^who", "a")),
    ],
)
def test_a_sentence_that_names_one_label_is_read(sentence: str, label: int, cues: Any) -> None:
    (mention,) = label_mentions(sentence, LABELS)
    assert (mention.label, mention.cues) == (label, cues)


def test_sentences_are_read_one_by_one_and_those_that_name_no_label_or_several_say_nothing() -> None:
    for sentence in ("Number or Person, who knows.", "Think well.", "Numbers are not named here.", ""):
        assert label_mentions(sentence, LABELS) == [], sentence
    mentions = label_mentions("Dates are a Number. Colours are an Entity! Think well.", LABELS)
    assert [mention.label for mention in mentions] == [0, 2]
    assert mentions[0].topic == "Dates are a ."  # without quotes the rest of the sentence


@each(
    "text, label, by_words, by_case",
    [
        ("It asks for a Number.", "Number", True, True),
        ("It asks for a number.", "Number", True, False),
        ("Numbers are many.", "Number", False, False),
        ("Written in C++, not C.", "C++", True, True),
        ("Written in C++ 20.", "C", True, True),  # a sign after a label ends it
        ("die Straße", "STRASSE", True, False),
    ],
)
def test_a_text_names_a_label_as_whole_words_in_any_case_or_its_own(
    text: str, label: str, by_words: bool, by_case: bool
) -> None:
    assert names_label(text, label) is by_words
    assert names_label(text, label, match_case=True) is by_case
