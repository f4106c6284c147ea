"""What texts say: which labels they name and by which cues; and what in them tells of a person."""

from __future__ import annotations

from typing import Any

from psopt.text import label_mentions, names_label, private_pieces

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


@each(
    "text",
    [
        "Order: #10794711, please",
        "Bestellnummer 10794711",
        "ticket #48213, case 20240301123, CASE-2024-00123, INC0012345",
        "2024-03-01T12:15:33Z and 20240301",
        "am 01.03.2024 um 12:15 Uhr",
        "3/1/2024 9:15 am, from 9:00 - 17:30, between 12.30-14.45",
        "room 1204, 300 people, 2024",
        "Dear Team, thanks, Support",
        "ISBN 978-3-16-148410-0, pages 1203-1210, SKU 12345678",
    ],
)
def test_dates_times_and_the_numbers_of_cases_are_not(text: str) -> None:
    assert list(private_pieces(text)) == []


@each(
    "text, piece",
    [
        ("my account 12345678 is locked", "12345678"),
        ("account number: 0012-3456", "0012-3456"),
        ("IBAN DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
        ("card 4111 1111 1111 1111", "4111"),
        ("call 555-123-4567 on 2024-03-01 12:15", "555-123-4567"),
        ("write to anna@poe.com about case 12345678", "anna@poe.com"),
        ("12 Baker Street", "12 Baker Street"),
        ("Me llamo Juan Pérez", "Juan Pérez"),
        ("Cordialement,\nMarie Dupont", "Marie Dupont"),
        ("my password is hunter2", "hunter2"),
        ("born 12.03.1985 in Rome", "12.03.1985"),
        ("Dear Anna,\norder 1079 is late", "Anna"),
    ],
)
def test_names_addresses_and_the_numbers_of_accounts_are(text: str, piece: str) -> None:
    assert piece in list(private_pieces(text))
