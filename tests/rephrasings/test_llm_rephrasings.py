"""Rephrasings written by a model: the conversation over a real socket, the checks, the file."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import InputError
from psopt.rephrasings import Checks, RephrasingSet, read_file, to_file, write_rephrasings
from psopt.rephrasings._llm import _clean
from psopt.templates import split_description

from tests.fake_server import FakeServer
from tests.sweeps import each

ORIGINAL = "Say whether the review of {product} is good or bad."
LABELS = ("good", "bad")


def test_a_model_writes_two_disjoint_sets_one_call_each_text(server: FakeServer, writer: Any) -> None:
    found = write_rephrasings(writer, Checks(ORIGINAL, LABELS), 12, 6)
    n_requests = server.counts()["requests"]
    assert write_rephrasings(writer, Checks(ORIGINAL, LABELS), 12, 6) == found
    assert server.counts()["requests"] == n_requests
    assert found.search[0] == ORIGINAL
    assert (len(found.search), len(found.heldout)) == (12, 6)
    assert not set(found.search) & set(found.heldout)
    assert all("{product}" in text and "good or bad" in text for text in (*found.search, *found.heldout))
    assert found.source == "openai/test"


def test_what_is_wrong_is_refused_with_its_reason_and_replaced_and_the_file_may_be_edited_by_hand(
    server: FakeServer, writer: Any, tmp_path: Path
) -> None:
    server.change(drafts="bad")
    checks = Checks(ORIGINAL, LABELS, closeness=lambda one, other: 0.1 if "French" in other else 0.9)
    found = write_rephrasings(writer, checks, 6, 4)
    assert (len(found.search), len(found.heldout)) == (6, 4)
    reasons = {str(one.reason).partition(" (")[0] for one in found.rejected}
    assert {"empty", "more than one paragraph", "too long"} <= reasons
    wrong = {one.text for one in found.rejected if one.reason != "a duplicate"}
    assert not wrong & {*found.search, *found.heldout}
    path = tmp_path / "rephrasings.json"
    data = to_file(found)
    path.write_text(json.dumps(data))
    read = read_file(path)
    assert (read, read.sha256, read.rejected) == (found, found.sha256, found.rejected)
    data["search"].append("Good or bad: which is this review of {product}?")
    path.write_text(json.dumps(data))
    assert len(read_file(path).search) == 7


def test_a_model_that_repeats_itself_is_said(server: FakeServer, writer: Any) -> None:
    server.change(answer="fixed:x")
    with pytest.raises(InputError, match=r"gave \d+ of 59 usable search rephrasings.*a duplicate"):
        write_rephrasings(writer, Checks("Sort it."), 60, 1)


@each(
    "text, reason",
    [
        ("", "empty"),
        ("One line.\nAnother.", "more than one paragraph"),
        ("Good or bad? {product}" * 40, "too long"),
        ("Say whether the review of the product is good or bad.", "lost the mark {product}"),
        ("Say whether the review of {product} is good or not.", "drops the label 'bad'"),
        ("Is this review of {product} a good or a bad one, or is it spam?", "means something else (likeness 0.1)"),
        ("Tell me how {product} is reviewed: good, bad or in French?", "judged to ask for something else"),
        ("Ist das nach der Meinung zu {product} ein good oder bad review?", "in another language"),
        ("Is this review of {product} a good or a bad one?", None),
    ],
)
def test_each_check_names_what_it_refuses(text: str, reason: str | None) -> None:
    checks = Checks(
        ORIGINAL,
        LABELS,
        closeness=lambda one, other: 0.1 if "spam" in other else 0.9,
        judge=lambda one, other: "French" not in other,
    )
    verdict = checks.verdict(text, ())
    assert verdict.accepted == (reason is None)
    assert str(verdict.reason).startswith(str(reason))


@each("preface", ["Sure! ", "- ", "2. ", "Here is a rephrased version: ", "Rephrased:\n"])
def test_what_models_write_before_an_answer_is_left_out(preface: str) -> None:
    text = "Is it version 2: yes or no?"
    assert _clean(f"{preface}{text}", "Say whether it is version 2.") == text
    assert _clean(f"{preface}{text}", f"{preface}{text}") == f"{preface}{text}"


# A template is rephrased passage by passage.
ROLE = "You help a shop."
ASK = 'Sort the mail {subject} into "urgent" or not.'
FORMAT = 'Answer as JSON: {"team": "billing"}'
TEMPLATE = f"{ROLE}\n\n{ASK}\n- one team\n{FORMAT}"


class Parrot:
    """Says what it is shown with a number more; a passage that it is told to spoil comes wrong the first time."""

    name = "test/parrot"

    def __init__(self, spoilt: dict[str, str] | None = None, silent: str = "") -> None:
        self.spoilt = dict(spoilt or {})
        self.silent = silent
        self.shown: list[str] = []
        self.requests: list[str] = []

    def write(self, conversations: Sequence[Any], *, temperature: float = 0.0, sample: int = 0) -> list[str]:
        return [self._said(messages[-1]["content"]) for messages in conversations]

    def _said(self, request: str) -> str:
        (passage,) = re.findall(r"<description>\n(.*?)\n</description>", request, re.DOTALL)
        self.shown.append(passage)
        self.requests.append(request)
        return "" if passage == self.silent else self.spoilt.pop(passage, f"Number {len(self.shown)}: {passage}")


def written(parrot: Parrot, original: str, n_search: int, n_heldout: int, n_parts: int = 2) -> RephrasingSet:
    return write_rephrasings(parrot, Checks(original), n_search, n_heldout, n_parts=n_parts)  # type: ignore[arg-type]


def test_passages_are_asked_for_by_themselves_and_the_rest_stays() -> None:
    parrot = Parrot()
    found = written(parrot, TEMPLATE, 4, 3)
    assert set(parrot.shown) == {ROLE, ASK}
    assert all(f"<context>\n{TEMPLATE}\n</context>" in request for request in parrot.requests)
    assert found.search[0] == TEMPLATE
    texts = [*found.search[1:], *found.heldout]
    assert len(set(texts)) == 6
    for text in texts:
        role, ask = split_description(text)
        assert re.fullmatch(rf"Number \d+: {re.escape(ROLE)}", role)
        assert re.fullmatch(rf"Number \d+: {re.escape(ASK)}\n- one team\n{re.escape(FORMAT)}", ask)
    assert (found.source, found.n_parts) == ("test/parrot", 2)
    assert found.checks[texts[0]] == {"characters": len(texts[0])}


@each(
    "wrong, reason",
    [
        ('Sort the mail into "urgent" or not.', "lost the mark {subject}"),
        ("Sort the mail {subject} into urgent or not.", "lost what is protected: '\"urgent\"'"),
        ('Sort the mail {subject} into "urgent" or not, as "team".', "added what is protected: '\"team\"'"),
        (
            'Sort {subject} into "urgent" or not. Answer as JSON only.',
            "added what is protected: 'Answer as JSON only.'",
        ),
    ],
)
def test_what_loses_or_adds_something_protected_is_refused_and_asked_for_again(wrong: str, reason: str) -> None:
    found = written(Parrot({ASK: wrong}), TEMPLATE, 2, 1)
    assert [(refused.text, refused.reason) for refused in found.rejected] == [(wrong, reason)]
    assert all(ASK in text for text in (*found.search, *found.heldout))


def test_a_passage_that_the_model_leaves_alone_stays_as_it_is_and_one_that_gives_nothing_at_all_is_said() -> None:
    found = written(Parrot(silent=ROLE), TEMPLATE, 3, 2)
    assert {split_description(text)[0] for text in (*found.search, *found.heldout)} == {ROLE}
    assert len({*found.search, *found.heldout}) == 5
    said = r"test/parrot gave 0 of 2 usable search rephrasings; at last it wrote '': empty"
    with pytest.raises(InputError, match=said):
        written(Parrot(silent=ROLE), ROLE, 3, 2, n_parts=1)
