"""A template's description of several parts: each is rephrased on its own, and what is protected stays."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.rephrasings import (
    RephrasingOptions,
    RephrasingSet,
    freeze_rephrasings,
    is_english,
    read_file,
    rephrase_by_rules,
    to_file,
)
from psopt.rephrasings._passages import protected_texts, read_passages
from psopt.search_spaces import Prompt
from psopt.tasks import Task
from psopt.templates import PART_BREAK, Message, Part, Template, split_description

from tests.sweeps import each

FIRST = 'You work for "the shop". Classify the question\n  by the kind of answer.\n- Number: a count\n- Person: a name'
SECOND = 'Decide which class the text is in. Answer as JSON: {"label": ".."}'
TEMPLATE = Template((Message("system", (Part(0),)), Message("user", (Part(1), "\n\n{body}"))))


ONE_PART = Template((Message("user", (Part(0), "\n{text}")),))


@pytest.fixture
def prompt(task: Task) -> Prompt:
    return Prompt(f"{FIRST}\n\n{SECOND}", task.labels, template=TEMPLATE)


def frozen(task: Task, prompt: Prompt, **options: Any) -> RephrasingSet:
    return freeze_rephrasings(task, prompt, 8, 8, 42, RephrasingOptions(**options))


def test_each_part_is_reworded_and_goes_byte_for_byte_through_a_file_by_hand(
    task: Task, prompt: Prompt, tmp_path: Path
) -> None:
    found = frozen(task, prompt)
    texts = [*found.search[1:], *found.heldout]
    assert len(set(texts)) == 15
    for text in texts:
        first, second = split_description(text)
        assert first.endswith("\n- Number: a count\n- Person: a name")
        assert second != SECOND
    file = tmp_path / "r.json"
    file.write_text(json.dumps(to_file(found)))
    assert read_file(file) == found
    file.write_text(json.dumps({"search": list(found.search), "heldout": list(found.heldout)}))
    assert frozen(task, prompt, file=file).sha256 == found.sha256


OWN_LAYOUT = {"text": f"{FIRST}\n\n{SECOND}", "family": "format", "form": {"casing": "upper"}}


@each(
    "template, description, wrong, message",
    [
        (TEMPLATE, f"{FIRST}\n\n{SECOND}", "Sort it. Answer as JSON.", "must have 2 parts with an empty line between"),
        (TEMPLATE, f"{FIRST}\n\n{SECOND}", OWN_LAYOUT, "r.json: format changes psopt's own form"),
        (ONE_PART, "Sort {{ body }} by {topic}.", "Classify {{ body }} by its topic.", "has lost the field {topic}"),
        (ONE_PART, "Sort {{ body }} by {topic}.", "Sort {{ body }} by {topic} and {id}.", "has added the field {id}"),
    ],
)
def test_a_file_that_does_not_fit_the_template_is_refused_in_one_line(
    template: Template, description: str, wrong: Any, message: str, task: Task, tmp_path: Path
) -> None:
    prompt, file = Prompt(description, task.labels, template=template), tmp_path / "r.json"
    file.write_text(json.dumps({"search": [description, wrong], "heldout": []}))
    with pytest.raises(InputError) as refused:
        freeze_rephrasings(task, prompt, 1, 0, 42, RephrasingOptions(file=file))
    assert message in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_what_holds_no_instructions_says_how_to_mark_some(task: Task) -> None:
    for prompt in (
        Prompt("Answer as JSON only.", task.labels, template=ONE_PART),
        Prompt("x", task.labels, template=Template((Message("user", ("{text}",)),))),
    ):
        with pytest.raises(InputError, match="mark instructions with <rephrase>"):
            frozen(task, prompt)


def test_families_keep_the_parts_or_are_refused(task: Task, prompt: Prompt) -> None:
    found = frozen(task, prompt, families=("paraphrase", "wording", "example-order"))
    assert {form.family for form in found.search_forms} == {"paraphrase", "wording", "example-order"}
    assert all(len(split_description(text)) == 2 for text in (*found.search, *found.heldout))
    for family in ("format", "label-order"):
        with pytest.raises(InputError, match=rf"--vary {family} .* keeps its layout: choose of paraphrase"):
            frozen(task, prompt, families=("paraphrase", family))


LABELS = ("billing", "sales")
SENTENCES = st.sampled_from(
    [
        "Decide which team the mail {body} is for.",
        "Classify the {{ subject }}\n  by its topic,\r\nplease.",
        'You work for "The Shop. Ltd".',
        "Is the text about billing or sales?",
        'Answer as JSON: {"team": "billing",\n "why": {"a": [1, "b. C"]}}',
        "Do not explain anything.",
        "- sales: whatever is for sale",
        "## Rules",
        '```\nfor x in {y}: "z\n```',
        "<b>Sort</b> the text: <ref id='1'/> see https://a.b/c?d=e.",
        "the text, as it is",
        "Sortiere die Anfrage “nach Thema”!",
        "100 % `code` {",
        'Write only the label, e.g. "sales"',
    ]
)
PARTS = st.lists(
    st.tuples(SENTENCES, st.lists(st.tuples(st.sampled_from([" ", "\n", "\n\t"]), SENTENCES), max_size=3)).map(
        lambda drawn: drawn[0] + "".join(joint + sentence for joint, sentence in drawn[1])
    ),
    min_size=1,
    max_size=3,
)


@given(PARTS)
def test_what_is_protected_and_what_is_kept_come_through(parts: list[str]) -> None:
    description = PART_BREAK.join(parts)
    passages = read_passages(description, LABELS)
    assert passages.joined(passages.texts) == description
    try:
        found = rephrase_by_rules(description, "mail", 4, 3, 1, protect=LABELS, n_parts=len(parts))
    except InputError:
        assert not passages.texts or not is_english(description)  # the rules have something for every passage
        return
    assert found.original == found.search[0] == description
    for text in (*found.search[1:], *found.heldout):
        assert len(split_description(text)) == len(parts)
        position = 0
        for kept in passages.kept:
            position = text.index(kept, position) + len(kept)
        for passage in passages.texts:
            for protected, times in Counter(protected_texts(passage, LABELS)).items():
                assert text.count(protected) >= times


def test_a_protected_last_sentence_keeps_its_full_stop_in_every_frame() -> None:
    found = rephrase_by_rules("Sort the text by topic Do not explain anything.", "mail", 12, 6, 1, protect=LABELS)
    for text in (*found.search, *found.heldout):
        assert "Do not explain anything." in text
