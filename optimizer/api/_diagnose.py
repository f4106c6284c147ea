"""`psopt.diagnose`: where is a prompt unstable?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.api._measure import measure_options, model_for, predict_again
from psopt.api._progress import reading
from psopt.api._prompts import AnyPrompt, prompt_for
from psopt.diagnosis import PromptReport, diagnose_predictions, find_suspects
from psopt.evaluation import score
from psopt.models import ModelProvider, OnProgress
from psopt.report import diagnosis_figure
from psopt.settings import MeasureOptions, PromptOptions
from psopt.tasks import Task, as_task

if TYPE_CHECKING:
    from pathlib import Path


def diagnose(
    task: Task | str | Path,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = None,
    prompt_options: PromptOptions | None = None,
    strategy: str = "simple",
    options: MeasureOptions | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> PromptReport:
    """Measure a prompt under rephrasings, and say which samples are unstable and what they have in common.

    Parameters
    ----------
    task : Task, or str or path
        A data set's name or file is loaded as `load_task` does.
    options : MeasureOptions, optional
        What it is measured on; train, unless they or the keywords say otherwise: what is learnt from a diagnosis must
        not come from val or test.
    prompt, model, prompt_options, strategy, on_progress, progress, **settings
        See `measure`.

    Raises
    ------
    PsoptError
        If an argument or the task can't be used.
    """
    task = as_task(task)
    model, options = model_for([prompt], model, options or MeasureOptions(split="train"), prompt_options)
    options = measure_options(settings, options)
    diagnosed = prompt_for(task, prompt, strategy, options.seed, prompt_options)
    models = ModelProvider(options.cache_dir, options.lm)
    with reading(on_progress, progress) as on_reading:
        predictions, reruns = predict_again(task, diagnosed, model, options, models, on_reading)
    labelled = task.train if options.split == "train" else ()
    return PromptReport(
        diagnosed,
        predictions,
        float(predictions.sensitivities.mean()),
        predictions.na_rate,
        score(predictions, intervals=True) if predictions.is_labelled else None,
        diagnose_predictions(predictions, labelled=labelled),
        diagnosis_figure,
        find_suspects(predictions, labelled=labelled),
        reruns,
    )
