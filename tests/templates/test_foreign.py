"""Prompts in other template languages are refused by name; whole requests are sent, or what is not is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psopt.errors import InputError
from psopt.templates import read_template

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.templates import ReadTemplate

FOREIGN = {
    "Sort it.\n{% if urgent %}Now.{% endif %}\n{text}": r"line 2: \{% if urgent %\} is a statement",
    "Sort it: {# later #} {text}": "is a statement",
    "Sort it: {{- text -}}": "expression or a block",
    'Sort it: "{{ row.text }}"': r"\{\{ row.text \}\} is an expression",
    "Sort it: {{ text | upper }}": "is an expression",
    "Sort it: {{ texts[0] }}": "is an expression",
    "Sort it: {{#each rows}}{{text}}{{/each}}": r"\{\{#each rows\}\} is an expression or a block",
    "Sort it: {{{text}}}": r"\{\{\{text\}\}\} is an expression or a block",
    "Sort it: {{ text ~ '!' }}": "is an expression",
    "Sort it: {{$text}}": "expression or a block",
    "Sort it: {text}, {{ 1 + 1 }}": "is an expression",
    "Sort it: {text.strip()}": "f-strings",
    "Sort it: {row['text']}": "f-strings",
    "Sort it: <%= text %>": "is a statement",
    "Sort it: [[text]]": "other signs",
    "Sort it: { text }": "other signs",
    "Sort it: ${row.text}": "other signs",
    "Sort it: {0}": "stands for a value",
    "<|header_start|>user<|header_end|>\n{text}": "is a conversation already",
    "Sort it: {text!r}": "f-strings",
    "Sort it: {text:.500}": "f-strings",
    "Sort it: ${text}": "other signs",
    "Sort it: $text": "other signs",
    "Sort it: %(text)s": "other signs",
    "Sort it: %s": "stands for a value",
    "Sort it: {}": "stands for a value",
    'Answer {{"team": "a"}}\n{text}': "doubled braces",
    'Sort it: {text}\n```json\n{{"team": "a"}}\n```': "line 3: .* doubled braces",
    "<|im_start|>system\nSort it.<|im_end|>": "is a conversation already",
    "[INST] Sort it: {text} [/INST]": "is a conversation already",
    "<|start_header_id|>user<|end_header_id|>\n{text}": "is a conversation already",
    "---\nname: sort\nmodel:\n  api: chat\n---\nsystem:\nSort it.": r"settings between ---, as \.prompty files do",
}
OURS = [
    "Sort it; it costs $5.\n{text}",
    "Sort it: {{ text }}\nAnswer {{psopt.notes}}",
    "Sort it by {kind: of} thing: {text}",
    "Sort it, 100%s sure: {text}",
    "Sort what `{% if %}` stands in.\n```\n{{ user.name }}\n```\n{text}",
]


def read(prompt: Path) -> ReadTemplate:
    return read_template(prompt, ("text", "team"), labels=("a", "b"), label_column="team")


@pytest.mark.parametrize("text", FOREIGN)
def test_another_template_language_is_refused_with_the_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text(text)
    with pytest.raises(InputError, match=FOREIGN[text]) as error:
        read(tmp_path / "prompt.txt")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", OURS[:-1])
def test_what_only_looks_like_one_is_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text(text)
    assert read(tmp_path / "prompt.txt").template is not None


def test_of_a_whole_request_the_schema_and_names_are_sent_and_the_rest_is_named(tmp_path: Path) -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}
    messages = [
        {"role": "system", "content": "Sort the mail into teams."},
        {"role": "system", "name": "example_user", "content": "I paid twice."},
        {"role": "user", "content": "{text}", "cache_control": {"type": "ephemeral"}},
    ]
    request = {"model": "gpt-x", "messages": messages, "temperature": 0.2, "tools": [], "response_format": schema}
    (tmp_path / "request.json").write_text(json.dumps(request))
    found = read(tmp_path / "request.json")
    assert found.template is not None
    assert json.loads(found.template.response_format) == schema
    assert [message.name for message in found.template.messages] == ["", "example_user", ""]
    assert type(found.template).from_dict(found.template.to_dict()) == found.template
    (line,) = [note for note in found.notes if "not sent" in note]
    for part in (
        "model (--model names it)",
        "temperature (--extra-body",
        "tools (--extra-body",
        "cache_control of messages",
    ):
        assert part in line
    assert "response_format" not in line
