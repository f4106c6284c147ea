"""A model rephrases a template passage by passage, and each of its answers is checked."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import InputError
from psopt.rephrasings import Checks, write_rephrasings
from psopt.templates import split_description

if TYPE_CHECKING:
    from collections.abc import Sequence

ROLE = "You help a shop."
ASK = 'Sort the mail {subject} into "urgent" or not.'
FORMAT = 'Answer as JSON: {"team": "billing"}'
ORIGINAL = f"{ROLE}\n\n{ASK}\n- one team\n{FORMAT}"


class Parrot:
    """Says what it is shown with a number more; a passage that it is told to spoil comes wrong the first time."""

    name = "test/parrot"

    def __init__(self, spoilt: dict[str, str] | None = None, silent: str = "") -> None:
        self.spoilt = dict(spoilt or {})
        self.silent = silent
        self.shown: list[str] = []
        self.requests: list[str] = []
        self.count = itertools.count(1)

    def write(self, conversations: Sequence[Any], *, temperature: float = 0.0, sample: int = 0) -> list[str]:
        return [self._said(messages[-1]["content"]) for messages in conversations]

    def _said(self, request: str) -> str:
        match = re.search(r"<description>\n(.*?)\n</description>", request, re.DOTALL)
        assert match is not None
        passage = match[1]
        self.shown.append(passage)
        self.requests.append(request)
        if passage == self.silent:
            return ""
        return self.spoilt.pop(passage, f"Number {next(self.count)}: {passage}")


def test_passages_are_asked_for_by_themselves_and_the_rest_stays() -> None:
    parrot = Parrot()
    found = write_rephrasings(parrot, Checks(ORIGINAL), 4, 3, n_parts=2)  # type: ignore[arg-type]
    assert set(parrot.shown) == {ROLE, ASK}
    assert all(f"<context>\n{ORIGINAL}\n</context>" in request for request in parrot.requests)
    assert found.search[0] == ORIGINAL
    texts = [*found.search[1:], *found.heldout]
    assert len(set(texts)) == 6
    for text in texts:
        role, ask = split_description(text)
        assert re.fullmatch(rf"Number \d+: {re.escape(ROLE)}", role)
        assert re.fullmatch(rf"Number \d+: {re.escape(ASK)}\n- one team\n{re.escape(FORMAT)}", ask)
    assert (found.source, found.n_parts) == ("test/parrot", 2)
    assert found.checks[texts[0]] == {"characters": len(texts[0])}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ('Sort the mail into "urgent" or not.', "lost the mark {subject}"),
        ("Sort the mail {subject} into urgent or not.", "lost what is protected: '\"urgent\"'"),
        ('Sort the mail {subject} into "urgent" or not, as "team".', "added what is protected: '\"team\"'"),
        (
            'Sort {subject} into "urgent" or not. Answer as JSON only.',
            "added what is protected: 'Answer as JSON only.'",
        ),
        ('Sort the mail {subject} into "urgent" or not `now`.', "added what is protected: '`now`'"),
    ],
)
def test_what_loses_or_adds_something_protected_is_refused_and_asked_for_again(wrong: str, reason: str) -> None:
    found = write_rephrasings(Parrot({ASK: wrong}), Checks(ORIGINAL), 2, 1, n_parts=2)  # type: ignore[arg-type]
    assert [(refused.text, refused.reason) for refused in found.rejected] == [(wrong, reason)]
    assert all(ASK in text for text in (*found.search, *found.heldout))


def test_a_passage_that_the_model_leaves_alone_stays_as_it_is() -> None:
    found = write_rephrasings(Parrot(silent=ROLE), Checks(ORIGINAL), 3, 2, n_parts=2)  # type: ignore[arg-type]
    assert {split_description(text)[0] for text in (*found.search, *found.heldout)} == {ROLE}
    assert len({*found.search, *found.heldout}) == 5


def test_a_model_that_gives_nothing_is_said() -> None:
    with pytest.raises(
        InputError, match=r"test/parrot gave 0 of 2 usable search rephrasings; at last it wrote '': empty"
    ):
        write_rephrasings(Parrot(silent=ROLE), Checks(ROLE), 3, 2, n_parts=1)  # type: ignore[arg-type]


def test_a_passage_that_was_broken_to_fit_is_asked_for_on_one_line() -> None:
    parrot = Parrot()
    found = write_rephrasings(parrot, Checks("Sort the mail\n  by team."), 2, 1, n_parts=1)  # type: ignore[arg-type]
    assert set(parrot.shown) == {"Sort the mail by team."}
    assert found.search == ("Sort the mail\n  by team.", "Number 1: Sort the mail by team.")
