"""A prompt is read when its task is known; a run keeps it whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import InputError
from psopt.runs import RunSettings, inputs_named, load_data, read_source
from psopt.search_spaces import Prompt, render
from psopt.settings import DataOptions, PromptOptions

from tests.mails import LABELS, SHAPES, make_mails

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return make_mails(tmp_path)


@pytest.fixture
def task(folder: Path) -> Task:
    return load_data(DataOptions("mails.csv", label_column="team", inputs=("subject", "body")), 42)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_prompt_of_any_shape_is_read_for_a_task_and_survives_json(shape: str, task: Task) -> None:
    reading = read_source(shape).read_for(task)
    assert reading.notes
    assert reading.prompt.labels == LABELS
    assert reading.prompt.template is not None
    again = Prompt.from_dict(json.loads(json.dumps(reading.prompt.to_dict())))
    assert again == reading.prompt
    row = task.train[0].text
    messages = render(again, row)
    assert messages == render(reading.prompt, row)
    assert str(row.fields["body"]) in messages[-1]["content"]  # type: ignore[attr-defined]


def test_a_text_that_names_neither_fields_nor_labels_is_a_description_as_before(folder: Path, task: Task) -> None:
    (folder / "short.txt").write_text("Sort  the mail. \n")
    reading = read_source("short.txt").read_for(task)
    assert reading.prompt == Prompt("Sort the mail.", LABELS, task.noun)
    assert "description" in reading.notes[0]
    whole = read_source("short.txt", PromptOptions(format="text")).for_task(task)
    assert whole.template is not None
    assert render(whole, task.train[0].text)[0]["content"].startswith("Sort  the mail. \n")


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


def test_a_run_keeps_its_prompt_whole_and_old_settings_stay_as_they_were(folder: Path, task: Task) -> None:
    prompt = read_source("mail.json").for_task(task)
    data = DataOptions("mails.csv", label_column="team", inputs=("subject", "body"))
    settings = RunSettings(data, prompt=prompt, prompt_file="mail.json")
    written: dict[str, Any] = json.loads(json.dumps(settings.to_dict()))
    (folder / "mail.json").unlink()
    assert RunSettings.from_dict(written) == settings
    assert RunSettings.from_dict(written).baseline(task) == prompt
    assert written["inputs"] == ["subject", "body"]
    plain = RunSettings(DataOptions("mails.csv")).to_dict()
    assert written.keys() - plain.keys() == {"prompt", "prompt_file"}
    with pytest.raises(InputError, match="--strategy detail makes a prompt"):
        RunSettings(data, strategy="detail", prompt=prompt)
