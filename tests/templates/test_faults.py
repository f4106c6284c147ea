"""A prompt that can't be read is refused in one line that says where and why."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from psopt.errors import InputError
from psopt.templates import detect_format, named_fields, read_template

from tests.sweeps import each
from tests.templates.asking import read_text, template_of

USER = {"role": "user", "content": "Sort this mail: {body}"}
IMAGE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
CONFIG = "promptfooconfig.yaml"
FAULTS = [
    ("p.txt", "Sort this mail: {boddy}", r"names \{boddy\}.*did you mean 'body'\?.*columns: id, body"),
    ("p.txt", "Sort this mail: {body} {team}", "would tell the answer"),
    ("p.txt", "<rephrase>Sort it.\n{body}", "<rephrase> in line 1 of the text is never closed"),
    ("p.txt", "Sort it now. {{psopt.note}} {body}", r"no place for edits; did you mean 'notes'\?"),
    ("p.txt", "{{psopt.notes}} Sort it: {body} {{psopt.notes}}", "stands in the prompt twice: edits have one place"),
    ("p.txt", "Mail: {body}\nTeam:", "no instruction found in the prompt: mark what"),
    ("p.txt", " \n", "is empty"),
    ("p.md", "Sort this mail: {body}" + " " * 1_000_000, "too large: 1,000,022 bytes"),
    ("p.txt", "Sort\nthis\0 {body}", "line 2: holds a NUL byte"),
    ("p.json", '[\n{"role": "user" "content": ""}]', r"no valid JSON: line 2, column 17"),
    ("p.yaml", "- role: user\n  content: 'a\n- b: [", r"no valid YAML: line \d+"),
    ("p.json", '{"a": 1}', "holds no prompt: a list of messages"),
    ("p.json", "[" * 100_000, "no valid JSON"),
    ("p.json", "[]", "holds no messages"),
    ("p.json", json.dumps([USER, {"content": "a"}]), "message 2 has no role: one of system, developer"),
    ("p.yaml", "- {role: usr, content: a}", r"message 1 has an unknown role 'usr'; did you mean 'user'\?"),
    ("p.json", json.dumps([USER, IMAGE]), "message 2 has content of type 'image_url': psopt can send text alone"),
    ("p.json", json.dumps({"system": "Sort.", "messages": [USER]}), "make it the first of them, of role system"),
    ("p.yaml", "- role: user\n  content: {body}", r"no text: \{'body': None\}: put it in quotes"),
    ("p.txt", f"[{json.dumps(USER)},]", "no valid JSON: column 5.*--prompt-format text sends it as it is"),
    ("p.txt", "- role: user\n  content: Sort: {body}", "no valid YAML: line 2"),
    (CONFIG, "prompts: [file://a.py]", "a Python function as MODULE:NAME"),
    (CONFIG, "prompts: file://a.txt", "a.txt can't be read: no such file"),
    (CONFIG, "prompts: 'Sort {% if a %}it{% endif %}'", r"line 1: \{% if a %\} is a statement, as in Jinja"),
]


# Prompts in other template languages.
NO_FIELD = ('"{mail}"', "$mail", "[[mail]]", "{Mail Text}")
FAULTS += [("p.txt", f"Sort it: {place}", r"names no column of the data.* columns: id, body") for place in NO_FIELD]
FOREIGN = [
    ("Sort it.\n{% if urgent %}Now.{% endif %}\n{text}", r"line 2: \{% if urgent %\} is a statement"),
    ('Sort it: "{{ row.text }}"', r"\{\{ row.text \}\} is an expression"),
    ("Sort it: {{#each rows}}{{text}}{{/each}}", r"\{\{#each rows\}\} is an expression or a block"),
    ("Sort it: {{{text}}}", r"\{\{\{text\}\}\} is an expression or a block"),
    ("Sort it: {row['text']}", "f-strings"),
    ("Sort it: {0}", "stands for a value"),
    ("Sort it: {text!r}", "f-strings"),
    ("Sort it: ${text}", "other signs"),
    ("Sort it: %(text)s", "other signs"),
    ('Answer {{"team": "a"}}\n{text}', "doubled braces"),
    ('Sort it: {text}\n```json\n{{"team": "a"}}\n```', "line 3: .* doubled braces"),
    ("<|im_start|>system\nSort it.<|im_end|>", "is a conversation already"),
    ("---\nname: sort\nmodel:\n  api: chat\n---\nsystem:\nSort it.", r"settings between ---, as \.prompty files do"),
]
FAULTS += [("p.txt", text.replace("text", "body"), message.replace("text", "body")) for text, message in FOREIGN]


@each("name, text, message", FAULTS)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        read_text(tmp_path / name, text, ("id", "body"), ("a1", "b1"), label_column="team")
    assert "\n" not in str(raised.value)
    assert str(tmp_path) in str(raised.value)


OURS = [
    "Sort it; it costs $5.\n{text}",
    "Sort it: {{ text }}\nAnswer {{psopt.notes}}",
    'Sort it into a or b; above $US 100 it is a.\nAnswer as {"label": "{label}"} or "{team}"',
    '{text}: is "{mail}", $mail or {Mail Text} in it?',
    '- role: user\n  content: "Sort it: {text}"',
]


@each("text", OURS)
def test_what_only_looks_like_another_language_is_read(tmp_path: Path, text: str) -> None:
    assert read_text(tmp_path / "p.txt", text, ("text", "team"), ("a", "b"), label_column="team").template is not None


def test_of_a_whole_request_the_schema_and_names_are_sent_and_the_rest_is_named(tmp_path: Path) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}
    messages = [
        {"role": "system", "content": "Sort the mail into teams."},
        {"role": "system", "name": "example_user", "content": "I paid twice."},
        {"role": "user", "content": "{text}", "cache_control": {"type": "ephemeral"}},
    ]
    request = {"model": "gpt-x", "messages": messages, "temperature": 0.2, "tools": [], "response_format": schema}
    found = read_text(tmp_path / "request.json", json.dumps(request), ("text", "team"), ("a", "b"), label_column="team")
    template = template_of(found)
    assert json.loads(template.response_format) == schema
    assert [message.name for message in template.messages] == ["", "example_user", ""]
    assert type(template).from_dict(template.to_dict()) == template
    (line,) = [note for note in found.notes if "not sent" in note]
    for part in (
        "model (--model names it)",
        "temperature (--extra-body",
        "tools (--extra-body",
        "cache_control of messages",
    ):
        assert part in line
    assert "response_format" not in line


FUNCTIONS = [
    ("no_such_module:mail", "importing no_such_module failed: ModuleNotFoundError"),
    ("tests.templates.prompt_functions:nothing", "has no 'nothing'"),
    ("tests.templates.prompt_functions:lowered", "depend on the data in other ways"),
    ("tests.templates.prompt_functions:shortened", "depend on the data in other ways"),
    ("tests.templates.prompt_functions:leaves", "failed on a row: SystemExit: 3"),
    ("tests.templates.prompt_functions:wants_more", "asks for 'customer', and the data have id, body, text"),
    ("tests.templates.prompt_functions:fails", "failed on a row: ValueError: no"),
]


@each("name, message", FUNCTIONS)
def test_functions_that_make_no_template_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_template(name, ("id", "body"), labels=("a1", "b1"))


def test_a_function_must_insert_the_values_of_every_row() -> None:
    name = "tests.templates.prompt_functions:urgent"
    rows = [("1", {"body": "the {id} of it"}), ("2", {"body": "the price"})]
    read_template(name, ("id", "body"), labels=("a1", "b1"), rows=rows[:1])
    with pytest.raises(InputError, match=r"for sample 2 .*the price URGENT' where .*the price'"):
        read_template(name, ("id", "body"), labels=("a1", "b1"), rows=rows)


def test_formats_and_sources_must_fit(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Sort it: {body}")
    with pytest.raises(InputError, match=re.escape("unknown prompt format 'opena'; did you mean 'openai'?")):
        detect_format(tmp_path / "p.txt", "opena")
    with pytest.raises(InputError, match="no Python function"):
        named_fields(str(tmp_path / "p.txt"), "python")
    with pytest.raises(InputError, match="names a Python function"):
        read_template("a:b", ("body",), labels=("a1", "b1"), prompt_format="text")
    with pytest.raises(InputError, match="holds no list of messages"):
        read_template(tmp_path / "p.txt", ("body",), labels=("a1", "b1"), prompt_format="openai")
