"""Families of rephrasings: what changes, what stays, and what each tells about a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.errors import InputError
from psopt.evaluation import Predictions, evaluate, score
from psopt.rephrasings import read_families, read_file, rephrasings_for, to_file, vary
from psopt.search_spaces import FAMILIES, PLAIN, Example, Prompt, PromptFormat, render, render_instructions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.tasks import Task


def test_families_take_turns_the_original_comes_first_and_what_is_held_out_was_not_searched(
    task: Task, tmp_path: Path
) -> None:
    families: Any = ("paraphrase", "wording", "format", "example-order")
    mixed = vary(rephrasings_for(task, 11, 10), task, families, 42)
    assert mixed.search[0] == task.description
    assert mixed.search_forms[0] == PLAIN
    expected = ([*families] * 3)[:10]
    assert [form.family for form in mixed.search_forms[1:]] == expected
    assert [form.family for form in mixed.heldout_forms] == expected
    search, heldout = ({(text, form.layout) for text, form in mixed.variants(side)} for side in ("search", "heldout"))
    assert (len(search), len(heldout)) == (11, 10)
    assert not search & heldout
    path = tmp_path / "rephrasings.json"
    path.write_text(json.dumps(to_file(mixed)))
    assert read_file(path) == mixed
    assert read_file(path).sha256 == mixed.sha256


def test_a_layout_changes_no_word_and_an_order_no_member() -> None:
    examples = (Example("x", "a"), Example("y", "b"))
    prompt = Prompt("Sort it.", ("a", "b", "c"), "question", notes=("N one.", "N two."), examples=examples)
    own = render_instructions(prompt)
    ordered = prompt.described_as("Sort it.", PromptFormat("label-order", label_order=1))
    assert sorted(render_instructions(ordered)) == sorted(own)
    assert render_instructions(ordered) != own
    shown = prompt.described_as("Sort it.", PromptFormat("example-order", example_order=1))
    assert sorted(render_instructions(shown).split("\n")) == sorted(own.split("\n"))
    laid_out = prompt.described_as("Sort it.", PromptFormat("format", " - ", " | ", "1. ", "upper", 0))
    _, first, _, _, _, last = render(laid_out, "what ?")
    assert "a | b | c" in first["content"]
    assert "NOTE:\n1. N one.\n2. N two.\nQUESTION - x" in first["content"]
    assert last["content"] == "QUESTION - what ?\nLABEL -"
    # psopt's own form is no part of a prompt on disk, and another is
    assert "form" not in prompt.to_dict()
    assert Prompt.from_dict(laid_out.to_dict()) == laid_out
    assert laid_out.id != prompt.id


def test_families_are_read_in_their_own_order_and_unknown_or_empty_ones_named(task: Task) -> None:
    assert read_families("format,wording") == ("wording", "format")
    assert set(read_families(",".join(FAMILIES))) == set(FAMILIES)
    with pytest.raises(InputError, match="did you mean 'format'"):
        read_families("formats")
    with pytest.raises(InputError, match="label-order has too few members"):
        vary(rephrasings_for(task, 5, 5), task, ("label-order",), 42)  # two labels have one other order


class FormModel:
    """Minds only whether headings are in capitals."""

    name = "form"

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: Any = None) -> Any:
        return np.array([[int(prompt.form.casing == "upper") for prompt in prompts] for _ in texts])


def test_sensitivity_is_told_apart_by_family(task: Task) -> None:
    forms = (PLAIN, PromptFormat(), PromptFormat("format", casing="upper"), PromptFormat("format", bullet="* "))
    words = (task.description, "Sort it by what it asks.", task.description, task.description)
    found = score(evaluate(FormModel(), Prompt(task.description, task.labels), words, task.val, forms=forms))
    assert found.per_family["paraphrase"].sensitivity == 0.0
    assert found.per_family["format"].sensitivity == pytest.approx(np.log(2) / np.log(3))
    assert found.per_family["format"].n == 2
    # one family alone is not told apart
    assert score(Predictions(np.zeros((40, 2), dtype=int), task.val, task.labels)).per_family == {}
