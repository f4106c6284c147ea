"""A prompt of the user's own is read for its task."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import InputError
from psopt.runs import inputs_named, load_data, read_source, write_prompt
from psopt.search_spaces import Example, Prompt, render
from psopt.settings import DataOptions, PromptOptions
from psopt.tasks import Task, columns_of_row

from tests.mails import enter_mails


def test_what_is_no_prompt_and_an_unknown_form_are_told() -> None:
    with pytest.raises(
        InputError,
        match=r"not object; a function that .* MODULE:NAME; of a run, give its folder, or run\.recommended\.prompt",
    ):
        read_source(object())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="known: json, openai, own, promptfoo, text"):
        write_prompt(Prompt("Sort it.", ("a", "b")), "xml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enter_mails(tmp_path, monkeypatch)


@pytest.fixture
def task(folder: Path) -> Task:
    return load_data(DataOptions("mails.csv", label_column="team", inputs=("subject", "body")), 42)


def test_a_prompt_from_a_function_comes_back_as_messages_and_that_is_said(task: Task) -> None:
    written = write_prompt(read_source("mail_prompt:prompt").for_task(task))
    assert [message["role"] for message in json.loads(written.text)] == ["user"]
    assert written.suffix == ".json"
    assert "Python function" in written.note


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ({"text_column": "clean"}, "c2"),
        ({"inputs": ("title", "text")}, "title: t2\ntext: x2"),
        ({"inputs": ("title", "clean")}, "title: t2\nclean: c2"),
        ({}, "x2"),
    ],
)
def test_a_prompt_without_a_field_shows_the_chosen_columns_whatever_is_called_text(
    folder: Path, columns: dict[str, Any], shown: str
) -> None:
    rows = [f"x{i},c{i},t{i},{'ab'[i % 2]}" for i in range(12)]
    (folder / "columns.csv").write_text("\n".join(["text,clean,title,team", *rows]))
    task = load_data(DataOptions("columns.csv", label_column="team", **columns), 42)
    (folder / "bare.txt").write_text("Sort it: a or b.")
    prompt = read_source("bare.txt").for_task(task)
    sample = next(sample for sample in task.samples if "2" in sample.text)
    example = Example(str(sample.text), "a", fields=columns_of_row(sample.text))
    (message,) = render(replace(prompt, examples=(example,)), sample.text)
    assert message["content"] == f"Sort it: a or b.\n\nExamples:\n\n{shown}\nAnswer: a\n\n{shown}"


def test_options_say_how_answers_are_read(folder: Path, task: Task) -> None:
    schema = {"type": "object", "properties": {"team": {"type": "string"}}}
    (folder / "schema.json").write_text(json.dumps(schema))
    options = PromptOptions(answer="json:team", response_format="schema.json")
    prompt = read_source("mail.txt", options).for_task(task)
    assert prompt.template is not None
    assert prompt.answer == "json:team"
    assert json.loads(prompt.template.response_format)["json_schema"]["schema"] == schema
    (folder / "kept.json").write_text(json.dumps(prompt.to_dict()))
    assert read_source("kept.json").for_task(task) == prompt
    assert read_source("kept.json", PromptOptions(answer="last-line")).for_task(task).answer == "last-line"


def test_inputs_are_the_columns_that_prompts_name(folder: Path) -> None:
    assert inputs_named([read_source("mail.txt")], "mails.csv") == ("subject", "body")
    assert inputs_named([read_source("mail_prompt:prompt"), read_source("bare.md")], "mails.csv") == ("subject", "body")
    assert inputs_named([read_source("bare.md")], "mails.csv") == ()
    (folder / "tagged.txt").write_text("Sort it.\n<mail id={id}>{body}</mail>")
    assert inputs_named([read_source("tagged.txt")], "mails.csv") == ("body",)  # an id says nothing of its row
    (folder / "text.txt").write_text("Billing or sales?\n{text}\n{subject}")
    assert inputs_named([read_source("text.txt")], "mails.csv") == ()
