"""How answers are read that are no single label: what models write, and what nobody should."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest
from psopt.answers import FIRST_CODE, AnswerType, code_of, reader_for, text_of
from psopt.tasks import AnswerSpec

from tests.sweeps import each

TEAMS = ("billing", "sales", "human resources")


def read(form: str, answer: str | None, labels: Sequence[str] = (), spec: str = "label") -> str | None:
    reader = reader_for(spec, labels, form)
    code = reader.read(answer)
    return text_of(code) if code >= FIRST_CODE else None


@each(
    "number, answers",
    [
        ("42", ["42", "٤٢", "４２"]),
        ("1234.5", ["1,234.50 EUR", "1.234,50 €"]),
        ("1200", ["The total is **$1,200**.", "1.200,- €"]),
        ("-3.5", ["−3.5 °C"]),
        ("0.75", ["3/4"]),
        ("7", ["3 apples and 4 pears make 7.\nAnswer: 7", "Step 1: 3 + 4\n\\boxed{7}", "```json\n7\n```"]),
        ("7", ['{"answer": 7, "unit": "EUR"}', "I see 3 items. Answer: 7", "3个。答案：7"]),
        ("4", ["<think>3 or 4?</think>4"]),
        # scales, and what is no one number: never a thousandth
        ("2500000", ["2.5 million"]),
        ("5000000", ["5 milyon TL", "5 M"]),
        ("1500000000", ["1,5 mil millones"]),
        (None, ["between 3 and 4", "1,2,3", "at least 5", "5+", "12億3000万円", "€1.234"]),
        (None, ["twelve", "", None, "NaN", "9" * 400]),
        # zeros before a comma, signs in words, dashes that are no signs
        ("0.5", ["0,500 kg", "0.500", "$0.500"]),
        ("-12", ["minus 12", "negative 12", "moins 12", "The temperature is minus 12 °C.", "Total: -12 EUR"]),
        ("42", ["Total – 42 EUR", "Price - $42", "**Total** – 42"]),
        # currencies that touch the number, as no other letters may; fractions that are one sign
        ("12.5", ["EUR12.50", "CHF12.50", "The total is USD12.50.", "Rs.12.50", "kr12,50", "₩12.50", "12½", "12 ½ kg"]),
        ("0.5", ["½", "about ½ of them"]),
        (None, ["B12", "H2O", "v2", "Q3", "COP26", "SHA256", "USD12 for 3 items"]),
        # scales in other languages, and those that may mean something else
        ("2000000", ["2 millioner kroner", "2 mill. kr", "2 мільйони", "2 MEUR", "2 ล้านบาท"]),
        ("2000000000", ["2 milliarder", "2 mia. kr.", "2 Md€", "2 Mds €"]),
        ("5000", ["5 tusen", "5 duizend", "5 tisíc", "5 TEUR", "5 k€", "5K", "$5 K", "5 mil euros"]),
        (None, ["300 K", "It is 300 K (27 °C).", "$5 mil", "5 T€", "10⁶", "42¹", "5 × 10⁶", "12/2024", "01/02/2024"]),
        # bounds, denials, and numbers of something else
        (None, ["5 or more", "5 and above", "greater than 5", "a maximum of 5", "not 5", "no more than 5"]),
        (
            "12",
            ["Page 12", '{"total": 12, "page": 3}', "I can't be sure, but 12", "**Step 1**: 3 + 9.\n\nIt is **12**."],
        ),
    ],
)
def test_a_number_is_read_past_what_stands_around_it(number: str | None, answers: list[str | None]) -> None:
    assert {answer: read("number", answer) for answer in answers} == dict.fromkeys(answers, number)


@each(
    "labels, answers",
    [
        (["billing", "sales"], ['["billing", "sales"]', "sales, billing", "billing and sales", "1. billing\n2. sales"]),
        (["billing", "sales"], ["Labels: billing, sales", "Answer: billing, sales", "Two. Answer: billing, sales"]),
        (["billing", "human resources"], ["- billing\n- human resources"]),
        (["billing", "human resources"], ['{"billing": true, "sales": false, "human resources": true}']),
        (["billing"], ["✅ billing\n❌ sales", "- [x] billing\n- [ ] sales"]),
        ([], ["[]", "None.", '{"labels": ["none"]}', "No labels apply.", "- [ ] billing\n- [ ] sales"]),
        ([], ['{"labels": null, "considered": ["sales"]}', '{"billing": 0, "sales": false}', "{}"]),
        (["billing"], ['{"label": "billing", "alternatives": ["sales"]}', '{"why": ["sales"], "labels": "billing"}']),
        (["billing", "sales"], ['{"labels": "billing, sales"}', '{"labels": {"billing": true, "sales": true}}']),
        (None, ["It is not billing", "billing, refunds", "I think it is about money", ""]),
        (None, ['{"error": 0}', "...", '{"considered": ["sales"]}', "Rejected: sales", "❌ sales"]),
    ],
)
def test_several_labels_are_read_as_a_set(labels: list[str] | None, answers: list[str]) -> None:
    expected = None if labels is None else json.dumps(labels)
    assert {answer: read("labels", answer, TEAMS) for answer in answers} == dict.fromkeys(answers, expected)


def test_labels_may_be_numbers_or_hold_what_separates_labels() -> None:
    assert read("labels", "[0, 2]", ("0", "1", "2")) == '["0", "2"]'
    topics = ("Arts", "Culture", "Arts and Culture", "Food/Drink", "Food", "Drink", "Law, Politics")
    for said, labels in {
        "Arts and Culture, Food": ["Arts and Culture", "Food"],
        "Culture and Arts": ["Arts", "Culture"],
        "Food/Drink; Law, Politics": ["Food/Drink", "Law, Politics"],
    }.items():
        assert read("labels", said, topics) == json.dumps(labels)
    assert read("labels", "Food/Drink", ("Food", "Drink")) == '["Food", "Drink"]'


@each(
    "form, answer, text, spec",
    [
        ("text", "Paris", "Paris", "label"),
        ("text", "Answer: Paris.", "Paris.", "label"),
        ("text", "```sql\nSELECT 1\n```", "SELECT 1", "label"),
        ("text", "```Paris\n```", "Paris", "label"),
        ("text", "<think>Lyon?</think>\nParis", "Paris", "label"),
        ("text", "  ", None, "label"),
        ("text", "<think>no end", None, "label"),
        ("json", '{"b": 2, "a": 1.0}', '{"a": 1, "b": 2}', "label"),
        ("json", 'Here it is: {"a": [1, 2]} I hope it helps', '{"a": [1, 2]}', "label"),
        ("json", "{broken", None, "label"),
        ("json", "[" * 100_000, None, "label"),
        # what --answer takes out may be a list or an object
        ("labels", '{"why": "x", "teams": ["sales"]}', '["sales"]', "json:teams"),
        ("json", '{"why": "x", "order": {"n": 1}}', '{"n": 1}', "json:order"),
        ("number", "<total>7 EUR</total> of 9", "7", "xml:total"),
        ("number", '{"n": null}', None, "json:n"),
    ],
)
def test_an_answer_is_read_without_its_wrapping_and_json_in_one_spelling(
    form: str, answer: str, text: str | None, spec: str
) -> None:
    assert read(form, answer, TEAMS, spec) == text


@each(
    "form, answer, kind",
    [
        ("number", "3 or 4", "several numbers"),
        ("number", "none at all", "no number"),
        ("number", "<think>hm", "cut off"),
        ("number", "I'm sorry, I can't help with that.", "refused"),
        ("json", "Gladly!", "no JSON"),
        ("labels", "refunds", "unknown label"),
    ],
)
def test_what_can_not_be_read_has_a_kind(form: str, answer: str, kind: str) -> None:
    assert reader_for("label", TEAMS, form).kind(answer) == kind


@each("part", ["1 ", "a, ", "[", '{"a": ', "1,", "- ", "```", "(", "ä", "Answer: "])
def test_an_answer_of_100_kb_takes_no_time(part: str) -> None:
    for form in ("number", "text", "json", "labels"):
        start = time.process_time()
        read(form, part * (100_000 // len(part)), TEAMS)
        assert time.process_time() - start < 5, form  # seconds: linear takes hundredths


def test_equal_answers_have_equal_numbers_and_others_have_others() -> None:
    assert code_of("ä") == code_of("ä") != code_of("a")
    assert text_of(code_of("\ud800")) == "\ud800"  # half a surrogate pair, as a broken server sends it


@each(
    "spec, first, second, similarity",
    [
        ("number:0.5", "10", "10.6", 0.0),
        ("number:10%", "100", "90", 1.0),
        ("number", "0.1", "0.10000000000000001", 1.0),
        ("text", "The Louvre", "louvre.", 1.0),
        ("text", "3.5", "35", 0.0),
        ("text", "> 5", "< 5", 0.0),
        ("text", "माल", "मिल", 0.0),
        ("text", "*Vitamin A*", "vitamin A.", 1.0),
        ("text:token-f1", "the Old Market", "Old Market of Lund", 2 * 2 / (2 + 4)),
        ("text:token-f1", "東京", "東京都", 2 * 2 / (2 + 3)),
        ("text:json", '{"a": 1, "b": 2}', '{"b": 2.0, "a": 1}', 1.0),
        ("labels", '["a", "b"]', '["b", "c"]', 1 / 3),
    ],
)
def test_how_alike_two_answers_are(spec: str, first: str, second: str, similarity: float) -> None:
    rule: Any = AnswerType(spec=AnswerSpec.read("test", spec)).open
    assert rule.similarity(first, second) == pytest.approx(similarity)
    assert rule.similarity(second, first) == pytest.approx(similarity)


@each(
    "spec, answer, reference, worth",
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
    rule: Any = AnswerType(spec=AnswerSpec.read("test", spec)).open
    assert rule.worth(answer, reference) == pytest.approx(worth)
