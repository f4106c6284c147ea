"""Rephrasings of a program's instructions, for all steps together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.rephrasings import Checks, closeness, rephrase_by_rules, write_rephrasings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from psopt.dspy_programs._compilation import Compilation
    from psopt.rephrasings import RephrasingSet
    from psopt.tasks import Task

    Rephrase = Callable[[Any, tuple[str, ...]], RephrasingSet]  # from a step's signature and its labels


@dataclass(frozen=True)
class InstructionVariants:
    """One variant has one rephrasing of every step's instructions."""

    rephrasings: RephrasingSet  # of the outcome's step; its texts name the variants
    instructions: Mapping[str, Mapping[str, str]]  # each variant's instructions per step

    @property
    def original(self) -> Mapping[str, str]:
        """The program's own instructions."""
        return self.instructions[self.rephrasings.search[0]]


def rephrase_instructions(program: Any, outcome_step: str, task: Task, compilation: Compilation) -> InstructionVariants:
    """Rephrase the instructions of each step of a program, by rule or by a writing model.

    Labels belong to the step that gives the outcome, and so do wordings from another source, if there are any: under
    these the other steps keep their instructions.

    Raises InputError if there are not enough rephrasings.
    """
    rephrase = _rephraser(task, compilation)
    signatures = {step: predictor.signature for step, predictor in program.named_predictors()}
    labels = {outcome_step: task.classes}
    sets = {step: rephrase(signature, labels.get(step, ())) for step, signature in signatures.items()}
    own = {step: signature.instructions for step, signature in signatures.items()}
    instructions = {text: {**own, outcome_step: text} for text in compilation.settings.heldout_from}
    texts = {step: (*of_step.search, *of_step.heldout) for step, of_step in sets.items()}
    for number, text in enumerate(texts[outcome_step]):
        instructions[text] = {step: of_step[number] for step, of_step in texts.items()}
    instructions[texts[outcome_step][0]] = own  # with their line breaks: a rephrasing is one paragraph
    return InstructionVariants(sets[outcome_step], instructions)


def _rephraser(task: Task, compilation: Compilation) -> Rephrase:
    """Rules, at no cost; or a language model, whose texts are checked, also by the judge's model if there is one."""
    settings, models = compilation.settings, compilation.models
    sizes = settings.rephrasings, settings.heldout

    def by_rule(signature: Any, labels: tuple[str, ...]) -> RephrasingSet:
        noun = next(iter(signature.input_fields), task.noun).replace("_", " ")
        return rephrase_by_rules(
            signature.instructions, noun, *sizes, settings.seed, protect=task.labels, labels=labels
        )

    if compilation.rephraser is None:
        return by_rule
    writer, near = models.writer(compilation.rephraser), closeness(models)
    judge = models.judge(compilation.judge) if compilation.judge is not None else None

    def by_model(signature: Any, _: tuple[str, ...]) -> RephrasingSet:
        original = " ".join(signature.instructions.split())
        checks = Checks(original, task.labels, settings.rephrasing.keep_labels, near, judge=judge)
        return write_rephrasings(writer, checks, *sizes)

    return by_model
