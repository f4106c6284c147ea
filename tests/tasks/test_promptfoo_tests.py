"""Tests of a promptfoo configuration as rows: which answer an assertion names, where tests stand, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from psopt import load_task
from psopt.errors import DataError
from psopt.tasks._promptfoo import EXPECTED, read_tests

from tests.sweeps import each


def labels_of(folder: Path, tests: str, *, skip: bool = False) -> list[str | None]:
    """The labels of a configuration with these tests; files of its folder may be named."""
    path = folder / "config.yaml"
    path.write_text(f"prompts: ['A or B? {{{{x}}}}']\n{tests}")
    found = read_tests(path)
    found.note(skip=skip)
    return [row.values[EXPECTED] for row in found.rows]


ONE = "tests:\n- {vars: {x: a}, assert: [{type: equals, value: A}]}\n- vars: {x: b}\n  assert: [%s]"
READ = [
    ("{type: equals, value: 2}", "2"),
    ("{type: contains, value: ' B '}", "B"),
    ("{type: contains-any, value: [B]}", "B"),
    ("{type: equals, value: '{{ x }}2'}", "b2"),
    ("{type: cost, threshold: 1}, {type: equals, value: B}", "B"),
    ("{type: javascript, value: 'JSON.parse(output).team == \"B\"'}", "B"),
    ("{type: javascript, value: \"output.includes('B')\"}", "B"),
    ("{type: is-json, value: {properties: {team: {enum: [B]}}}}", "B"),
]


@each("assertion, label", READ)
def test_an_answer_is_read_from(assertion: str, label: str, tmp_path: Path) -> None:
    assert labels_of(tmp_path, ONE % assertion) == ["A", label]


UNREAD = {
    "llm-rubric": "{type: llm-rubric, value: is kind}",
    "javascript": "{type: javascript, value: output.length < 9}",
    "contains-any": "{type: contains-any, value: [A, B]}",
    "a program": "{type: equals, value: file://expected.js}",
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
    several = "tests: [file://a.csv, 'file://b*.yaml', {path: file://d.jsonl}]"
    assert labels_of(tmp_path, several) == ["A", "B", "A", "B"]
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


FAULTS = [
    ("", "holds no tests .*; add tests:"),
    ("tests: [1]", "test 1, line 2: is 1 and no test"),
    ("tests: file://tests.csv", "test 1, line 2: .*tests.csv can't be read: no such file"),
    ("tests: file://tests.py:make", "tests.py:make is a program: write what it makes to a CSV file"),
    ("tests: ['https://docs.google.com/x']", "is read from elsewhere: save it here"),
    ("tests: [{vars: {x: a}, assert: [{type: equals, value: A}]}, {vars: {x: b}}]", "test 2.* is empty"),
    ("tests: [{text: a, label: b}]", "neither vars nor assert, but text, label; .* put the rows into a .jsonl file"),
    (f"tests: [{{vars: {{x: {['a'] * 400}, y: {['a'] * 400}}}}}]", "make over 100,000 tests"),
    (f"tests: {'[' * 2000}", "nested too deeply"),
]


def test_json_lines_are_recognised_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "lines.json").write_text('{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n')
    with pytest.raises(DataError, match=r"lines\.json: looks like JSON lines: rename it"):
        load_task(tmp_path / "lines.json")


@each("tests, message", FAULTS)
def test_what_is_wrong_with_tests_is_said_in_one_line(tests: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(f"prompts: ['A or B? {{{{x}}}}']\n{tests}")
    with pytest.raises(DataError, match=message) as raised:
        load_task(tmp_path / "config.yaml", inputs="x")
    assert "\n" not in str(raised.value)
