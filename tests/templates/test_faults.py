"""A prompt that can't be read is refused in one line that says where and why."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from psopt.errors import InputError
from psopt.templates import detect_format, named_fields, read_template

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

USER = {"role": "user", "content": "Sort this mail: {body}"}
IMAGE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
FAULTS = {
    "unknown field": ("p.txt", "Sort this mail: {boddy}", r"names \{boddy\}.*did you mean 'body'\?.*columns: id, body"),
    "unknown field, nothing near": ("p.txt", "Sort it: {zzz}", r"no such column; columns: id, body, text"),
    "expression": ("p.txt", "Sort it: {{ body | upper }}", r"line 1: \{\{ body \| upper \}\} is an expression"),
    "label": ("p.txt", "Sort this mail: {body} {team}", "would tell the answer"),
    "open mark": ("p.txt", "<rephrase>Sort it.\n{body}", "<rephrase> in line 1 of the text is never closed"),
    "closed mark": ("p.txt", "Sort it.\n{body}</rephrase>", "line 2 of the text closes a <rephrase> that is not open"),
    "nested marks": ("p.txt", "<rephrase>a <rephrase>b</rephrase></rephrase> {body}", "<rephrase> within another"),
    "empty mark": ("p.txt", "Sort. <rephrase> </rephrase> {body}", "no text stands between"),
    "unknown place": ("p.txt", "Sort it now. {{psopt.note}} {body}", r"no place for edits; did you mean 'notes'\?"),
    "place twice": ("p.txt", "Sort it. {{psopt.notes}} {{psopt.notes}} {body}", "stands in the prompt twice"),
    "place in a mark": (
        "p.txt",
        "<rephrase>Sort {{psopt.notes}} it</rephrase> {body}",
        "can't stand within <rephrase>",
    ),
    "no instruction": ("p.txt", "Mail: {body}\nTeam:", "no instruction found in the prompt: mark what"),
    "empty": ("p.txt", " \n", "is empty"),
    "too large": ("p.md", "Sort this mail: {body}" + " " * 1_000_000, "too large: 1,000,022 bytes"),
    "too large chat": ("p.json", json.dumps([USER, {"role": "user", "content": "x" * 1_000_000}]), "too large"),
    "NUL": ("p.txt", "Sort\nthis\0 {body}", "line 2: holds a NUL byte"),
    "no JSON": ("p.json", '[\n{"role": "user" "content": ""}]', r"no valid JSON: line 2, column 17"),
    "no YAML": ("p.yaml", "- role: user\n  content: 'a\n- b: [", r"no valid YAML: line \d+"),
    "no prompt": ("p.json", '{"a": 1}', "holds no prompt: a list of messages"),
    "number": ("p.json", "3", "holds no prompt"),
    "deep": ("p.json", "[" * 100_000, "no valid JSON"),
    "no messages": ("p.json", "[]", "holds no messages"),
    "empty messages": ("p.json", '[{"role": "user", "content": " "}]', "no message holds any text"),
    "no role": ("p.json", json.dumps([USER, {"content": "a"}]), "message 2 has no role: one of system, developer"),
    "unknown role": (
        "p.yaml",
        "- {role: usr, content: a}",
        r"message 1 has an unknown role 'usr'; did you mean 'user'\?",
    ),
    "odd role": ("p.json", '[{"role": 3, "content": "a"}]', "unknown role 3; allowed: system"),
    "no content": ("p.json", '[{"role": "user"}]', "message 1 has no content"),
    "null content": ("p.json", '[{"role": "user", "content": null}]', "content that is no text: None"),
    "image": (
        "p.json",
        json.dumps([USER, IMAGE]),
        "message 2 has content of type 'image_url': psopt can send text alone",
    ),
    "no object": ("p.json", json.dumps({"messages": [USER, "a"]}), "message 2 is no object"),
    "none": ("promptfooconfig.yaml", "prompts: []", "configures no prompt"),
    "program": ("promptfooconfig.yaml", "prompts: [file://a.py]", "a Python function as MODULE:NAME"),
    "no file": ("promptfooconfig.yaml", "prompts: file://a.txt", "a.txt can't be read: no such file"),
    "many files": ("promptfooconfig.yaml", "prompts: file://*.txt", "several files"),
    "statement": (
        "promptfooconfig.yaml",
        "prompts: 'Sort {% if a %}it{% endif %}'",
        r"line 1: \{% if a %\} is a statement, as in Jinja",
    ),
}


@each("fault", FAULTS)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, fault: str) -> None:
    name, text, message = FAULTS[fault]
    (tmp_path / name).write_bytes(text.encode())
    with pytest.raises(InputError, match=message) as raised:
        read_template(tmp_path / name, ("id", "body"), labels=("a1", "b1"), label_column="team")
    assert "\n" not in str(raised.value)
    assert str(tmp_path) in str(raised.value)


def test_a_file_that_is_not_utf8_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("Wähle".encode("latin-1"))
    with pytest.raises(InputError, match="line 1: byte 0xe4 is not UTF-8"):
        detect_format(tmp_path / "latin.txt")
    with pytest.raises(InputError, match=r"no such file; did you mean 'latin.txt'\?"):
        detect_format(str(tmp_path / "latinn.txt"))
    with pytest.raises(InputError, match="can't be read"):
        detect_format(tmp_path)


def test_an_unknown_format_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape("unknown prompt format 'opena'; did you mean 'openai'?")):
        detect_format(tmp_path / "p.txt", "opena")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:mail", "importing no_such_module failed: ModuleNotFoundError"),
        ("tests.templates.prompt_functions:nothing", "has no 'nothing'"),
        ("tests.templates.prompt_functions:lowered", "depend on the data in other ways"),
        ("tests.templates.prompt_functions:cut", "depend on the data in other ways"),
        ("tests.templates.prompt_functions:wants_more", "asks for 'customer', and the data have id, body, text"),
        ("tests.templates.prompt_functions:fails", "failed on a row: ValueError: no"),
        ("tests.templates.prompt_functions:number", "returns int"),
        ("tests.templates.prompt_functions:roleless", "message 1 has no role"),
    ],
)
def test_functions_that_make_no_template_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_template(name, ("id", "body"), labels=("a1", "b1"))


def test_formats_and_sources_must_fit(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Sort it: {body}")
    with pytest.raises(InputError, match="no Python function"):
        named_fields(str(tmp_path / "p.txt"), "python")
    with pytest.raises(InputError, match="names a Python function"):
        read_template("a:b", ("body",), labels=("a1", "b1"), prompt_format="text")
    with pytest.raises(InputError, match="holds no list of messages"):
        read_template(tmp_path / "p.txt", ("body",), labels=("a1", "b1"), prompt_format="openai")
