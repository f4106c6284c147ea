"""Does an exported prompt give the answers that its run had?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import InputError
from psopt.evaluation import evaluate
from psopt.models import ModelProvider, capabilities_of
from psopt.runs import MANIFEST, RunSettings, asks_the_same, read_answers, read_back
from psopt.tasks import LABEL, fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from psopt.models.chat import Usage
    from psopt.runs import RunDirectory, WrittenPrompt
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task


@dataclass(frozen=True, slots=True)
class OtherAnswer:
    """A sample that is answered otherwise through the exported text: its id, the run's answer, and the one now."""

    sample: str
    before: str
    now: str


@dataclass(frozen=True, eq=False)
class Verification:
    """How answers through an exported text compare with those of the run.

    Attributes
    ----------
    n : int
        How many were compared.
    others : tuple of OtherAnswer
        Those that differ.
    same_requests : bool
        Whether what is sent about these samples is the same to the last byte.
    usage : Usage
        What was asked for that.
    """

    n: int
    others: tuple[OtherAnswer, ...]
    same_requests: bool
    usage: Usage

    @property
    def holds(self) -> bool:
        """Whether all answers are the run's."""
        return not self.others

    @property
    def line(self) -> str:
        """What came out, and what it cost."""
        cost = f", {self.usage.cost:.2g} USD" if self.usage.cost else ""
        asked = f"{self.usage.made:,} asked for, {self.usage.cached:,} known already{cost}"
        return f"reproduces {self.n - len(self.others)} of {self.n} answers ({asked})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        others = [{"id": other.sample, "before": other.before, "now": other.now} for other in self.others]
        calls = {"made": self.usage.made, "cached": self.usage.cached, "cost_usd": round(self.usage.cost, 6)}
        return {"asked": self.n, "reproduced": self.n - len(others), "others": others, "calls": calls}


def verify_written(
    directory: RunDirectory,
    prompt: Prompt,
    written: WrittenPrompt,
    n: int,
    task: Task | None = None,
    cache_dir: str | Path | None = None,
    lm_changes: Mapping[str, Any] | None = None,
) -> Verification:
    """Ask about some of a run's val samples through the text of an exported prompt, and compare with the run's answers.

    The text is read as somebody would read it who has nothing but the file. Where it asks the same to the last byte,
    the run's own prompt is asked: so that models which read a prompt's parts rather than its text can be asked too.

    Raises InputError if the data, the run's answers or its model are not at hand. Raises BudgetReachedError if a limit
    is reached.
    """
    settings = RunSettings.from_dict(directory.read_json(MANIFEST)["settings"])
    _check_model(settings)
    known = read_answers(directory, prompt.id)
    task = task or _data(settings)
    samples = _spread([sample for sample in task.val if sample.id in known], n)
    if not samples:
        raise InputError(f"--verify: none of the samples that {directory.path} was measured on is in its data any more")
    texts = [sample.text for sample in samples]
    reread = read_back(prompt, written, list(fields_of(texts[0])))
    is_same = asks_the_same(prompt, reread, texts)
    models = ModelProvider(cache_dir, settings.lm.changed(**lm_changes or {}))
    model = models.answering(settings.model, task)
    asked = prompt if is_same else reread
    soft = settings.lm.logprobs and asked.asks == LABEL
    predictions = evaluate(model, asked, (asked.description,), samples, from_probabilities=soft)
    usage = models.budget.usage
    if not capabilities_of(model).counts_calls:
        usage.made += len(samples)
    first = predictions.array[:, 0].tolist()
    answers = {sample.id: predictions.name_of(answer) for sample, answer in zip(samples, first, strict=True)}
    others = [OtherAnswer(name, known[name], answer) for name, answer in answers.items() if answer != known[name]]
    return Verification(len(samples), tuple(others), is_same, usage)


def _check_model(settings: RunSettings) -> None:
    if settings.program:
        raise InputError("--verify can't ask a DSPy program through a text: load its state and evaluate it with dspy")
    if settings.own_model:
        raise InputError(
            f"--verify can't ask the run's model, an object in Python ({settings.model}) that no name loads"
        )


def _data(settings: RunSettings) -> Task:
    try:
        return settings.load_task()
    except InputError as error:
        raise InputError(f"--verify needs the data of the run, which are not at hand: {error}") from error


def _spread(samples: Sequence[Sample], n: int) -> list[Sample]:
    """So many of them, from first to last at equal distances: data are often sorted by class."""
    if not samples:
        return []
    places = np.linspace(0, len(samples) - 1, min(n, len(samples))).round().astype(int)
    return [samples[place] for place in dict.fromkeys(places.tolist())]
