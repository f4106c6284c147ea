"""`psopt.diagnose`: where does a prompt shake?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from psopt.cache import cache_folder
from psopt.diagnosis import Diagnosis, diagnose_predictions
from psopt.measuring import MeasureOptions, measure
from psopt.metrics import na_rate, sensitivity
from psopt.models.chat import LmOptions
from psopt.na_kinds import na_examples, na_kinds
from psopt.prompts import seed_prompt
from psopt.rephrasing import RephrasingOptions
from psopt.scoring import Scores, score

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.diagnosis import Embed
    from psopt.evaluation import Predictions
    from psopt.measuring import SplitChoice
    from psopt.models._base import OnProgress
    from psopt.prompts import Prompt
    from psopt.tasks import Task


@dataclass(frozen=True, eq=False)
class PromptReport:
    """How a prompt fares on samples under rephrasings.

    Attributes
    ----------
    prompt : Prompt
    predictions : Predictions
        (N, Q): what was answered.
    sensitivity : float
        S_tau in [0, 1]; it needs no labels.
    na_rate : float
        Share of answers that name no label.
    scores : Scores or None
        F1, C and the rest, with intervals; None without labels.
    diagnosis : Diagnosis
        Weak samples, and groups of them with a topic.
    """

    prompt: Prompt
    predictions: Predictions
    sensitivity: float
    na_rate: float
    scores: Scores | None
    diagnosis: Diagnosis

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        n_samples, n_rephrasings = self.predictions.array.shape
        size = {"n_samples": n_samples, "n_rephrasings": n_rephrasings, "labelled": self.scores is not None}
        return {"prompt": self.prompt.to_dict(), **size, **self.measured(), **self.diagnosis.to_dict()}

    def measured(self) -> dict[str, Any]:
        """Return the scores as plain JSON data, without labels those that need none."""
        if self.scores is not None:
            return self.scores.to_dict()
        return {
            "sensitivity": self.sensitivity,
            "na_rate": self.na_rate,
            "na_kinds": na_kinds(self.predictions),
            "na_examples": {kind: asdict(example) for kind, example in na_examples(self.predictions).items()},
        }


def diagnose(
    task: Task,
    prompt: Prompt | None = None,
    *,
    model: Any = "minilm",
    rephrasings: int = 10,
    split: SplitChoice = "train",
    samples: int = 500,
    strategy: str = "simple",
    seed: int = 42,
    lm: LmOptions | None = None,
    words: RephrasingOptions | None = None,
    cache_dir: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> PromptReport:
    """Measure a prompt under rephrasings, and say which samples shake and what they have in common.

    Parameters
    ----------
    task : Task
    prompt : Prompt, optional
        By default the seed prompt of `strategy`.
    model : str, dspy.LM or Model
        See `load_model`; `lm` says how a language model is asked.
    words : RephrasingOptions, optional
        Where rephrasings come from, and of which families they are.
    rephrasings : int
        Q, the original among them (but on test: there they are the held-out ones).
    split : str
        ``train`` (default: what is learnt from a diagnosis must not come from val or test), ``val``, ``test`` or
        ``all``. Data without labels are one split, and used whole.
    samples : int
        At most so many samples, stratified.

    Raises
    ------
    PsoptError
        If an argument or the task can't be used.
    """
    prompt = prompt or seed_prompt(task, strategy, seed=seed)
    options = MeasureOptions(
        rephrasings, split, samples, seed, lm or LmOptions(), words or RephrasingOptions(), cache_dir
    )
    predictions = measure(task, prompt, model, options, on_progress)
    known = task.train if split == "train" else ()
    return PromptReport(
        prompt,
        predictions,
        sensitivity(predictions.p_tau),
        na_rate(predictions.counts),
        score(predictions, intervals=True, seed=seed) if predictions.is_labelled else None,
        diagnose_predictions(predictions, known=known, embed=_embedder(model, cache_dir)),
    )


def _embedder(model: Any, cache_dir: str | Path | None) -> Embed | None:
    """The embedded encoder, where it is loaded anyhow; words do for other models."""
    if model != "minilm":
        return None
    from psopt.models.minilm import Encoder

    return Encoder(cache_folder(cache_dir)).encode
