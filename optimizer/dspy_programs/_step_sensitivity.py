"""Which step of a program is unstable: S with one step's instructions rephrased and the others held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.answers import ONE_LABEL
from psopt.evaluation import Predictions, assessed
from psopt.tasks import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.answers import AnswerType
    from psopt.dspy_programs._model import ProgramModel
    from psopt.search_spaces import Prompt

MOST_TEXTS = 50  # of train; chosen for what it costs (steps x rephrasings x this many runs), not measured


def sensitivity_by_step(
    model: ProgramModel, prompt: Prompt, texts: Sequence[str], answer_type: AnswerType = ONE_LABEL
) -> dict[str, float]:
    """Return S of each step, in [0, 1]; of a program of one step it is S itself.

    Every step takes as many runs as the search takes for one prompt, on the first 50 texts.
    """
    samples = tuple(Sample(str(number), text) for number, text in enumerate(texts[:MOST_TEXTS]))
    variants = [model.variants.instructions[text] for text in model.variants.rephrasings.search]
    by_step = {}
    for step in model.steps:
        held = [{**model.variants.original, step: variant[step]} for variant in variants]
        answers = model.predict_steps(prompt, held, [sample.text for sample in samples])
        predictions = assessed(Predictions(answers, samples, prompt.labels, answers=answer_type), model)
        by_step[step] = float(predictions.sensitivities.mean())
    return by_step


def layers_by_step(shares: dict[str, float], outcome_step: str, n_layers: int) -> dict[str, int]:
    """Share layers of examples out: one for every unstable step and the one of the outcome, the rest by S.

    Each of the rest goes to the step with most S for the layers that it has (D'Hondt's method).

    >>> layers_by_step({"topic": 0.3, "label": 0.1}, "label", 4)
    {'topic': 3, 'label': 1}
    """
    layers = {step: int(share > 0 or step == outcome_step) for step, share in shares.items()}
    for _ in range(n_layers - sum(layers.values())):
        step = max(layers, key=lambda step: (shares[step] / (layers[step] + 1), step == outcome_step))
        layers[step] += 1
    return layers
