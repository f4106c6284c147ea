"""Where in an answer does the label stand, and why is there none?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psopt.answers import ANSWER_FORMS, NO_LABEL_CURES, read_answer, reader_for
from psopt.errors import InputError

from tests.sweeps import each

LABELS = ("billing", "sales", "human being", "R&D")
THOUGHTS = '<think>Is it sales? I\'d answer {"team": "sales"}.</think>\n'

READ: list[tuple[str, dict[str, list[str]]]] = [
    # a member of JSON: bare, fenced, behind prose, the last of several
    ("json:team", {"billing": ['{"team": "billing"}', '{"reason": "It names a {bill}.", "team": "Billing."}']}),
    ("json:team", {"billing": ['{"team": "sales"}\nNo, wait.\n{"team": "billing"}']}),
    ("json:team", {"billing": ['{"team": "billing"} {"confidence": 0.9}', '{"team": "billing"} {"team": "sal']}),
    ("json:team", {"billing": ['[{"team": "billing"}]', '{"team": ["billing"]}', '{"Team": "billing"}']}),
    ("json:team", {"billing": ['{"reason": "two\nlines", "team": "billing"}', THOUGHTS + '{"team": "billing"}']}),
    ("json:team", {"R&D": ['<|channel|>analysis<|message|>sales<|end|><|channel|>final<|message|>{"team": "R&D"}']}),
    ("json:result.team", {"billing": ['{"result": {"team": "billing", "why": "a bill"}}']}),
    ("json:teams.1", {"billing": ['{"teams": ["sales", "billing"]}']}),
    # the assistant's turn that the prompt ends with began the object
    ("json:team", {"billing": ['"team": "billing", "reason": "a bill"}', 'billing", "reason": "a bill"}']}),
    # nothing, and why
    ("json:team", {"no JSON": ["billing", '{"result": {"team": "billing"}, "reason": "it is cut']}),
    ("json:team", {"no field": ['{"reason": "a bill"}', '{"result": {"team": "billing"}}']}),
    ("json:team", {"several labels": ['{"team": "billing or sales"}', '{"team": ["billing", "sales"]}']}),
    ("json:team", {"unknown label": ['{"team": "support"}', '{"team": "the billing team"}', '{"team": 7}']}),
    ("json:team", {"unknown label": ['{"team": {"name": "billing"}}'], "empty": ['{"team": null}']}),
    ("json:team", {"refused": ["I'm sorry, but I can't help with that."]}),
    ("json:team", {"cut off": ['<think>{"team": "billing"} but']}),
    # tags
    ("xml:answer", {"billing": ["<answer>billing</answer>"]}),
    ("xml:answer", {"billing": ["<answer>sales</answer> no: <answer>billing</answer>", "<answer>billing"]}),
    ("xml:answer", {"billing": ["billing</answer>", "<think><answer>sales</answer></think><answer>billing</answer>"]}),
    ("xml:answer", {"R&D": ['<Answer lang="en">R&amp;D</Answer>'], "no tag": ["<answers>billing</answers>"]}),
    ("xml:answer", {"empty": ["<answer></answer>"], "several labels": ["<answer>billing, sales</answer>"]}),
    # patterns
    (r"regex:team=(\w+)", {"billing": ["team=sales, then team=billing", THOUGHTS + "team=billing"]}),
    (r"regex:team=(\w+)", {"no match": ["billing"], "unknown label": ["team=both"]}),
    (r"regex:(?:team (\w+)|(\w+) team)", {"billing": ["the billing team"]}),
    # the last line
    ("last-line", {"billing": ["It could be sales.\n\nTeam: billing\n", "Sales? No.\nSo the answer is **billing**."]}),
    ("last-line", {"billing": ["```\nbilling\n```"], "unknown label": ["billing\nI hope that helps"]}),
    # psopt's own
    ("label", {"billing": ["The answer is billing."], "several labels": ["billing, sales"]}),
    # candidates, and what is struck out
    ("json:team", {"several labels": ['[{"team": "billing", "p": 0.9}, {"team": "sales", "p": 0.1}]']}),
    ("json:team", {"billing": ['[{"step": 1}, {"team": "billing"}]', '[{"team": "billing"}, {"team": "billing"}]']}),
    ("json:team", {"unknown label": ['{"team": "~~billing~~"}'], "sales": ['{"team": "~~billing~~ sales"}']}),
]


@each("spec, readings", READ)
def test_the_label_or_why_there_is_none(spec: str, readings: dict[str, list[str]]) -> None:
    reader = reader_for(spec, LABELS)
    for expected, answers in readings.items():
        if expected in LABELS:
            assert {answer: reader.read(answer) for answer in answers} == dict.fromkeys(answers, LABELS.index(expected))
        else:
            assert {answer: reader.read(answer) for answer in answers} == dict.fromkeys(answers, len(LABELS))
            assert {answer: reader.kind(answer) for answer in answers} == dict.fromkeys(answers, expected)
            assert expected in NO_LABEL_CURES


CUT: list[tuple[str, dict[bool, list[str]]]] = [
    ("label", {True: ["billing", "billing\nSince the writer", '{"label": "billing"}'], False: ["human"]}),
    ("label", {False: ["The answer is billing, since the", "The writer has a billing question and is asking"]}),
    ("label", {False: ['{"label": "billing", "why": "a']}),
    ("json:team", {True: ['{"team": "billing"} and'], False: ['{"team": "billing", "why": "a']}),
    ("xml:answer", {True: ["<answer>billing</answer> si"], False: ["<answer>billing"]}),
    (r"regex:team=(\w+)", {True: ["team=billing, as"], False: ["team=billing"]}),
    ("last-line", {False: ["It could be sales.\nbilling"]}),
]


@each("spec, readings", CUT)
def test_an_answer_that_was_cut_off_counts_where_its_form_is_closed(spec: str, readings: dict[bool, list[str]]) -> None:
    reader = reader_for(spec, LABELS)
    for is_read, answers in readings.items():
        expected = LABELS.index("billing") if is_read else len(LABELS)
        assert {answer: reader.read(answer, is_cut=True) for answer in answers} == dict.fromkeys(answers, expected)
    beginnings = reader_for("label", ("sales", "sales abroad"))  # the longer label may have been cut off
    assert [beginnings.read(answer, is_cut=True) for answer in ("sales", "sales abroad")] == [2, 1]


OWN = """
def team(answer):
    return {'1': 'billing', '2': 'nobody'}.get(answer.strip(), None)

