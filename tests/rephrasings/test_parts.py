"""A template's description of several parts: each is rephrased on its own, and what is protected stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psopt.api import estimate_rephrasing
from psopt.errors import InputError
from psopt.rephrasings import (
    RephrasingOptions,
    RephrasingSet,
    freeze_rephrasings,
    read_file,
    rephrase_by_rules,
    to_file,
)
from psopt.search_spaces import Prompt
from psopt.templates import Message, Part, Template, split_description

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

FIRST = 'You work for "the shop". Classify the question\n  by the kind of answer.\n- Number: a count\n- Person: a name'
SECOND = 'Decide which class the text is in. Answer as JSON: {"label": ".."}'
TEMPLATE = Template((Message("system", (Part(0),)), Message("user", (Part(1), "\n\n{body}"))))


@pytest.fixture
def prompt(task: Task) -> Prompt:
    return Prompt(f"{FIRST}\n\n{SECOND}", task.labels, template=TEMPLATE)


def frozen(task: Task, prompt: Prompt, n: int = 8) -> RephrasingSet:
    return freeze_rephrasings(task, prompt, n, n, 42, RephrasingOptions())


def test_every_rephrasing_has_as_many_parts_and_keeps_what_is_protected(task: Task, prompt: Prompt) -> None:
    found = frozen(task, prompt)
    assert found.search[0] == found.original == prompt.description
    texts = [*found.search[1:], *found.heldout]
    assert len(set(texts)) == 15
    for text in texts:
        first, second = split_description(text)
        assert '"the shop"' in first
        assert first.endswith("\n- Number: a count\n- Person: a name")
        assert second.endswith(' Answer as JSON: {"label": ".."}')
        assert len(first.splitlines()) == 4
        assert second != SECOND


def test_the_bytes_of_a_template_go_through_a_file_by_hand(task: Task, prompt: Prompt, tmp_path: Path) -> None:
    found = frozen(task, prompt)
    file = tmp_path / "r.json"
    file.write_text(json.dumps(to_file(found)))
    assert read_file(file) == found
    data = {"search": list(found.search), "heldout": list(found.heldout)}
    file.write_text(json.dumps(data))
    by_hand = freeze_rephrasings(task, prompt, 8, 8, 42, RephrasingOptions(file=file))
    assert by_hand.sha256 == found.sha256


def test_a_template_whose_only_part_is_a_sentence_is_rephrased_as_a_description_is(task: Task) -> None:
    template = Template((Message("user", (Part(0), "\n{text}")),))
    # Without what is said by the labels: whether a template shows them, nobody knows.
    own = rephrase_by_rules(task.description, task.noun, 6, 6, 42, protect=task.labels)
    found = frozen(task, Prompt(task.description, task.labels, template=template), 6)
    assert (found.search, found.heldout) == (own.search, own.heldout)


def test_another_number_of_parts_is_refused(task: Task, prompt: Prompt, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps({"search": [prompt.description, "Sort it. Answer as JSON."], "heldout": []}))
    with pytest.raises(InputError, match="must have 2 parts with an empty line between, and 'Sort it"):
        freeze_rephrasings(task, prompt, 1, 0, 42, RephrasingOptions(file=file))


def test_a_field_that_a_rephrasing_lost_is_named_in_one_line(task: Task, tmp_path: Path) -> None:
    template = Template((Message("user", (Part(0), "\n{text}")),))
    prompt = Prompt("Sort {{ body }} by {topic}.", task.labels, template=template)
    file = tmp_path / "r.json"
    for wrong, message in (
        ("Classify {{ body }} by its topic.", "has lost the field {topic}"),
        ("Classify {{ body }} by {topic} and {id}.", "has added the field {id}"),
    ):
        file.write_text(json.dumps({"search": [prompt.description, wrong], "heldout": ["Put {{ body }} by {topic}."]}))
        with pytest.raises(InputError) as refused:
            freeze_rephrasings(task, prompt, 2, 1, 42, RephrasingOptions(file=file))
        assert message in str(refused.value)
        assert len(str(refused.value).splitlines()) == 1


def test_what_holds_no_instructions_says_how_to_mark_some(task: Task) -> None:
    template = Template((Message("user", (Part(0), "\n{text}")),))
    for prompt in (
        Prompt("Answer as JSON only.", task.labels, template=template),
        Prompt("x", task.labels, template=Template((Message("user", ("{text}",)),))),
    ):
        with pytest.raises(InputError, match="mark instructions with <rephrase>"):
            frozen(task, prompt)


@pytest.mark.parametrize("family", ["format", "label-order"])
def test_families_of_psopts_own_form_are_refused(task: Task, prompt: Prompt, family: str) -> None:
    options = RephrasingOptions(families=("paraphrase", family))
    with pytest.raises(InputError, match=rf"--vary {family} .* keeps its layout: choose of paraphrase"):
        freeze_rephrasings(task, prompt, 4, 4, 42, options)


def test_a_file_of_such_a_family_is_refused(task: Task, prompt: Prompt, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    other = {"text": prompt.description, "family": "format", "form": {"casing": "upper"}}
    file.write_text(json.dumps({"search": [prompt.description, other], "heldout": []}))
    with pytest.raises(InputError, match=r"r\.json: format changes psopt's own form"):
        freeze_rephrasings(task, prompt, 1, 0, 42, RephrasingOptions(file=file))


def test_other_families_keep_the_parts(task: Task, prompt: Prompt) -> None:
    options = RephrasingOptions(families=("paraphrase", "wording", "example-order"))
    found = freeze_rephrasings(task, prompt, 7, 6, 42, options)
    assert {form.family for form in found.search_forms} == {"paraphrase", "wording", "example-order"}
    assert all(len(split_description(text)) == 2 for text in (*found.search, *found.heldout))


def test_an_estimate_counts_each_passage(task: Task, prompt: Prompt) -> None:
    options = RephrasingOptions("openai/writer")
    whole = estimate_rephrasing(task, prompt, options, 5)
    own = estimate_rephrasing(task, task.description, options, 5)
    assert (whole.calls, own.calls) == (8, 4)


def test_where_nothing_instructs_the_longest_passage_alone_is_framed(task: Task) -> None:
    template = Template((Message("user", ("- ", Part(0), "\n- ", Part(1), "\n{text}")),))
    prompt = Prompt("urgent matters\n\nwhatever the writer of it wants", task.labels, template=template)
    found = frozen(task, prompt)
    assert {split_description(text)[0] for text in (*found.search, *found.heldout)} == {"urgent matters"}
