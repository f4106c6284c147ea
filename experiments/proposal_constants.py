"""How the constants of proposals by rule do: each one varied alone, scored on TREC's train questions, never on test.

Run it with the real TREC: ``PSOPT_DATA_DIR=.. python experiments/proposal_constants.py``. It prints F1, S and C on
val questions (a part of train_5500) under ten rephrasings, of the prompt with all edits of one kind at once.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import psopt
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import evaluate, score
from psopt.models import ModelProvider
from psopt.proposals import _phrase_evidence, examples_from_train, propose_edits
from psopt.proposals.rules import _examples, _notes
from psopt.rephrasings import rephrasings_for
from psopt.search_spaces import apply_edits, seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from psopt.search_spaces import Edit

    Constant = tuple[ModuleType, str, tuple[Any, ...], Callable[[], list[Edit]]]

LAYERS = (("typical",), ("typical",) * 4, ("borderline",), ("weak spot",), ("weak spot",) * 4, _examples.EXAMPLE_LAYERS)

EVIDENCE = {"LEAST_SHARE": (0.0, 0.005, 0.01, 0.02), "LEAST_PURITY": (0.4, 0.5, 0.6, 0.7)}


def main() -> None:
    task = psopt.load_task("trec", strict_data=True)
    train, val = subset(task.train, 500, seed=42), subset(task.val, 500, seed=42)
    rephrasings = rephrasings_for(task).search
    model = ModelProvider().answering("minilm", task)
    bare = seed_prompt(task)
    on_train = evaluate(model, bare, rephrasings, train)
    diagnosis = diagnose_predictions(on_train, labelled=task.train)

    def show(name: str, edits: list[Edit]) -> None:
        scores = score(evaluate(model, apply_edits(bare, edits), rephrasings, val))
        figures = f"{scores.f1:.3f} {scores.sensitivity:.3f} {scores.consistency:.3f}"
        print(f"{name:50s} {len(edits):3d} edits  {figures}")

    subclasses = partial(_notes.definitions_from_subclasses, task, on_train)
    constants: tuple[Constant, ...] = (
        (_notes, "_MOST_SUBCLASSES", (5, 10, 20, 40), subclasses),
        (_examples, "_DIVERSITY", (0.0, 0.25, 0.5, 0.75, 1.0), partial(examples_from_train, on_train)),
        (_examples, "_SHORT", (100, 200, 400), partial(examples_from_train, on_train)),
    )
    show("no edits", [])
    for module, name, values, propose in constants:
        chosen = getattr(module, name)
        for value in values:
            setattr(module, name, value)
            show(f"{name} {value}{'*' if value == chosen else ''}", propose())
        setattr(module, name, chosen)
    show_evidence(show, lambda: propose_edits(task, bare, on_train, diagnosis))
    for layers in LAYERS:
        show(", ".join(layers), examples_from_train(on_train, layers))


def show_evidence(show: Callable[[str, list[Edit]], None], propose: Callable[[], list[Edit]]) -> None:
    """Show notes by how much evidence in train a phrase needs to be quoted."""
    for name, values in EVIDENCE.items():
        chosen = getattr(_phrase_evidence, name)
        for value in values:
            setattr(_phrase_evidence, name, value)
            notes = [edit for edit in propose() if edit.kind == "note"]
            show(f"{name} {value}{'*' if value == chosen else ''}", notes)
        setattr(_phrase_evidence, name, chosen)


if __name__ == "__main__":
    main()
