"""How answers are read that are no single label: what models write, and what nobody should."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from psopt.answers import FIRST_CODE, AnswerType, code_of, reader_for, text_of
from psopt.tasks import AnswerSpec

from tests.sweeps import each

if TYPE_CHECKING:
    from collections.abc import Sequence

TEAMS = ("billing", "sales", "human resources")


def read(form: str, answer: str | None, labels: Sequence[str] = (), spec: str = "label") -> str | None:
    reader = reader_for(spec, labels, form)
    code = reader.read(answer)
    return text_of(code) if code >= FIRST_CODE else None


@each(
    "answer, number",
    [
        ("42", "42"),
        ("1,234.50 EUR", "1234.5"),
        ("1.234,50 €", "1234.5"),
        ("The total is **$1,200**.", "1200"),
        ("−3.5 °C", "-3.5"),
        ("12 %", "12"),
        ("2.5 million", "2500000"),
        ("3/4", "0.75"),
        ("1e-3", "0.001"),
        ("٤٢", "42"),
        ("４２", "42"),
        ("3 apples and 4 pears make 7.\nAnswer: 7", "7"),
        ("Step 1: 3 + 4\n\\boxed{7}", "7"),
        ('{"answer": 7, "unit": "EUR"}', "7"),
        ("```json\n7\n```", "7"),
        ("<think>3 or 4?</think>4", "4"),
        ("between 3 and 4", None),
        ("It was built in 1889.", "1889"),
        ("twelve", None),
        ("", None),
        (None, None),
        ("NaN", None),
        ("9" * 400, None),
        # scales, and what is no one number: never a thousandth
        ("5 milyon TL", "5000000"),
        ("2 hundred thousand", "200000"),
        ("1,5 mil millones", "1500000000"),
        ("1.2m €", "1200000"),
        ("5 M", "5000000"),
        ("12億3000万円", None),
        ("1.200,- €", "1200"),
        ("€1.234", None),
        ("1,2,3", None),
        ("at least 5", None),
        ("5+", None),
        ("答案是5", "5"),
    ],
)
def test_a_number_is_read_past_what_stands_around_it(answer: str | None, number: str | None) -> None:
    assert read("number", answer) == number


@each(
    "answer, labels",
    [
        ('["billing", "sales"]', '["billing", "sales"]'),
        ("sales, billing", '["billing", "sales"]'),
        ("Sales; Human_Resources.", '["sales", "human resources"]'),
        ("- billing\n- human resources", '["billing", "human resources"]'),
        ("billing and sales", '["billing", "sales"]'),
        ('{"labels": ["sales"]}', '["sales"]'),
        ('{"billing": true, "sales": false, "human resources": true}', '["billing", "human resources"]'),
        ("human resources", '["human resources"]'),
        ("[]", "[]"),
        ("None.", "[]"),
        ("Labels: billing, sales", '["billing", "sales"]'),
        ("1. billing\n2. sales", '["billing", "sales"]'),
        ('{"billing": 1, "sales": 0, "human resources": 0}', '["billing"]'),
        ("It is not billing", None),
        ("✅ billing\n❌ sales", '["billing"]'),
        ("- [x] billing\n- [ ] sales", '["billing"]'),
        ("Answer: billing, sales", '["billing", "sales"]'),
        ("billing, refunds", None),
        ("I think it is about money", None),
        ("", None),
    ],
)
def test_several_labels_are_read_as_a_set(answer: str, labels: str | None) -> None:
    assert read("labels", answer, TEAMS) == labels


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Paris", "Paris"),
        ('"Paris"', "Paris"),
        ("Answer: Paris.", "Paris."),
        ("```\nParis\n```", "Paris"),
        ("<think>Lyon?</think>\nParis", "Paris"),
        ("a\0b", "ab"),
        ("東京", "東京"),
        ("  ", None),
        ("<think>no end", None),
    ],
)
def test_a_text_is_read_without_its_wrapping(answer: str, text: str | None) -> None:
    assert read("text", answer) == text


@pytest.mark.parametrize(
    ("answer", "canonical"),
    [
        ('{"b": 2, "a": 1.0}', '{"a": 1, "b": 2}'),
        ('Here it is: {"a": [1, 2]} I hope it helps', '{"a": [1, 2]}'),
        ("```json\n[1]\n```", "[1]"),
        ("{broken", None),
        ("[" * 100_000, None),
    ],
)
def test_json_is_read_in_one_spelling(answer: str, canonical: str | None) -> None:
    assert read("json", answer) == canonical


def test_what_answer_takes_out_may_be_a_list_or_an_object() -> None:
    assert read("labels", '{"why": "x", "teams": ["sales"]}', TEAMS, "json:teams") == '["sales"]'
    assert read("json", '{"why": "x", "order": {"n": 1}}', (), "json:order") == '{"n": 1}'
    assert read("number", "<total>7 EUR</total> of 9", (), "xml:total") == "7"
    assert read("number", '{"n": null}', (), "json:n") is None


@pytest.mark.parametrize(
    ("form", "answer", "kind"),
    [
        ("number", "3 or 4", "several numbers"),
        ("number", "none at all", "no number"),
        ("number", " ", "empty"),
        ("number", "<think>hm", "cut off"),
        ("number", "I'm sorry, I can't help with that.", "refused"),
        ("json", "Gladly!", "no JSON"),
        ("labels", "refunds", "unknown label"),
    ],
)
def test_what_can_not_be_read_has_a_kind(form: str, answer: str, kind: str) -> None:
    assert reader_for("label", TEAMS, form).kind(answer) == kind


@pytest.mark.parametrize("form", ["number", "text", "json", "labels"])
@pytest.mark.parametrize("part", ["1 ", "a, ", "[", '{"a": ', "1,", "- ", "```", "(", "ä", "Answer: "])
def test_an_answer_of_100_kb_takes_no_time(form: str, part: str) -> None:
    start = time.perf_counter()
    read(form, part * (100_000 // len(part)), TEAMS)
    assert time.perf_counter() - start < 5  # seconds: linear takes hundredths


def test_equal_answers_have_equal_numbers_and_others_have_others() -> None:
    assert code_of("ä") == code_of("ä") != code_of("a")
    assert text_of(code_of("\ud800")) == "\ud800"  # half a surrogate pair, as a broken server sends it


@pytest.mark.parametrize(
    ("spec", "first", "second", "similarity"),
    [
        ("number:0.5", "10", "10.5", 1.0),
        ("number:0.5", "10", "10.6", 0.0),
        ("number:10%", "100", "90", 1.0),
        ("number", "0.1", "0.10000000000000001", 1.0),
        ("text", "The Louvre", "louvre.", 1.0),
        ("text", "3.5", "35", 0.0),
        ("text:token-f1", "the Old Market", "Old Market of Lund", 2 * 2 / (2 + 4)),
        ("text:token-f1", "東京", "東京都", 2 * 2 / (2 + 3)),
        ("text:token-f1", "?!", "?!", 1.0),
        ("text:json", '{"a": 1, "b": 2}', '{"b": 2.0, "a": 1}', 1.0),
        ("labels", '["a", "b"]', '["b", "c"]', 1 / 3),
    ],
)
def test_how_alike_two_answers_are(spec: str, first: str, second: str, similarity: float) -> None:
    rule = AnswerType(spec=AnswerSpec.read("test", spec)).open
    assert rule is not None
    assert rule.similarity(first, second) == pytest.approx(similarity)
    assert rule.similarity(second, first) == pytest.approx(similarity)


@pytest.mark.parametrize(
    ("spec", "answer", "reference", "worth"),
    [
        ("text", "New York City", '["NYC", "new york city"]', 1.0),
        ("text", "Boston", '["NYC", "new york city"]', 0.0),
        ("text:token-f1", "in New York", '["NYC", "New York"]', 0.8),
        ("labels", '["a"]', '["a", "b"]', 2 / 3),
        ("labels", "[]", "[]", 1.0),
        ("number:1%", "99.5", "100", 1.0),
    ],
)
def test_what_an_answer_is_worth(spec: str, answer: str, reference: str, worth: float) -> None:
    rule = AnswerType(spec=AnswerSpec.read("test", spec)).open
    assert rule is not None
    assert rule.worth(answer, reference) == pytest.approx(worth)
