"""Proposals for a program: notes and definitions for the step of the outcome, demonstrations for every step."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import AnswerType
from psopt.dspy_programs._examples import inputs_key
from psopt.dspy_programs._outcome import MeantOutcome, UnreferencedOutcome
from psopt.evaluation import Predictions, assessed
from psopt.proposals import EXAMPLE_LAYERS, examples_from_train, propose_edits
from psopt.tasks import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.diagnosis import Diagnosis
    from psopt.dspy_programs._model import ProgramModel
    from psopt.proposals import ProposalChecks
    from psopt.search_spaces import Edit, Prompt
    from psopt.tasks import Task


@dataclass(frozen=True)
class ProgramProposals:
    """Proposes like `propose_edits`, but demonstrations of steps instead of plain examples."""

    model: ProgramModel
    baseline: Prompt
    task: Task
    # How many fit into a program: a round offers at least as many for labels, if there are enough examples
    n_demonstrations: int

    @cached_property
    def shares(self) -> dict[str, float]:
        """S of each step: the most unstable ones get most demonstrations. Asked for when edits are first proposed."""
        return sensitivity_by_step(self.model, self.baseline, self.task)

    def __call__(
        self,
        task: Task,
        prompt: Prompt,
        predictions: Predictions,
        diagnosis: Diagnosis,
        pool: Sequence[Edit],
        checks: ProposalChecks,
        _many_examples: bool = False,  # a program's user sets their number
    ) -> list[Edit]:
        """Return edits, those with the highest possible gain first."""
        # Free text has no labels for notes, and neither has an output that only a metric can judge.
        edits: list[Edit] = []
        if not isinstance(self.model.outcome, (MeantOutcome, UnreferencedOutcome)):
            proposed = propose_edits(task, prompt, predictions, diagnosis, pool, checks)
            edits = [edit for edit in proposed if edit.kind != "example"]
        usable = self._usable(task, predictions)
        if not usable.samples:
            return edits
        kinds: tuple[str, ...] = EXAMPLE_LAYERS
        if predictions.labels:  # few leave room for more layers of typical examples, which always exist
            n_layers = math.ceil(self.n_demonstrations / len(predictions.labels))
            kinds += ("typical",) * (n_layers - len(EXAMPLE_LAYERS))
        layers = layers_by_step(self.shares, self.model.outcome.step, len(kinds))
        for step, n_layers in layers.items():
            own = step if len(self.model.steps) > 1 else ""
            taken = {example.text for example in prompt.examples if example.step in {"", own}}
            taken |= {edit.text for edit in pool if edit.kind == "example" and edit.step in {"", own}}
            of_step = EXAMPLE_LAYERS if task.spec.is_open else kinds[:n_layers]
            examples = examples_from_train(usable, of_step, taken=taken, checks=checks)
            shown = [edit for edit in examples if self.model.demonstration(step, edit.text) is not None]
            edits += [replace(edit, step=own, bundle=f"{own} {edit.bundle}".strip()) for edit in shown]
        return edits

    def _usable(self, task: Task, predictions: Predictions) -> Predictions:
        """Samples that may be shown: none of val, and only right ones if the steps to the answer are shown."""
        keys = {text: inputs_key(example) for text, example in self.model.runner.examples.items()}
        on_val = {keys[sample.text] for sample in task.val}
        keep = np.array([keys[sample.text] not in on_val for sample in predictions.samples])
        if self.model.runner.needs_steps:
            keep &= predictions.right[:, 0]
        return replace(predictions.of_samples(keep), metric_scores=None)


MOST_TEXTS = 50  # of train; chosen for its cost (steps x rephrasings x this many runs), not measured


def sensitivity_by_step(model: ProgramModel, prompt: Prompt, task: Task) -> dict[str, float]:
    """Return S of each step, in [0, 1], on the first 50 texts of train: as many runs for each as for a prompt."""
    texts = [sample.text for sample in task.train[:MOST_TEXTS]]
    samples = tuple(Sample(str(number), text) for number, text in enumerate(texts))
    variants = [model.variants.instructions[text] for text in model.variants.rephrasings.search]
    by_step = {}
    for step in model.steps:
        held = [{**model.variants.original, step: variant[step]} for variant in variants]
        answers = model.predict_steps(prompt, held, texts)
        predictions = assessed(Predictions(answers, samples, prompt.labels, answers=AnswerType.of(task)), model)
        by_step[step] = float(predictions.sensitivities.mean())
    return by_step


def layers_by_step(shares: dict[str, float], outcome_step: str, n_layers: int) -> dict[str, int]:
    """Allocate layers of examples: one for every unstable step and for that of the outcome, the rest by S.

    Each of the rest goes to the step with the highest S relative to its number of layers (D'Hondt's method).

    >>> layers_by_step({"topic": 0.3, "label": 0.1}, "label", 4)
    {'topic': 3, 'label': 1}
    """
    layers = {step: int(share > 0 or step == outcome_step) for step, share in shares.items()}
    for _ in range(n_layers - sum(layers.values())):
        step = max(layers, key=lambda step: (shares[step] / (layers[step] + 1), step == outcome_step))
        layers[step] += 1
    return layers
