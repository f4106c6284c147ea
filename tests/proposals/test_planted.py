"""Contrast texts: the phrases of notes in texts where they mean nothing, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.api._beside import planted_flips
from psopt.evaluation import Evaluator
from psopt.models import Capabilities
from psopt.proposals import planted_texts
from psopt.rephrasings import RephrasingSet
from psopt.runs import unasked_lines
from psopt.search_spaces import Edit, Provenance, apply_edits, seed_prompt
from psopt.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.search_spaces import Prompt

BILLING = ("My invoice is wrong", "A charge that I do not know", "Please send the receipt", "The invoice came twice")
SUPPORT = ("Chrome shows nothing", "It stops after a minute", "The page is blank", "I can not log in")


def _task() -> Task:
    classes = (("Billing", BILLING), ("Support", SUPPORT))
    rows = [(f"{text}, number {n}", label) for label, texts in classes for text in texts for n in range(5)]
    return Task.from_records(rows, description="Which team answers?", noun="ticket")


def _note(text: str, label: str) -> Edit:
    return Edit("note", label, text, Provenance("rules", "phrases"))


@dataclass
class Obedient:
    """Answers by the notes of the prompt where a text shows their phrase, else "Support"."""

    name: str = "obedient"
    capabilities = Capabilities()

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], _: object = None) -> NDArray[np.int64]:
        def answer(prompt: Prompt, text: str) -> int:
            obeyed = any('"invoice"' in note and "invoice" in text for note in prompt.notes)
            return prompt.labels.index("Billing" if obeyed else "Support")

        return np.array([[answer(prompt, text) for prompt in prompts] for text in texts])


NOTE = _note('A ticket that contains "invoice" usually belongs to Billing.', "Billing")


def test_phrases_are_planted_in_texts_of_other_classes_that_lack_them() -> None:
    task = _task()
    opening = _note('A ticket that begins with "please" usually belongs to Billing.', "Billing")
    planted = planted_texts([NOTE, opening], task, n=4)
    assert len(planted) == 8
    assert {pair.plain.label for pair in planted} == {"Support"}
    assert all(pair.planted.text == f"{pair.plain.text} (invoice)" for pair in planted[:4])
    assert all(pair.planted.text == f"please: {pair.plain.text}" for pair in planted[4:])
    assert planted == planted_texts([NOTE, opening], task, n=4)


def test_notes_without_phrases_are_left_out() -> None:
    assert planted_texts([_note("Ordering more seats is Billing, whoever asks.", "Billing")], _task()) == []


@pytest.mark.parametrize(("edits", "flips"), [([NOTE], 1.0), ([], None)])
def test_a_run_says_how_often_they_flip_answers(edits: list[Edit], flips: float | None) -> None:
    task = _task()
    original = seed_prompt(task)
    rephrasings = RephrasingSet(original.description, (original.description,), (), "rules")
    evaluator = Evaluator(Obedient(), rephrasings, {"train": task.train})
    candidate: Any = type("Candidate", (), {"id": "abc", "edits": edits, "prompt": apply_edits(original, edits)})
    planted = planted_flips(evaluator, task, original, candidate)
    if flips is None:
        assert planted is None
        assert unasked_lines({"planted": planted}) == []
        return
    assert planted == {"n_texts": 8, "n_notes": 1, "id": "abc", "original": 0.0, "recommended": flips}
    assert unasked_lines({"planted": planted}) == [
        "Phrases of its note, planted in 8 texts of other classes, flip 100 % of its answers; of the original prompt's "
        "0 %."
    ]
