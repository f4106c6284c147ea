"""What counts as private: what tells of a person; not when something was, nor what a case is called."""

from __future__ import annotations

from psopt.text import private_pieces

from tests.sweeps import each


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
