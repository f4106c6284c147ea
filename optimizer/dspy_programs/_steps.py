"""Which step of a program shakes: S with one step's instructions rephrased and the others held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.metrics import prediction_counts, sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.dspy_programs._model import ProgramModel
    from psopt.search_spaces import Prompt

MOST_TEXTS = 50


def sensitivity_by_step(model: ProgramModel, prompt: Prompt, texts: Sequence[str]) -> dict[str, float]:
    """Return S of each step, in [0, 1]; of a program of one step it is S itself.

    Every step takes as many runs as the search takes for one prompt, on the first 50 texts.
    """
    wordings = [model.wordings.instructions[text] for text in model.wordings.rephrasings.search]
    found = {}
    for step in model.steps:
        held = [{**model.wordings.original, step: wording[step]} for wording in wordings]
        answers = model.predict_steps(prompt, held, texts[:MOST_TEXTS])
        found[step] = float(sensitivity(prediction_counts(answers, len(prompt.labels) + 1)))
    return found


def layers_by_step(shares: dict[str, float], outcome_step: str, n_layers: int) -> dict[str, int]:
    """Share layers of examples out: one for every step that shakes and the one of the outcome, the rest by S.

    >>> layers_by_step({"topic": 0.3, "label": 0.1}, "label", 4)
    {'topic': 3, 'label': 1}
    """
    total = sum(shares.values())
    least = {step: int(share > 0 or step == outcome_step) for step, share in shares.items()}
    left = max(0, n_layers - sum(least.values()))
    exact = {
        step: left * share / total if total else float(step == outcome_step) * left for step, share in shares.items()
    }
    whole = {step: int(part) for step, part in exact.items()}
    rest = sorted(shares, key=lambda step: round(whole[step] - exact[step], 9))[: left - sum(whole.values())]
    return {step: least[step] + whole[step] + (step in rest) for step in shares}