def failing(answer):
    raise KeyError('first\\nsecond')

def number(answer):
    return 1

none = 3
"""


def test_a_function_reads_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reading_of_mine.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    reader = reader_for("reading_of_mine:team", LABELS)
    assert [reader.read(answer) for answer in ("1", THOUGHTS + "1", "2", "3", None)] == [0, 0, 4, 4, 4]
    assert [reader.kind(answer) for answer in ("2", "3")] == ["unknown label", "no match"]
    for name, message in {
        "failing": "failed on an answer: KeyError: 'first\\nsecond'",
        "number": "returned 1: a label or None is wanted",
    }.items():
        with pytest.raises(InputError) as error:
            reader_for(f"reading_of_mine:{name}", LABELS).read("1")
        assert str(error.value) == f"--answer reading_of_mine:{name} {message}"
    for spec in ("reading_of_mine:none", "reading_of_mine:nowhere"):
        with pytest.raises(InputError, match=spec):
            reader_for(spec, ())


@each(
    "spec, message",
    [
        ("json", "give json:FIELD"),
        ("regex:(", "no regular expression: missing ), unterminated subpattern"),
        ("lastline", "did you mean 'last-line'?"),
        ("no_such_module:read", "importing no_such_module failed: ModuleNotFoundError"),
        ("team", "json:FIELD, xml:TAG"),
    ],
)
def test_what_is_no_way_to_read_answers_is_said_in_one_line_and_every_form_that_is_named_is_one(
    spec: str, message: str
) -> None:
    for form in ANSWER_FORMS:
        reader_for(form.replace("MODULE:NAME", "string:capwords"), ())
    with pytest.raises(InputError) as error:
        reader_for(spec, ())
    assert message in str(error.value)
    assert "--answer" in str(error.value)
    assert "\n" not in str(error.value)


SPECS = ["label", "json:team", "json:a.team", "xml:team", r"regex:team=(\w+)", "regex:^.*$", "last-line"]
FORMS = ['{"team": "', '"}', '{"a": ', "<team>", "</team>", "<think>", "</think>", "[THINK]", "<|channel|>", "team="]
SIGNS = ["{", "}", "[", "]", "\n", "```json\n", "```", " ", "\\", "\ud800", "9" * 5000, "NaN", "null", "&amp;"]
SIGNS += ['"', "**", "\u0301", "ı", "ſ", "İ", "\x00", "-", "1"]
WORDS = ["billing", "sales", "human_being", "r&d", "Answer:", "the", "is", "not", "n't", "no", "not a"]
PIECES = st.lists(st.sampled_from([*WORDS, *FORMS, *SIGNS])).map("".join)
NOISE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}<>[]`\\"), max_size=40)


@given(st.sampled_from(SPECS), st.one_of(st.text(st.characters()), PIECES))
def test_any_answer_is_read_without_an_error(spec: str, answer: str) -> None:
    reader = reader_for(spec, LABELS)
    if reader.read(answer) == len(LABELS):
        assert reader.kind(answer) in NO_LABEL_CURES
    if spec == "label":
        assert reader.read(answer) == read_answer(answer, LABELS)


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4, unique=True), st.data(), NOISE, NOISE)
def test_a_label_in_the_form_that_was_asked_for_is_read(labels: list[str], data: st.DataObject, a: str, b: str) -> None:
    index = data.draw(st.integers(0, len(labels) - 1))
    indent = data.draw(st.sampled_from([None, 2]))
    ascii_only = data.draw(st.booleans())
    answer = json.dumps({"reason": a, "team": labels[index], "note": b}, indent=indent, ensure_ascii=ascii_only)
    assert reader_for("json:team", labels).read(f"{a}\n{answer}\n{b}") == index
    assert reader_for("json:team", labels).read(f"{a}\n```json\n{answer}\n```") == index


HUGE = ["{" * 1_000_000, '{"team":' * 120_000, '{"' * 400_000, "<team>" * 150_000, "{}" * 300_000, "x " * 500_000]
HUGE += ['{"team": "' + "{" * 1_000_000, "sales " * 10_000, "```" * 330_000, "not '" * 200_000]


@each("answer", HUGE)
def test_an_answer_of_a_megabyte_is_read_in_passing(answer: str) -> None:
    """Quadratic reading would take hours here."""
    for spec in ("json:team", "xml:team", "last-line", r"regex:<team>(\w+)"):
        assert reader_for(spec, LABELS).read(answer) == len(LABELS)
    reader = reader_for("label", list(LABELS))
    assert reader.read(f"{answer}\nAnswer: sales") == LABELS.index("sales")
