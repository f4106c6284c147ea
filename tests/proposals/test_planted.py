"""Contrast texts: the phrases of notes in texts where they mean nothing, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psopt.api._finishing import planted_flips
from psopt.evaluation import Evaluator
from psopt.models import Capabilities
from psopt.proposals import planted_texts
from psopt.rephrasings import RephrasingSet
from psopt.runs import unasked_lines
from psopt.search_spaces import Edit, Prompt, Provenance, apply_edits, seed_prompt
from psopt.tasks import Task

BILLING = ("My invoice is wrong", "A charge that I do not know", "Please send the receipt", "The invoice came twice")
SUPPORT = ("Chrome shows nothing", "It stops after a minute", "The page is blank", "I can not log in")


def _task() -> Task:
    classes = (("Billing", BILLING), ("Support", SUPPORT))
    rows = [(f"{text}, number {n}", label) for label, texts in classes for text in texts for n in range(5)]
    return Task.from_records(rows, description="Which team answers?", noun="ticket")


def _note(text: str) -> Edit:
    return Edit("note", "Billing", text, Provenance("rules", "phrases"))


class Obedient:
    """Answers by the notes of the prompt where a text shows their phrase, else "Support"."""

    name = "obedient"
    capabilities = Capabilities()

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], _: object = None) -> NDArray[np.int64]:
        obeyed = [any('"invoice"' in note for note in prompt.notes) for prompt in prompts]
        return np.array([[0 if obeys and "invoice" in text else 1 for obeys in obeyed] for text in texts])


NOTE = _note('A ticket that contains "invoice" usually belongs to Billing.')


def test_phrases_are_planted_in_texts_of_other_classes_that_lack_them() -> None:
    task = _task()
    opening = _note('A ticket that begins with "please" usually belongs to Billing.')
    planted = planted_texts([NOTE, opening], task, n=4)
    assert len(planted) == 8
    assert {pair.plain.label for pair in planted} == {"Support"}
    assert all(pair.planted.text == f"{pair.plain.text} (invoice)" for pair in planted[:4])
    assert all(pair.planted.text == f"please: {pair.plain.text}" for pair in planted[4:])
    assert planted == planted_texts([NOTE, opening], task, n=4)
    assert planted_texts([_note("Ordering more seats is Billing, whoever asks.")], task) == [], "it has no phrase"


def test_a_run_says_how_often_they_flip_answers() -> None:
    task = _task()
    original = seed_prompt(task)
    rephrasings = RephrasingSet(original.description, (original.description,), (), "rules")
    evaluator = Evaluator(Obedient(), rephrasings, {"train": task.train})

    def flips(*edits: Edit) -> Any:
        candidate: Any = SimpleNamespace(id="abc", edits=edits, prompt=apply_edits(original, edits))
        return planted_flips(evaluator, task, original, candidate)

    planted = flips(NOTE)
    assert planted == {"n_texts": 8, "n_notes": 1, "id": "abc", "original": 0.0, "recommended": 1.0}
    assert unasked_lines({"planted": planted}) == [
        "A phrase of its note, put into 8 texts of other classes, changed 100 % of its answers (original prompt: 0 %)."
    ]
    assert flips() is None
    assert unasked_lines({"planted": None}) == []
