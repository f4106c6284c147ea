"""How many of the edits that a model drafts pass the checks?

    python experiments/drafts.py gguf/PATH [gguf/PATH ..] [--sets trec ..]

A first round of drafts, as a search asks for it: notes on the groups that the original prompt fails, definitions of the
weakest labels, and of all labels. SmolLM2 has answered, on train under two rephrasings by rule. A draft that is refused
is requested once more, with the reason. *At once*: the share of drafts that pass; *in the end*: that of requests that
have an edit. Repeats of other edits are counted separately: nothing is wrong with them.

Expected: half of the drafts pass on each set with a model of 1.5 billion parameters, fewer with one of 0.5 billion.
Each cell is saved when it is done and not measured again. On one core a writer of 1.5 billion takes 5 minutes per set.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _lm_cells import KeptResults, lm_parser
from _lm_sets import lm_task
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import evaluate
from psopt.models import ModelProvider
from psopt.proposals.llm import LLMProposer
from psopt.rephrasings import rephrasings_for
from psopt.search_spaces import seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from psopt.models.chat import Writer

_N_TRAIN, _N_WORDINGS = 60, 2
# How refusals begin, and the name that they are counted under
REASONS = {
    "copies a sample": "copies a sample",
    "repeats the request": "repeats the request",
    "a duplicate": "repeat",
    "is about what another": "repeat",
    "is no JSON": "form",
    "is JSON without": "form",
    "quotes": "quotes no sign",
    "says nothing": "says nothing",
    "invents": "invents a label",
}


class Counting:
    """A writer that counts what it is asked."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.name = writer.name
        self.asked: list[int] = []

    def write(self, conversations: Any, **options: Any) -> list[str]:
        """See `Writer.write`."""
        self.asked.append(len(conversations))
        drafts: list[str] = self._writer.write(conversations, **options)
        return drafts


def main() -> None:
    """Measure the missing cells."""
    words = lm_parser(__doc__).parse_args()
    setting = f"{_N_TRAIN} train samples, {_N_WORDINGS} rephrasings by rule, answered by SmolLM2; seed 0."
    kept = KeptResults(words.results, "drafts", "cells", setting)
    for writer in words.models:
        for dataset in words.sets:
            cell = {"writer": Path(writer).stem, "dataset": dataset}
            kept.measure(cell, _measured, writer, dataset, words.data)


def _measured(writer: str, dataset: str, data: Path) -> dict[str, Any]:
    started = time.monotonic()
    task = lm_task(dataset, data)
    models = ModelProvider()
    prompt = seed_prompt(task)
    samples = subset(task.train, _N_TRAIN, seed=0)
    rephrasings = rephrasings_for(task).search[:_N_WORDINGS]
    predictions = evaluate(models.answering("smollm2", task), prompt, rephrasings, samples)
    counting = Counting(models.writer(writer))
    proposer = LLMProposer(counting)  # type: ignore[arg-type]
    diagnosis = diagnose_predictions(predictions, labelled=task.train)
    edits = proposer.propose(task, prompt, predictions, diagnosis)
    for edit in edits:
        print("  +", edit.label, "|", edit.text, flush=True)
    for refused in proposer.refused:
        print("  -", refused.reason, "|", refused.written, flush=True)
    drafts = [refused for refused in proposer.refused if refused.reason != proposer.unfit]
    n_first, n_second = counting.asked[0], sum(counting.asked[1:])
    n_refused_later = len(drafts) - n_second  # what was refused the first time was requested again
    return {
        "n_requests": n_first,
        "n_passed_at_once": n_first - n_second,
        "n_passed": n_first - n_refused_later,
        "refused": dict(Counter(_reason(refused.reason) for refused in drafts)),
        "n_edits": len(edits),
        "is_fit": not proposer.unfit,
        "seconds": round(time.monotonic() - started),
    }


def _reason(said: str) -> str:
    return next((kind for start, kind in REASONS.items() if start in said), "other")


if __name__ == "__main__":
    main()
