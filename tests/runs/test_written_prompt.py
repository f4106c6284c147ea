"""A prompt of the user's own comes back as the file that it was, with additions and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psopt.errors import InputError
from psopt.runs import asks_the_same, difference, read_back, write_prompt
from psopt.search_spaces import Definition, Example, Prompt
from psopt.tasks import Row
from psopt.templates import read_template

if TYPE_CHECKING:
    from collections.abc import Sequence

PROMPTS = Path(__file__).resolve().parents[2] / "examples" / "own_prompt"
LABELS = ("billing", "technical", "sales", "accounts")
COLUMNS = ("id", "subject", "body", "reason")
ROW = Row.of({"id": "m", "subject": "An {body}", "body": 'It says "{subject}".', "reason": "-"}, ("subject", "body"))
FILES = ("plain.txt", "sections.md", "tagged.json", "turns.yaml", "reasoned.json")


def read(file: str | Path) -> Prompt:
    template = read_template(PROMPTS / file, COLUMNS, labels=LABELS)
    return Prompt(template.description, LABELS, "mail", template=template.template)


def edited(prompt: Prompt) -> Prompt:
    example = Example("Wrong total", "billing", fields=(("subject", "Total"), ("body", "Wrong total"), ("id", "m1")))
    notes = ("Refunds go to billing.", "Log-in trouble goes to accounts.")
    return replace(prompt, definitions=(Definition("sales", "offers"),), notes=notes, examples=(example,))


def changed_lines(diff: str, sign: str) -> Sequence[str]:
    return [line[1:] for line in diff.splitlines()[2:] if line.startswith(sign)]


@pytest.mark.parametrize("file", FILES)
def test_without_additions_it_is_the_file_to_the_byte(file: str) -> None:
    written = write_prompt(read(file))
    assert written.text.encode() == (PROMPTS / file).read_bytes()
    assert written.suffix == Path(file).suffix


@pytest.mark.parametrize("file", FILES)
def test_its_diff_is_additions_alone(file: str) -> None:
    prompt = read(file)
    diff = difference(prompt, edited(prompt), "own", file)
    assert diff.startswith(f"--- {file}\n+++ {edited(prompt).id}")
    assert changed_lines(diff, "-") == []
    added = "\n".join(changed_lines(diff, "+"))
    for text in ("Refunds go to billing.", "Log-in trouble goes to accounts.", "offers", "Wrong total"):
        assert text in added
    assert difference(prompt, prompt, "own", file) == ""


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("form", ["own", "openai", "json"])
def test_whoever_reads_the_written_text_asks_the_same(file: str, form: str) -> None:
    prompt = edited(read(file))
    again = read_back(prompt, write_prompt(prompt, form), COLUMNS)
    assert asks_the_same(prompt, again, [ROW])
    assert not asks_the_same(read(file), again, [ROW])


def test_a_prompt_from_a_function_comes_back_as_messages_and_that_is_said() -> None:
    prompt = read("turns.yaml")
    assert prompt.template is not None
    origin = replace(prompt.template.origin, format="python", suffix=".py", details={})
    written = write_prompt(edited(replace(prompt, template=replace(prompt.template, origin=origin))))
    assert [message["role"] for message in json.loads(written.text)][-1] == "user"
    assert written.suffix == ".json"
    assert "Python function" in written.note


def test_psopts_own_form_is_text_and_its_messages_are_read_back() -> None:
    prompt = Prompt("Sort the mail.", LABELS, "mail", notes=("Refunds go to billing.",))
    written = write_prompt(prompt)
    assert written.text.startswith("Sort the mail.\nAnswer with exactly one")
    for form in ("own", "openai", "json"):
        assert asks_the_same(prompt, read_back(prompt, write_prompt(prompt, form), ["text"]), ["A {text}, twice"])


def test_an_unknown_form_is_named_with_those_there_are() -> None:
    with pytest.raises(InputError, match="known: json, openai, own, promptfoo, text"):
        write_prompt(read("plain.txt"), "xml")
