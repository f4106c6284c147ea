"""`psopt.compare`: which prompt, or which model, is better, and is it chance?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.api._measure import measurements
from psopt.api._progress import reading
from psopt.api._setup import each_model
from psopt.errors import InputError, import_extra
from psopt.evaluation import OBJECTIVES, Predictions, Scores, compare_paired, measure_names, score, verdict
from psopt.models import OnProgress, name_of_model
from psopt.report import compared_figure
from psopt.text import latex_table, markdown_table

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from psopt.api._prompts import AnyPrompt
    from psopt.metrics import PairedDifference
    from psopt.settings import MeasureOptions, PromptOptions
    from psopt.tasks import Task


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """How a prompt does with a model."""

    prompt: str
    model: str
    scores: Scores
    against_first: Mapping[str, PairedDifference]
    """Differences from what was measured first, by measure; empty for the first itself."""
    diversity: float | None = None
    """How much the rephrasings differ from each other, see `psopt.rephrasings.diversity`."""
    predictions: Predictions | None = None
    """The answers, (N, Q), with samples and rephrasings."""

    def verdict(self, measure_name: str) -> str:
        """``better``, ``worse`` or ``no difference``, compared with the first at the 5 % level."""
        return verdict(measure_name, self.against_first.get(measure_name))

    def to_row(self) -> dict[str, Any]:
        """Return it as a row of `Comparison.to_frame`."""
        row: dict[str, Any] = {"prompt": self.prompt, "model": self.model}
        for name in (*OBJECTIVES, "pss"):
            if (value := getattr(self.scores, name)) is not None:
                row[name] = value
            if name in self.scores.ci:
                row[f"{name}_low"], row[f"{name}_high"] = self.scores.ci[name]
        for name, difference in self.against_first.items():
            row |= {f"{name}_difference": difference.difference, f"{name}_p": difference.p_value}
        return row

    def in_percent(self) -> dict[str, str]:
        """Return it as a row of `Comparison.in_percent`."""
        row = {"prompt": self.prompt, "model": self.model}
        for name, title in measure_names(self.scores.quality_name).items():
            value = getattr(self.scores, name)
            if value is not None:
                low, high = (f"{100 * bound:.0f}" for bound in self.scores.ci[name])
                row[title] = f"{100 * value:.1f} ({low}–{high})"
        if self.scores.pss is not None:
            row["PSS"] = f"{100 * self.scores.pss:.1f}"
        return {**row, "N": str(self.scores.n_samples), "Q": str(self.scores.n_rephrasings)}

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        differences = {
            name: {**asdict(difference), "verdict": self.verdict(name)}
            for name, difference in self.against_first.items()
        }
        measured = {**self.scores.to_dict(), "rephrasings_diversity": self.diversity}
        return {"prompt": self.prompt, "model": self.model, **measured, "against_first": differences}


class Comparison(list[ComparisonResult]):
    """What `compare` has measured: model by model, in the order of the prompts."""

    def to_frame(self) -> pd.DataFrame:
        """One row per prompt and model: F1, S, C in [0, 1] with 95 % intervals, PSS, differences from the first."""
        pandas = import_extra("pandas", "Comparison.to_frame()", "pandas")
        return pandas.DataFrame([result.to_row() for result in self])

    def in_percent(self) -> list[dict[str, str]]:
        """One row per prompt and model, for people: measures in percent with their intervals, N samples, Q wordings."""
        return [result.in_percent() for result in self]

    def to_markdown(self) -> str:
        """The table in percent, for a README or an issue."""
        return markdown_table(self.in_percent())

    def to_latex(self) -> str:
        """The table in percent, for a paper: a `tabular` with booktabs' rules."""
        return latex_table(self.in_percent())

    def figure(self) -> go.Figure:
        """F1 against S in one plot, with intervals: one point per prompt and model."""
        measured = {f"{result.prompt}, {result.model}": result.scores.to_dict() for result in self}
        return compared_figure(measured, self[0].scores.quality_name).plot


def compare(
    task: Task | str | Path,
    prompts: Mapping[str, AnyPrompt] | Sequence[str | Path] | None = None,
    models: Sequence[Any] | None = None,
    options: MeasureOptions | None = None,
    on_progress: OnProgress | None = None,
    *,
    model: Any = None,
    prompt_options: PromptOptions | None = None,
    strategy: str = "simple",
    progress: bool | None = None,
    **settings: Any,
) -> Comparison:
    """Measure every prompt with every model on the same samples and rephrasings, and test each against the first.

    Prompts with different descriptions are rephrased in the same way, each from its own description.

    Raises InputError if there is nothing to compare, or the samples have no labels.

    Parameters
    ----------
    task : Task, or str or path
        It needs labels; see `measure`.
    prompts : dict of name to Prompt or path, or sequence of paths, optional
        Prompts, their files or Python functions ``MODULE:NAME``; by default the original prompt of `strategy`.
    models : sequence of str, callable, dspy.LM or Model, optional
        Several models instead of `model`.
    options, on_progress, model, prompt_options, strategy, progress, **settings
        See `measure`.
    """
    if isinstance(prompts, (str, Path)):
        prompts = [prompts]
    named: Mapping[str, Any] = {strategy: None}
    if prompts:
        named = prompts if isinstance(prompts, Mapping) else {str(path): path for path in prompts}
    measured, model = measurements(task, named.values(), models or model, options, settings, strategy, prompt_options)
    compared = dict(zip(named, measured, strict=True))
    models = each_model(model)
    if len(compared) * len(models) < 2:
        raise InputError(
            "there is nothing to compare: give two different prompts, or two models (--model and --model2, models=[..])"
        )
    with reading(on_progress, progress) as on_reading:
        answered = [
            (name, name_of_model(each), measurement.predict(each, on_reading))
            for each, (name, measurement) in product(models, compared.items())
        ]
    first = answered[0][2]
    if not first.is_labelled:
        raise InputError("a comparison needs labels; `psopt diagnose` measures S without them")
    return Comparison(
        ComparisonResult(
            name,
            model_name,
            score(predictions, intervals=True),
            {} if predictions is first else compare_paired(first, predictions),
            predictions.diversity,
            predictions,
        )
        for name, model_name, predictions in answered
    )
