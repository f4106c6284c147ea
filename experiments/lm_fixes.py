"""Appendices B and C on language models: weak samples of a topic, a sentence by hand, by psopt and by a writer.

    python experiments/lm_fixes.py smollm2 [gguf/PATH ..] [--writer gguf/PATH]

TREC's test questions under six wordings by people; every prompt has its label prior removed. As in `appendix_b.py` and
`appendix_c.py`, with the paper's topics and sentences; and with the topics that psopt finds by itself among the model's
own weak train samples. For these its rule's sentence replaces one by hand, and a writer's edits of that label are
added. *Automatic* is what `psopt.optimize` recommends with its defaults.

Expected: a model this small reacts less to a sentence than the paper's models do, and more to examples, which the
recommended prompt has.

Each topic is saved when it is measured and not measured again. A topic takes ten minutes on one core.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psopt
from _fixes import Fix, compared
from _lm_cells import KeptResults, lm_parser
from _lm_sets import lm_task, wordings_by_people
from _setting import rounded
from appendix_b import FIXES as OF_SENSITIVITY
from appendix_c import FIXES as OF_CONSISTENCY
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import evaluate
from psopt.models import ModelProvider
from psopt.proposals.llm import LLMProposer
from psopt.proposals.rules._notes import note_text
from psopt.rephrasings import rephrasings_for
from psopt.search_spaces import CALIBRATE, apply_edits, seed_prompt
from psopt.tasks import subset
from psopt.text import shows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.diagnosis import Diagnosis
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Edit, Prompt, View
    from psopt.tasks import Task

_DATASET, _SEED = "trec", 0
_N_WORDINGS = 6  # by people
_DIAGNOSED = (120, 3)  # train samples and rephrasings
_N_FOUND = 2  # topics per view
_FOUND = "found: "  # what the names of such topics begin with
_PUBLISHED: dict[View, tuple[Fix, ...]] = {"sensitivity": OF_SENSITIVITY, "consistency": OF_CONSISTENCY}
_RESULTS: dict[View, str] = {"sensitivity": "lm_appendix_b", "consistency": "lm_appendix_c"}


def main() -> None:
    """Measure the missing topics."""
    parser = lm_parser(__doc__, (_DATASET,))
    parser.add_argument("--writer", default="", help="the model that writes edits for the topics that psopt finds")
    words = parser.parse_args()
    task = lm_task(_DATASET, words.data)
    setting = f"{len(task.test)} test questions of TREC under {_N_WORDINGS} wordings by people, calibrated; seed 0."
    wordings = wordings_by_people(_DATASET, words.data, _N_WORDINGS)
    for name in words.models:
        model = _Model(name, task, wordings, words.writer)
        for view, file in _RESULTS.items():
            kept = KeptResults(words.results, file, "fixes", setting)
            for fix, by_writer in model.fixes(view):
                cell = {"model": Path(name).stem, "topic": fix.topic, "seed": _SEED}
                kept.measure(cell, model.measured, view, fix, by_writer)


class _Model:
    """A model, its answers to prompts, and where its original prompt is weak."""

    def __init__(self, name: str, task: Task, wordings: list[str], writer: str) -> None:
        self._name, self._task, self._wordings, self._writer = name, task, wordings, writer
        self._models = ModelProvider()
        self._answering = self._models.answering(name, task)
        self._original = apply_edits(seed_prompt(task), [CALIBRATE])
        self._answers: dict[str, Predictions] = {}

    def fixes(self, view: View) -> Iterator[tuple[Fix, Sequence[Edit]]]:
        """The paper's topics, then those that psopt finds; the latter with a writer's edits."""
        for fix in _PUBLISHED[view]:
            yield fix, ()
        diagnosis, written = self._diagnosed
        groups = [group for group in diagnosis.slices if group.view == view and group.label and group.phrases]
        for group in groups[:_N_FOUND]:
            phrases, label = group.phrases, str(group.label)
            yield (
                Fix(
                    topic=f"{_FOUND}{group.topic}",
                    label=label,
                    sentence=note_text(self._task.noun, phrases, label),
                    belongs=lambda sample, phrases=phrases: any(shows(sample.text, phrase) for phrase in phrases),
                ),
                [edit for edit in written if edit.label == label],
            )

    def measured(self, view: View, fix: Fix, by_writer: Sequence[Edit]) -> dict[str, Any]:
        """The topic's weakest samples under the original prompt, and how they fare under the others."""
        recommended = self._recommended
        prompts = {
            "before": self._original,
            "placebo": replace(self._original, notes=(fix.placebo,)),
            "by rule" if fix.topic.startswith(_FOUND) else "by hand": replace(self._original, notes=(fix.sentence,)),
            "automatic": recommended,
            "its notes alone": replace(self._original, notes=recommended.notes),
            "its examples alone": replace(self._original, examples=recommended.examples),
        }
        if by_writer:
            prompts["by a writer"] = apply_edits(self._original, by_writer)
        row = compared(fix, view, {kind: self._answers_to(prompt) for kind, prompt in prompts.items()})
        about = {"dataset": _DATASET, "rephrasings": len(self._wordings), "written": [edit.text for edit in by_writer]}
        return rounded({**about, **row})  # type: ignore[no-any-return]

    def _answers_to(self, prompt: Prompt) -> Predictions:
        if prompt.id not in self._answers:
            self._answers[prompt.id] = evaluate(self._answering, prompt, self._wordings, self._task.test)
        return self._answers[prompt.id]

    @cached_property
    def _diagnosed(self) -> tuple[Diagnosis, Sequence[Edit]]:
        """Where the original prompt is weak on train, by every view, and the edits that a writer drafts for it."""
        n_samples, n_rephrasings = _DIAGNOSED
        rephrasings = rephrasings_for(self._task).search[:n_rephrasings]
        train = evaluate(self._answering, self._original, rephrasings, subset(self._task.train, n_samples, seed=_SEED))
        diagnosis = diagnose_predictions(train, labelled=self._task.train)
        if not self._writer:
            return diagnosis, ()
        proposer = LLMProposer(self._models.writer(self._writer))
        return diagnosis, proposer.propose(self._task, self._original, train, diagnosis)

    @cached_property
    def _recommended(self) -> Prompt:
        with tempfile.TemporaryDirectory() as folder:
            run = psopt.optimize(self._task, model=self._name, seed=_SEED, out=Path(folder) / "run")
        return run.recommended.prompt


if __name__ == "__main__":
    main()
