"""Families of rephrasings and of changed texts: what changes, what stays, and what each tells about a model."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psopt.errors import InputError
from psopt.evaluation import Predictions, evaluate, score
from psopt.rephrasings import change_texts, read_file, rephrasings_for, to_file, vary
from psopt.search_spaces import PLAIN, Example, Messages, Prompt, PromptFormat, render, render_instructions
from psopt.settings import TEXT_FAMILIES, UNCHANGED, RephrasingOptions
from psopt.tasks import Row, Task

from tests.sweeps import each


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
    with pytest.raises(InputError, match="label-order has too few members"):
        vary(rephrasings_for(task, 5, 5), task, ("label-order",), 42)  # two labels have one other order


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
    three = score(evaluate(FormModel(), Prompt(task.description, task.labels), words[:3], task.val, forms=forms[:3]))
    assert three.per_family["format"].sensitivity is None  # one answer can't differ
    # one family alone is not told apart
    assert score(Predictions(np.zeros((40, 2), dtype=int), task.val, task.labels)).per_family == {}


RULES = [family for family in TEXT_FAMILIES if family != "text-paraphrase"]
MAILS = [
    "The invoice 4711 of Anna Berger was charged twice, and the refund is still missing since 3 May.",
    "Could you please reset the password that is linked to anna@example.com? The link in the mail has expired.",
]
LABELS = ("refund", "password")


def changed(family: str, texts: Sequence[str] = MAILS, n: int = 4, seed: int = 1) -> list[list[str]]:
    columns = change_texts(texts, [family], n, seed, LABELS)  # type: ignore[list-item]
    assert [name for name, _ in columns] == [UNCHANGED, *[family] * (n - 1)]
    return [column for _, column in columns[1:]]


@each("family", RULES)
def test_each_variant_differs_is_drawn_by_the_seed_and_keeps_numbers_names_and_labels(family: str) -> None:
    columns = changed(family)
    for place, text in enumerate(MAILS):
        variants = [column[place] for column in columns]
        assert text not in variants
        for variant in variants:
            folded = re.sub(r"\s+", " ", variant).casefold()
            kept = ["4711", "anna berger", "refund", "3 may"] if place == 0 else ["password", "anna@example.com"]
            assert [word for word in kept if word not in folded] == []
    assert columns == changed(family)
    assert family in {"case", "padding"} or columns != changed(family, seed=2)


def test_a_family_changes_what_it_is_called_after() -> None:
    (typos,), (case,), (spaces,), (padding,), (stop,) = (changed(family, MAILS[:1], 2)[0] for family in RULES)
    text = MAILS[0]
    wrong = [(old, new) for old, new in zip(text.split(), typos.split(), strict=True) if old != new]
    assert len(wrong) == 1  # a sixth of charged, invoice, twice, still, missing, since
    assert case == text.upper()
    assert spaces.split() == text.split()
    assert text in padding
    assert not re.search(r"\w", padding.replace(text, ""))
    assert set(stop.split()) < set(text.split())


@given(text=st.text(max_size=12), family=st.sampled_from(RULES))
@settings(max_examples=15)
def test_any_text_can_be_changed_and_a_short_one_stays(text: str, family: str) -> None:
    columns = change_texts([text, *MAILS, *MAILS], [family], 3, 7)  # type: ignore[list-item]
    for _, (first, *_) in columns:
        assert first == text or len(text.strip()) > 1


def test_a_script_without_case_gets_no_case_and_it_is_said(caplog: pytest.LogCaptureFixture) -> None:
    texts = ["我的订单在哪里?", "请退款", "谢谢"]
    with caplog.at_level(logging.WARNING, "psopt.waiting"):
        columns = change_texts(texts, RULES, 5, 1)
    assert [name for name, _ in columns] == [UNCHANGED, "whitespace", "padding", "whitespace", "padding"]
    assert [record.getMessage() for record in caplog.records] == [
        f"{family} is left out: it changes 0 of 3 texts" for family in ("typos", "case", "stop-words")
    ]
    with pytest.raises(InputError, match="--vary case changes nothing of these texts"):
        change_texts(texts, ["case"], 2, 1)


def test_a_row_keeps_its_other_columns() -> None:
    row = Row.of({"id": "a7", "subject": "the bill", "body": "it is too high"}, ("subject", "body"))
    new = changed("case", [row], 2)[0][0]
    assert isinstance(new, Row)
    assert new.fields == {"id": "a7", "subject": "THE BILL", "body": "IT IS TOO HIGH"}
    assert new == "subject: THE BILL\nbody: IT IS TOO HIGH"


class Rewriter:
    """Says texts otherwise, but loses a number."""

    name = "openai/rewriter"

    def write(self, conversations: Sequence[Messages], *, temperature: float = 0.0, sample: int = 0) -> list[str]:
        texts = [messages[-1]["content"].split("\n")[1] for messages in conversations]
        return [f"{text.replace('4711', 'so and so')} {temperature} {sample}" for text in texts]


def test_paraphrases_that_lose_a_number_are_refused() -> None:
    texts = [*MAILS, ""]
    columns = change_texts(texts, ["text-paraphrase"], 3, 1, LABELS, Rewriter())  # type: ignore[arg-type]
    assert [column for _, column in columns[1:]] == [
        [MAILS[0], f"{MAILS[1]} {temperature} {number}", ""] for number, temperature in enumerate((0.0, 0.7))
    ]


def test_what_is_varied_is_read_from_its_names() -> None:
    def read(*names: str, rephraser: str | None = None) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        options = RephrasingOptions(families=names, rephraser=rephraser)
        return options.wordings, options.texts, options.repeats

    assert read("paraphrase") == (("paraphrase",), (), False)
    assert read("repeat") == (("paraphrase",), (), True)
    assert read("input") == ((), tuple(RULES), False)
    assert read("input", rephraser="openai/x") == ((), TEXT_FAMILIES, False)
    assert read("repeat", "typos", "format", "wording") == (("wording", "format"), ("typos",), True)
    with pytest.raises(InputError, match="did you mean 'repeat'"):
        read("repeats")
    with pytest.raises(InputError, match="add --rephraser MODEL"):
        read("text-paraphrase", rephraser="rules")
    assert RephrasingOptions("openai/x", file=Path("own.txt"), families=("text-paraphrase",)).texts
    beside: dict[str, Any]
    for beside in ({"families": ("typos", "format")}, {"rephraser": "openai/x"}):
        with pytest.raises(InputError, match="makes rephrasings, and --rephrasings-file gives them"):
            RephrasingOptions(file=Path("own.txt"), **beside)
