"""Tests of a promptfoo configuration as rows: which answer an assertion names, where tests stand, what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psopt import load_task
from psopt.errors import DataError
from psopt.tasks._promptfoo_tests import EXPECTED, read_tests

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path


def labels_of(folder: Path, tests: str, *, skip: bool = False) -> list[str | None]:
    """The labels of a configuration with these tests; files of its folder may be named."""
    path = folder / "config.yaml"
    path.write_text(f"prompts: ['A or B? {{{{x}}}}']\n{tests}")
    found = read_tests(path)
    found.note(skip=skip)
    return [row.values[EXPECTED] for row in found.rows]


ONE = "tests:\n- {vars: {x: a}, assert: [{type: equals, value: A}]}\n- vars: {x: b}\n  assert: [%s]"
READ = {
    "a number": ("{type: equals, value: 2}", "2"),
    "contains": ("{type: contains, value: ' B '}", "B"),
    "starts-with": ("{type: starts-with, value: B}", "B"),
    "one of one": ("{type: contains-any, value: [B]}", "B"),
    "a variable": ("{type: equals, value: '{{ x }}2'}", "b2"),
    "beside a bound on time": ("{type: cost, threshold: 1}, {type: equals, value: B}", "B"),
    "twice, in other letters": ("{type: icontains, value: b}, {type: equals, value: B}", "B"),
    "compared members": ("{type: javascript, value: 'JSON.parse(output).team == \"B\"'}", "B"),
    "compared with a variable": ("{type: javascript, value: 'output.trim() === context.vars.x'}", "b"),
    "includes": ("{type: javascript, value: \"output.includes('B')\"}", "B"),
    "an enum of one": ("{type: is-json, value: {properties: {team: {enum: [B]}}}}", "B"),
    "a schema in a text": ('{type: is-json, value: \'{"properties": {"team": {"const": "B"}}}\'}', "B"),
}


@each("kind", READ)
def test_an_answer_is_read_from(kind: str, tmp_path: Path) -> None:
    assertion, label = READ[kind]
    assert labels_of(tmp_path, ONE % assertion) == ["A", label]


UNREAD = {
    "llm-rubric": "{type: llm-rubric, value: is kind}",
    "not-contains": "{type: not-contains, value: A}",
    "javascript": "{type: javascript, value: output.length < 9}",
    "contains-any": "{type: contains-any, value: [A, B]}",
    "a program": "{type: equals, value: file://expected.js}",
    "without a type": "{value: A}",
    "equals of {{x|upper}}": "{type: equals, value: '{{x|upper}}'}",
    "several answers ('B', 'C')": "{type: equals, value: B}, {type: contains, value: C}",
}


@each("kind", UNREAD)
def test_an_assertion_that_names_no_answer_is_refused_with_its_place_or_left_out(kind: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"\(test 2, line 4\); --skip-unread leaves these out") as raised:
        labels_of(tmp_path, ONE % UNREAD[kind])
    assert kind in str(raised.value)
    assert labels_of(tmp_path, ONE % UNREAD[kind], skip=True) == ["A", None]


def test_tests_stand_in_files_of_several_formats(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('x,__expected,__description\na,icontains: A,one\n"b, b",B,two\n')
    (tmp_path / "b.yaml").write_text("- {vars: {x: file://c.txt}, assert: [{type: equals, value: A}]}\n")
    (tmp_path / "c.txt").write_text("c from a file\n")
    (tmp_path / "d.jsonl").write_text('{"vars": {"x": "d"}, "assert": [{"type": "equals", "value": "B"}]}\n')
    assert labels_of(tmp_path, "tests: [file://a.csv, 'file://b*.yaml', {path: file://d.jsonl}]") == [
        "A",
        "B",
        "A",
        "B",
    ]
    assert labels_of(tmp_path, "tests: file://a.csv") == ["A", "B"]


def test_the_default_test_templates_and_lists_of_variables_are_filled_in(tmp_path: Path) -> None:
    tests = """
assertionTemplates: {team: {type: equals, value: '{{team}}'}}
defaultTest: {vars: {team: A}, assert: [{$ref: '#/assertionTemplates/team'}]}
tests:
- vars: {x: [a, b]}
- vars: {x: c, team: B}
"""
    assert labels_of(tmp_path, tests) == ["A", "A", "B"]


FAULTS = {
    "no tests": ("", "holds no tests; add tests:"),
    "scenarios": ("scenarios: []", "holds no tests, and scenarios are not read"),
    "no test": ("tests: [1]", "test 1, line 2: is 1 and no test"),
    "no file": ("tests: file://tests.csv", "tests, line 2: .*tests.csv can't be read: no such file"),
    "a program": ("tests: file://tests.py:make", "tests.py:make is a program: write what it makes to a CSV file"),
    "elsewhere": ("tests: ['https://docs.google.com/x']", "is read from elsewhere: save it here"),
    "no label": ("tests: [{vars: {x: a}, assert: [{type: equals, value: A}]}, {vars: {x: b}}]", "test 2.* is empty"),
    "no list": ("tests: [{vars: {x: a}, assert: {type: equals}}]", "assert must be a list"),
    "vars elsewhere": ("tests: [{vars: file://v.yaml}]", "vars must be names with values"),
    "too many": (f"tests: [{{vars: {{x: {['a'] * 400}, y: {['a'] * 400}}}}}]", "make over 100,000 tests"),
    "itself": ("tests: &a [*a]", "nested too deeply"),
    "deep": (f"tests: {'[' * 2000}", "nested too deeply"),
}


@each("fault", FAULTS)
def test_what_is_wrong_with_tests_is_said_in_one_line(fault: str, tmp_path: Path) -> None:
    tests, message = FAULTS[fault]
    (tmp_path / "config.yaml").write_text(f"prompts: ['A or B? {{{{x}}}}']\n{tests}")
    with pytest.raises(DataError, match=message) as raised:
        load_task(tmp_path / "config.yaml", inputs="x")
    assert "\n" not in str(raised.value)
