"""The instructions of a program in other words: every step's, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from psopt.rephrasings import Checks, closeness, rephrase_by_rules, write_rephrasings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psopt.models import ModelProvider
    from psopt.rephrasings import RephrasingSet
    from psopt.tasks import Task

    Rephrase = Callable[[Any, tuple[str, ...]], RephrasingSet]  # a step's signature, and the labels that it gives


@dataclass(frozen=True)
class InstructionVariants:
    """One variant is one rephrasing of the instructions of every step."""

    rephrasings: RephrasingSet  # of the step that gives the outcome; its texts name the variants
    instructions: Mapping[str, Mapping[str, str]]  # what each variant makes of each step's instructions

    @property
    def original(self) -> Mapping[str, str]:
        """The instructions as the program has them."""
        return self.instructions[self.rephrasings.search[0]]

    def with_outcome_said_as(self, wordings: Sequence[str], outcome_step: str) -> InstructionVariants:
        """Return these and wordings of another source of the step that gives the outcome, the others as they are."""
        others = {text: {**self.original, outcome_step: text} for text in wordings}
        return replace(self, instructions={**others, **self.instructions})


def rephrase_instructions(program: Any, outcome_step: str, task: Task, rephrase: Rephrase) -> InstructionVariants:
    """Rephrase the instructions of each step of a program; the labels are those of the step that gives the outcome.

    Raises InputError if there are not enough rephrasings.
    """
    signatures = {step: predictor.signature for step, predictor in program.named_predictors()}
    own = {step: signature.instructions for step, signature in signatures.items()}
    sets = {
        step: rephrase(of_step, task.classes if step == outcome_step else ()) for step, of_step in signatures.items()
    }
    instructions: dict[str, Mapping[str, str]] = {}
    for number, text in enumerate(sets[outcome_step].search):
        instructions[text] = {step: of_step.search[number] for step, of_step in sets.items()}
    instructions[sets[outcome_step].search[0]] = own  # as they are written: a rephrasing is one paragraph
    for number, text in enumerate(sets[outcome_step].heldout):
        instructions[text] = {step: of_step.heldout[number] for step, of_step in sets.items()}
    return InstructionVariants(sets[outcome_step], instructions)


def by_rules(task: Task, n_search: int, n_heldout: int, seed: int) -> Rephrase:
    """Rephrase by rule, free of charge."""

    def rephrase(signature: Any, labels: tuple[str, ...]) -> RephrasingSet:
        noun = next(iter(signature.input_fields), task.noun).replace("_", " ")
        return rephrase_by_rules(
            signature.instructions, noun, n_search, n_heldout, seed, protect=task.labels, labels=labels
        )

    return rephrase


def by_model(
    task: Task, n_search: int, n_heldout: int, models: ModelProvider, rephraser: Any, judge: Any, *, keep_labels: bool
) -> Rephrase:
    """Let a language model rephrase, and check what it writes, by another model too where there is a `judge`."""
    writer = models.writer(rephraser)
    says_the_same = models.judge(judge) if judge is not None else None
    near = closeness(models)

    def rephrase(signature: Any, _: tuple[str, ...]) -> RephrasingSet:
        original = " ".join(signature.instructions.split())
        checks = Checks(original, task.labels, keep_labels, near, judge=says_the_same)
        return write_rephrasings(writer, checks, n_search, n_heldout)

    return rephrase
