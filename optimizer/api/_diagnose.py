"""`psopt.diagnose`: where does a prompt shake?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.api._drawing import draw_diagnosis
from psopt.api._measure import measure_options, predict
from psopt.api._progress import reading
from psopt.api._prompts import prompt_for
from psopt.diagnosis import PromptReport, diagnose_predictions, find_suspects
from psopt.evaluation import score

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.api._measure import SplitChoice
    from psopt.api._prompts import AnyPrompt
    from psopt.models import OnProgress
    from psopt.models.chat import LMConfig
    from psopt.rephrasings import RephrasingOptions
    from psopt.runs import PromptOptions
    from psopt.tasks import Task


def diagnose(
    task: Task,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = "minilm",
    prompt_options: PromptOptions | None = None,
    rephrasings: int = 10,
    rephrasing: RephrasingOptions | None = None,
    split: SplitChoice = "train",
    samples: int = 500,
    strategy: str = "simple",
    seed: int = 42,
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
) -> PromptReport:
    """Measure a prompt under rephrasings, and say which samples shake and what they have in common.

    Parameters
    ----------
    task : Task
    prompt : Prompt, path, str or list of messages, optional
        A prompt, its file, a Python function ``MODULE:NAME``, a text with a line break or a brace, or chat messages; by
        default the seed prompt of `strategy`.
    prompt_options : PromptOptions, optional
        How a prompt's file is read, where it does not say so itself.
    model : str, callable, dspy.LM or Model
        A name, or a model that is made already; `lm` says how a language model is asked.
    rephrasings : int
        Q, the original among them (but on test: there they are the held-out ones).
    rephrasing : RephrasingOptions, optional
        Where rephrasings come from, and of which families they are.
    split : str
        ``train`` (default: what is learnt from a diagnosis must not come from val or test), ``val``, ``test`` or
        ``all``. Data without labels are one split, and used whole.
    samples : int
        At most so many samples, stratified.
    progress : bool, optional
        Show a bar; by default in notebooks and terminals, and nowhere where there is an `on_progress`.

    Raises
    ------
    PsoptError
        If an argument or the task can't be used.
    """
    diagnosed = prompt_for(task, prompt, strategy, seed, prompt_options)
    options = measure_options(rephrasings, split, samples, seed, lm, rephrasing, cache_dir)
    models = options.models()
    with reading(on_progress, progress) as on_reading:
        predictions = predict(task, diagnosed, model, options, models, on_reading)
    # The encoder tells more than words do, where it is loaded anyhow.
    embed = models.encoder.encode if model == "minilm" else None
    labelled = task.train if split == "train" else ()
    return PromptReport(
        diagnosed,
        predictions,
        float(predictions.sensitivities.mean()),
        predictions.na_rate,
        score(predictions, intervals=True, seed=seed) if predictions.is_labelled else None,
        diagnose_predictions(predictions, labelled=labelled, embed=embed),
        draw_diagnosis,
        find_suspects(predictions, labelled=labelled),
    )
