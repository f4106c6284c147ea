"""How far does the form alone move a language model's F1, and how do calibration and psopt change that?

    python experiments/lm_formats.py smollm2 [gguf/PATH ..] [--sets trec ..] [--run FOLDER]

FormatSpread (Sclar et al. 2024): the wording stays, and the same prompt is written in 20 equivalent forms, such as
``Question: .. Label:`` and ``QUESTION - .. LABEL -``: the case of field names, what follows them, and what separates
fields. Spread is F1 of the best form minus that of the worst; S is over forms instead of wordings. Val samples
(`_lm_sets.enough`); the first form is psopt's own, the others are drawn with seed 0 from all that `_forms` makes.
`--run` adds the prompt that a run on the same data set recommends, recalibrated under each form.

The spread of F1 over forms includes chance, but all forms have the same samples, so only answers differ.

Expected: formats alone move F1 by tens of points; calibration and examples take most of that away.

Each cell is saved when it is done and not measured again.
"""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psopt
from _lm_cells import KeptResults, figures_of, lm_parser
from _lm_rules import ASKED, answers_by_prior, label_scoring
from _lm_sets import drawn_texts, lm_task
from prosa import with_shots
from psopt.search_spaces import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.search_spaces import Messages, Prompt
    from psopt.tasks import Task

_N_FORMS, _N_HELD, _N_PRIOR = 20, 50, 30
_CASES: tuple[Callable[[str], str], ...] = (str.title, str.upper, str.lower)
_BEHIND_NAMES = (": ", " : ", " - ", ":: ", " = ", " -> ", "| ", ":\n")
_BETWEEN_FIELDS = ("\n", "\n\n", " || ", " ", " <sep> ", "\n---\n")


@dataclass(frozen=True)
class _Form:
    """How field names are written, what follows them, and what separates fields."""

    cased: Callable[[str], str]
    behind_names: str
    between_fields: str

    @property
    def asked(self) -> str:
        """The end of a turn, which asks for the label."""
        return f"{self.between_fields}{self.cased('Label')}{self.behind_names}".rstrip()

    def written(self, messages: Messages, noun: str) -> Messages:
        """The same messages in this form; psopt's own are ``Noun: .. Label:``."""
        name = f"{noun.capitalize()}: "
        own_name = f"{self.cased(noun)}{self.behind_names}"
        turns = []
        for message in messages:
            content = message["content"]
            if content.endswith(ASKED):
                before, _, text = content.removesuffix(ASKED).rpartition(name)
                content = f"{before}{own_name}{text}{self.asked}"
            turns.append({**message, "content": content})
        return turns


def _forms() -> list[_Form]:
    every = [_Form(*parts) for parts in itertools.product(_CASES, _BEHIND_NAMES, _BETWEEN_FIELDS)]
    return [every[0], *random.Random(0).sample(every[1:], _N_FORMS - 1)]  # noqa: S311


def main() -> None:
    """Measure the missing cells."""
    parser = lm_parser(__doc__, ("trec", "messages"))
    parser.add_argument("--run", type=Path, help="the folder of a run on the data set")
    words = parser.parse_args()
    setting = f"At most {_N_HELD} val samples, {_N_FORMS} forms, priors on {_N_PRIOR} train texts, seed 0."
    kept = KeptResults(words.results, "lm_formats", "cells", setting)
    for name in words.models:
        for dataset in words.sets:
            task = lm_task(dataset, words.data)
            prompts = {"simple": with_shots(task, 0, seed=0), "1-shot": with_shots(task, 1, seed=0)}
            if words.run:
                prompts["recommended"] = psopt.load_run(words.run).recommended.prompt
            for kind, prompt in prompts.items():
                cell = {"model": Path(name).stem, "dataset": dataset, "prompt": kind}
                kept.measure(cell, _measured, name, task, prompt)


def _measured(name: str, task: Task, prompt: Prompt) -> dict[str, Any]:
    started = time.monotonic()
    held, unlabelled, truth = drawn_texts(task, _N_HELD, _N_PRIOR)
    scored = label_scoring(name, task)
    conversations = [render(prompt, sample.text) for sample in (*held, *unlabelled)]
    columns: dict[str, list[Any]] = {"none": [], "batch": []}
    for form in _forms():
        likelihoods = scored([form.written(messages, task.noun) for messages in conversations], form.asked)
        for prior, column in answers_by_prior(likelihoods, len(held)).items():
            columns[prior].append(column)
    figures = {}
    for prior, by_form in columns.items():
        grid = np.stack(by_form, axis=1)
        of_forms = (grid == truth[:, None]).mean(axis=0)
        f1, sensitivity, _ = figures_of(grid, truth, task)
        figures[prior] = {
            "f1": f1,
            "sensitivity": sensitivity,
            "own_form": round(float(of_forms[0]), 3),
            "worst": round(float(of_forms.min()), 3),
            "best": round(float(of_forms.max()), 3),
        }
    return {"n": len(held), "forms": _N_FORMS, **figures, "seconds": round(time.monotonic() - started)}


if __name__ == "__main__":
    main()
