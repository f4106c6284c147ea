from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import InputError, UnknownNameError
from psopt.search_spaces import Edit, Example, Prompt, Provenance, apply_edits, render, render_instructions, seed_prompt

if TYPE_CHECKING:
    from psopt.tasks import Task

ORIGIN = Provenance("rules", "sensitivity", "dates", ("train-1",))
PROMPT = Prompt("Sort it.", ("Number", "Person"), "question")


def edit(kind: Any, label: str, text: str, gain: float = 0.0) -> Any:
    return Edit(kind, label, text, ORIGIN, gain)


def test_equal_prompts_have_equal_ids_and_a_changed_one_another() -> None:
    assert PROMPT.id == Prompt("Sort it.", ("Number", "Person"), "question").id
    assert PROMPT.id != PROMPT.described_as("Sort this.").id


def test_a_prompt_survives_the_way_through_json() -> None:
    full = apply_edits(
        PROMPT, [edit("note", "Number", "N."), edit("example", "Person", "who ?"), edit("definition", "Number", "d")]
    )
    assert Prompt.from_dict(full.to_dict()) == full


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"labels": ["a"]}, "needs 'description'"),
        ({"description": "d"}, "needs 'labels'"),
        ({"description": "", "labels": ["a"]}, "description must be text"),
        ({"description": "d", "labels": ["a"], "colour": 1}, "no part 'colour'"),
        ({"description": "d", "labels": ["a"], "examples": [{"text": "t"}]}, "can't be built"),
        ({"description": "d", "labels": 7}, "can't be built"),
    ],
)
def test_data_that_are_no_prompt_are_refused_with_the_part_named(data: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Prompt.from_dict(data)


def test_an_edit_survives_the_way_through_json_and_its_gain_is_no_part_of_its_name() -> None:
    one = edit("note", "Number", "N.", gain=0.25)
    assert Edit.from_dict(one.to_dict()) == one
    assert dataclasses.replace(one, gain=0.5).id == one.id


def test_definitions_of_one_label_are_joined_in_label_order_whatever_the_order_of_edits() -> None:
    edits = [
        edit("definition", "Person", "p"),
        edit("definition", "Number", "a date"),
        edit("definition", "Number", "a sum"),
    ]
    definitions = apply_edits(PROMPT, edits).definitions
    assert [(one.label, one.text) for one in definitions] == [("Number", "a date; a sum"), ("Person", "p")]


def test_applying_an_edit_twice_changes_nothing_more() -> None:
    edits = [edit("note", "Number", "N."), edit("example", "Person", "who ?"), edit("definition", "Number", "d")]
    assert apply_edits(apply_edits(PROMPT, edits), edits) == apply_edits(PROMPT, edits)


def test_the_text_comes_last_and_braces_in_it_stay_as_they_are() -> None:
    content = render(PROMPT, "what is {text} or {0} % $x ?")[-1]["content"]
    assert content.endswith("Question: what is {text} or {0} % $x ?\nLabel:")


def test_everything_but_the_description_is_the_same_under_a_rephrasing() -> None:
    full = apply_edits(PROMPT, [edit("note", "Number", "N."), edit("definition", "Number", "d")])
    other = full.described_as("Please sort.")
    assert render_instructions(full).replace("Sort it.", "") == render_instructions(other).replace("Please sort.", "")


def test_simple_is_description_and_labels(task: Task) -> None:
    assert seed_prompt(task) == Prompt(task.description, task.labels, "question")


def test_detail_defines_every_label(task: Task) -> None:
    assert [one.label for one in seed_prompt(task, "detail").definitions] == list(task.labels)


def test_detail_without_definitions_says_what_is_missing(task: Task) -> None:
    with pytest.raises(InputError, match=r"definition of every class.*'Number'.*task file"):
        seed_prompt(dataclasses.replace(task, definitions={}), "detail")


def test_1_shot_shows_one_train_example_of_each_label_and_the_seed_decides_which(task: Task) -> None:
    examples = [seed_prompt(task, "1-shot", seed=seed).examples for seed in (0, 0, 1)]
    assert examples[0] == examples[1] != examples[2]
    assert [one.label for one in examples[0]] == list(task.labels)
    train = {Example(sample.text, str(sample.label)) for sample in task.train}
    assert set(examples[0]) <= train


def test_an_unknown_strategy_names_the_nearest(task: Task) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'simple'"):
        seed_prompt(task, "simpel")
