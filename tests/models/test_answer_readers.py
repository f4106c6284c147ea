"""Where in an answer does the label stand, and why is there none?"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psopt.answers import ANSWER_FORMS, NO_LABEL_CURES, read_answer, reader_for
from psopt.errors import InputError

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("billing", "sales", "human being", "R&D")
THOUGHTS = '<think>Is it sales? I\'d answer {"team": "sales"}.</think>\n'

READ = [
    # a member of JSON: bare, fenced, behind prose, the last of several
    ("json:team", '{"team": "billing"}', "billing"),
    ("json:team", '{"reason": "It names a {bill}.", "team": "Billing."}', "billing"),
    ("json:team", '```json\n{\n  "team": "human_being"\n}\n```', "human being"),
    ("json:team", 'It is about sales, so:\n{"team": "billing"}\nHope that helps {you}!', "billing"),
    ("json:team", '{"team": "sales"}\nNo, wait.\n{"team": "billing"}', "billing"),
    ("json:team", '{"team": "billing"} {"confidence": 0.9}', "billing"),
    ("json:team", '{"team": "billing"} {"team": "sal', "billing"),
    ("json:team", '[{"team": "billing"}]', "billing"),
    ("json:team", '{"team": ["billing"]}', "billing"),
    ("json:team", '{"Team": "billing"}', "billing"),
    ("json:team", '{"reason": "two\nlines", "team": "billing"}', "billing"),
    ("json:result.team", '{"result": {"team": "billing", "why": "a bill"}}', "billing"),
    ("json:result.team", '{"result.team": "billing"}', "billing"),
    ("json:teams.1", '{"teams": ["sales", "billing"]}', "billing"),
    ("json:team", THOUGHTS + '{"team": "billing"}', "billing"),
    ("json:team", '{"reason": "it says <think>", "team": "billing"}', "billing"),
    ("json:team", '[THINK]{"team": "sales"}[/THINK]{"team": "billing"}', "billing"),
    (
        "json:team",
        '<|channel|>analysis<|message|>{"team": "sales"}<|end|><|channel|>final<|message|>{"team": "R&D"}',
        "R&D",
    ),
    # the assistant's turn that the prompt ends with began the object
    ("json:team", '"team": "billing", "reason": "a bill"}', "billing"),
    ("json:team", 'billing", "reason": "a bill"}', "billing"),
    ("json:team", "billing", "no JSON"),
    ("json:team", '{"reason": "a bill"}', "no field"),
    ("json:team", '{"result": {"team": "billing"}}', "no field"),
    ("json:team", '{"result": {"team": "billing"}, "reason": "it is cut', "no JSON"),
    ("json:team", '{"team": "billing or sales"}', "several labels"),
    ("json:team", '{"team": ["billing", "sales"]}', "several labels"),
    ("json:team", '{"team": "support"}', "unknown label"),
    ("json:team", '{"team": "the billing team"}', "unknown label"),
    ("json:team", '{"team": 7}', "unknown label"),
    ("json:team", '{"team": null}', "empty"),
    ("json:team", '{"team": {"name": "billing"}}', "unknown label"),
    ("json:team", '{"team": ' + "[" * 900 + "]" * 900 + "}", "empty"),
    ("json:team", "{'team': 'billing'}", "no JSON"),
    ("json:team", "I'm sorry, but I can't help with that.", "refused"),
    ("xml:answer", "I cannot assist with this request.", "refused"),
    ("json:team", "The customer can't log in, so billing.", "no JSON"),
    ("json:team", '<think>{"team": "billing"} but', "cut off"),
    ("json:team", " ", "empty"),
    # tags
    ("xml:answer", "<answer>billing</answer>", "billing"),
    ("xml:answer", "<reason>sales?</reason>\n<answer>\n  Billing\n</answer>", "billing"),
    ("xml:answer", "<answer>sales</answer> no: <answer>billing</answer>", "billing"),
    ("xml:answer", '<Answer lang="en">R&amp;D</Answer>', "R&D"),
    ("xml:answer", "<answer>billing", "billing"),
    ("xml:answer", "billing</answer>", "billing"),
    ("xml:answer", "<think><answer>sales</answer></think><answer>billing</answer>", "billing"),
    ("xml:answer", "<answers>billing</answers>", "no tag"),
    ("xml:answer", "<answer></answer>", "empty"),
    ("xml:answer", "<answer>billing, sales</answer>", "several labels"),
    # patterns
    (r"regex:team=(\w+)", "team=sales, then team=billing", "billing"),
    (r"regex:(?i)TEAM: *(\w+)", "Team:  billing.", "billing"),
    (r"regex:billing|sales", "sales .. billing", "billing"),
    (r"regex:(?:team (\w+)|(\w+) team)", "the billing team", "billing"),
    (r"regex:team=(\w+)?", "team=billing team=", "billing"),
    (r"regex:team=(\w+)", THOUGHTS + "team=billing", "billing"),
    (r"regex:team=(\w+)", "billing", "no match"),
    (r"regex:team=(\w+)", "team=both", "unknown label"),
    # the last line
    ("last-line", "It could be sales.\n\nTeam: billing\n", "billing"),
    ("last-line", "Sales? No.\nSo the answer is **billing**.", "billing"),
    ("last-line", "```\nbilling\n```", "billing"),
    ("last-line", "billing\nI hope that helps", "unknown label"),
    ("last-line", "x\nbilling or sales", "several labels"),
    # psopt's own
    ("label", "The answer is billing.", "billing"),
    ("label", "billing, sales", "several labels"),
    ("label", "neither", "unknown label"),
    ("label", "The writer mentions billing.", "mention"),
    ("json:team", '{"team": "human\\_being"}', "human being"),
]


@each("spec, answer, expected", READ)
def test_the_label_or_why_there_is_none(spec: str, answer: str, expected: str) -> None:
    reader = reader_for(spec, LABELS)
    if expected in LABELS:
        assert reader.read(answer) == LABELS.index(expected)
    else:
        assert reader.read(answer) == len(LABELS)
        assert reader.kind(answer) == expected
        assert expected in NO_LABEL_CURES


CUT = [
    ("label", "billing", True),
    ("label", "human", False),
    ("label", "billing\nSince the writer", True),
    ("label", "The answer is billing, since the", False),
    ("label", "The writer has a billing question and is asking", False),
    ("label", '{"label": "billing"}', True),
    ("label", '{"label": "billing", "why": "a', False),
    ("json:team", '{"team": "billing"} and', True),
    ("json:team", '{"team": "billing", "why": "a', False),
    ("xml:answer", "<answer>billing</answer> si", True),
    ("xml:answer", "<answer>billing", False),
    (r"regex:team=(\w+)", "team=billing, as", True),
    (r"regex:team=(\w+)", "team=billing", False),
    ("last-line", "It could be sales.\nbilling", False),
]


@pytest.mark.parametrize(("spec", "answer", "is_read"), CUT)
def test_an_answer_that_was_cut_off_counts_where_its_form_is_closed(spec: str, answer: str, is_read: bool) -> None:
    reader = reader_for(spec, LABELS)
    assert reader.read(answer, is_cut=True) == (LABELS.index("billing") if is_read else len(LABELS))


def test_a_label_that_another_begins_with_may_have_been_cut_off() -> None:
    reader = reader_for("label", ("sales", "sales abroad"))
    assert [reader.read(answer, is_cut=True) for answer in ("sales", "sales abroad")] == [2, 1]


def test_a_function_reads_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def team(answer):\n    return {'1': 'billing', '2': 'nobody'}.get(answer.strip(), None)\n"
    code += "def failing(answer):\n    raise KeyError('first\\nsecond')\ndef number(answer):\n    return 1\nnone = 3\n"
    (tmp_path / "reading_of_mine.py").write_text(code)
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


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("json", "give json:FIELD"),
        ("xml:", "give xml:TAG"),
        ("xml:<answer>", "without brackets"),
        ("regex:(", "no regular expression: missing ), unterminated subpattern"),
        ("lastline", "did you mean 'last-line'?"),
        ("no_such_module:read", "importing no_such_module failed: ModuleNotFoundError"),
        ("team", "json:FIELD, xml:TAG"),
        ("", "is none of label"),
    ],
)
def test_what_is_no_way_to_read_answers_is_said_in_one_line(spec: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        reader_for(spec, ())
    assert message in str(error.value)
    assert "--answer" in str(error.value)
    assert "\n" not in str(error.value)


def test_every_form_that_is_named_makes_a_reader() -> None:
    assert reader_for("json:team", list(LABELS)) == reader_for("json:team", LABELS)
    for form in ANSWER_FORMS:
        reader_for(form.replace("MODULE:NAME", "string:capwords"), ())


SPECS = st.sampled_from(
    ["label", "json:team", "json:a.team", "xml:team", r"regex:team=(\w+)", "regex:^.*$", "last-line"]
)
PIECES = [
    '{"team": "',
    "billing",
    "sales",
    '"}',
    "{",
    "}",
    '{"a": ',
    "[",
    "]",
    "<team>",
    "</team>",
    "<think>",
    "</think>",
]
PIECES += [
    "team=",
    "\n",
    "```json\n",
    "```",
    " ",
    "\\",
    "\ud800",
    "9" * 5000,
    "NaN",
    "null",
    "[THINK]",
    "&amp;",
    "<|channel|>",
]
NOISE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}<>[]`\\"), max_size=40)


@given(SPECS, st.one_of(st.text(st.characters()), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_any_answer_is_read_without_an_error(spec: str, answer: str) -> None:
    reader = reader_for(spec, LABELS)
    if reader.read(answer) == len(LABELS):
        assert reader.kind(answer) in NO_LABEL_CURES
    if spec == "label":
        assert reader.read(answer) == read_answer(answer, LABELS)


def test_a_json_answer_may_speak_of_reasoning() -> None:
    reader = reader_for("json:team", ["<think>", "sales"])
    assert reader.read('Here it is:\n{"team": "<think>"}') == 0
    assert reader.read('{"a": 1} <think>not {"team": "<think>"}</think> {"team": "sales"}') == 1
    assert reader.read('<think>{"team": "sales"}') == 2


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4, unique=True), st.data(), NOISE, NOISE)
def test_a_label_in_the_form_that_was_asked_for_is_read(labels: list[str], data: st.DataObject, a: str, b: str) -> None:
    index = data.draw(st.integers(0, len(labels) - 1))
    indent = data.draw(st.sampled_from([None, 2]))
    ascii_only = data.draw(st.booleans())
    answer = json.dumps({"reason": a, "team": labels[index], "note": b}, indent=indent, ensure_ascii=ascii_only)
    assert reader_for("json:team", labels).read(f"{a}\n{answer}\n{b}") == index
    assert reader_for("json:team", labels).read(f"{a}\n```json\n{answer}\n```") == index


@given(st.sampled_from(LABELS), NOISE, st.booleans())
def test_a_label_in_tags_lines_and_patterns_is_read(label: str, noise: str, thinks: bool) -> None:
    before = f"<think>{noise}</think>" if thinks else noise
    index = LABELS.index(label)
    assert reader_for("xml:team", LABELS).read(f"{before}<team>{label}</team>{noise}") == index
    assert reader_for("last-line", LABELS).read(f"{before}\n{label}\n") == index
    assert reader_for(r"regex:answer=\[(.*)\]", LABELS).read(f"{before}\nanswer=[{label}]\n{noise}") == index


@pytest.mark.parametrize(
    "answer",
    [
        "{" * 1_000_000,
        '{"team":' * 120_000,
        '{"' * 400_000,
        '{"team": "' + "{" * 1_000_000,
        "<team>" * 150_000,
        "{}" * 300_000,
    ],
    ids=lambda answer: answer[:9],
)
def test_an_answer_of_a_megabyte_is_read_in_passing(answer: str) -> None:
    """Quadratic reading would take hours here."""
    for spec in ("json:team", "xml:team", "last-line", r"regex:<team>(\w+)"):
        assert reader_for(spec, LABELS).read(answer) == len(LABELS)
