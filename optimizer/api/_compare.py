"""`psopt.compare`: which prompt, or which model, is better, and is it chance?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from psopt.api._measure import measure_options, models_of, predict
from psopt.api._progress import reading
from psopt.api._prompts import prompt_for
from psopt.errors import InputError
from psopt.evaluation import compare_paired, score, verdict
from psopt.models import name_of_model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.api._prompts import AnyPrompt
    from psopt.evaluation import Scores
    from psopt.metrics import PairedDifference
    from psopt.models import OnProgress
    from psopt.runs import PromptOptions
    from psopt.search_spaces import Prompt
    from psopt.settings import MeasureOptions
    from psopt.tasks import Task


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """How a prompt fares under a model."""

    prompt: str
    model: str
    scores: Scores
    against_first: Mapping[str, PairedDifference]
    """Differences to what was measured first, by measure; empty for the first itself."""
    diversity: float | None = None
    """How much the rephrasings differ from each other, see `psopt.rephrasings.diversity`."""

    def verdict(self, measure_name: str) -> str:
        """``better``, ``worse`` or ``no difference`` than the first, at the 5 % level."""
        return verdict(measure_name, self.against_first.get(measure_name))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        differences = {
            name: {**asdict(difference), "verdict": self.verdict(name)}
            for name, difference in self.against_first.items()
        }
        measured = {**self.scores.to_dict(), "rephrasings_diversity": self.diversity}
        return {"prompt": self.prompt, "model": self.model, **measured, "against_first": differences}


def compare(
    task: Task,
    prompts: Mapping[str, AnyPrompt] | Sequence[str | Path] | None = None,
    models: Sequence[Any] | None = None,
    options: MeasureOptions | None = None,
    on_progress: OnProgress | None = None,
    *,
    model: Any = "minilm",
    prompt_options: PromptOptions | None = None,
    strategy: str = "simple",
    progress: bool | None = None,
    **settings: Any,
) -> list[ComparisonResult]:
    """Measure every prompt under every model on the same samples and rephrasings, and test each against the first.

    Prompts with different descriptions are rephrased alike, each its own description.

    Parameters
    ----------
    task : Task
        With labels.
    prompts : dict of name to Prompt or path, or sequence of paths, optional
        Prompts, their files or Python functions ``MODULE:NAME``; by default the original prompt of `strategy`.
    prompt_options : PromptOptions, optional
        How the prompts' files are read, where they don't say so themselves.
    models : sequence of str, callable, dspy.LM or Model, optional
        Several models in place of `model`.
    options : MeasureOptions, optional
        On what they are measured.
    progress : bool, optional
        Show a bar; by default in notebooks and terminals, and nowhere where there is an `on_progress`.
    **settings
        See `measure`.

    Raises
    ------
    InputError
        If there is nothing to compare, or the samples have no labels.
    """
    options = measure_options(settings, options)
    compared = _compared(task, prompts, strategy, options.seed, prompt_options)
    models = models or (model,)
    if len(compared) * len(models) < 2:
        raise InputError("there is nothing to compare: give two prompts, or two models")
    provider = models_of(options)  # the limits are those of the whole comparison
    with reading(on_progress, progress) as on_reading:
        measured = [
            (name, name_of_model(each), predict(task, prompt, each, options, provider, on_reading))
            for each in models
            for name, prompt in compared.items()
        ]
    first = measured[0][2]
    if not first.is_labelled:
        raise InputError("a comparison needs labels; `psopt diagnose` measures S without them")
    return [
        ComparisonResult(
            name,
            model_name,
            score(predictions, intervals=True, seed=options.seed),
            {} if predictions is first else compare_paired(first, predictions, options.seed),
            predictions.diversity,
        )
        for name, model_name, predictions in measured
    ]


def _compared(
    task: Task,
    prompts: Mapping[str, AnyPrompt] | Sequence[str | Path] | None,
    strategy: str,
    seed: int,
    options: PromptOptions | None,
) -> dict[str, Prompt]:
    """The prompts by name; without any, the original prompt of a strategy."""
    if not prompts:
        return {strategy: prompt_for(task, None, strategy, seed, options)}
    named = prompts if isinstance(prompts, Mapping) else {str(path): path for path in prompts}
    return {name: prompt_for(task, prompt, strategy, seed, options) for name, prompt in named.items()}
