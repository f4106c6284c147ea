"""`psopt.compare`: which prompt, or which model, is better, and is it chance?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from psopt.api._measure import MeasureOptions, measure
from psopt.errors import InputError
from psopt.evaluation import compare_paired, score, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.evaluation import Scores
    from psopt.metrics import PairedDifference
    from psopt.models import OnProgress
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task


@dataclass(frozen=True, slots=True)
class Contender:
    """A prompt under a model: what is compared."""

    prompt: str
    model: str
    scores: Scores
    against_first: Mapping[str, PairedDifference]
    """Differences to the first contender by measure; empty for the first itself."""

    def verdict(self, measure_name: str) -> str:
        """``better``, ``worse`` or ``no difference`` than the first, at the 5 % level."""
        return verdict(measure_name, self.against_first.get(measure_name))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        differences = {name: {**asdict(one), "verdict": self.verdict(name)} for name, one in self.against_first.items()}
        return {"prompt": self.prompt, "model": self.model, **self.scores.to_dict(), "against_first": differences}


def compare(
    task: Task,
    prompts: Mapping[str, Prompt],
    models: Sequence[Any] = ("minilm",),
    options: MeasureOptions | None = None,
    on_progress: OnProgress | None = None,
) -> list[Contender]:
    """Measure every prompt under every model on the same samples and rephrasings, and test each against the first.

    Prompts with different descriptions are rephrased alike, each its own description.

    Parameters
    ----------
    task : Task
        With labels.
    prompts : dict of name to Prompt
    models : sequence of str, dspy.LM or Model
    options : MeasureOptions, optional

    Raises
    ------
    InputError
        If there is nothing to compare, or the samples have no labels.
    """
    options = options or MeasureOptions()
    if len(prompts) * len(models) < 2:
        raise InputError("there is nothing to compare: give two prompts, or two models")
    provider = options.models()  # the limits are those of the whole comparison
    found = [
        (name, str(getattr(model, "name", model)), measure(task, prompt, model, options, on_progress, provider))
        for model in models
        for name, prompt in prompts.items()
    ]
    first = found[0][2]
    if not first.is_labelled:
        raise InputError("a comparison needs labels; `psopt diagnose` measures S without them")
    return [
        Contender(
            name,
            model,
            score(some, intervals=True, seed=options.seed),
            {} if some is first else compare_paired(first, some, options.seed),
        )
        for name, model, some in found
    ]
