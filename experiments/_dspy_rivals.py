"""DSPy's optimizers, each within a number of calls of the program's language model."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import dspy
import numpy as np
from psopt import SensitivityOptimizer
from psopt.rephrasings import rephrase_by_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    Optimize = Callable[["Field"], Any]

THREADS = 2
_SHOTS = 4  # demonstrations that MIPROv2 and BootstrapFewShotWithRandomSearch draw: their defaults
_BREADTH = 10  # COPRO's default
_COPRO_RECURSION = 50_000  # each of its candidates wraps the signature of the one before
_BATCH, _CANDIDATES = 32, 6  # SIMBA's defaults
_WORDINGS = 5  # under which GEPA is given S and C


class Field:
    """What an optimizer works with: a program, its examples, a language model that writes, and a number of calls."""

    def __init__(
        self, program: Any, train: list[Any], val: list[Any], *, writer: Callable[..., Any], calls: int, seed: int
    ) -> None:
        self.program = program
        self.train = train
        self.val = val
        self.writer = writer
        self.calls = calls
        self.seed = seed


def right(example: Any, prediction: Any, trace: Any = None) -> bool:  # noqa: ARG001  # DSPy calls it with three
    """DSPy's metric: one example at a time."""
    return bool(example.label == prediction.label)


def _psopt(field: Field) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        optimizer = SensitivityOptimizer(max_calls=field.calls, seed=field.seed, log_dir=Path(folder) / "run")
        return optimizer.compile(field.program, trainset=field.train, valset=field.val)


def _random_search(field: Field) -> Any:
    from dspy.teleprompt import BootstrapFewShotWithRandomSearch

    # Three programs come before the candidates (none, labelled, bootstrapped), and each asks about the train examples
    # that its demonstrations come from: a few calls, since it stops once enough are right.
    n_candidates = max(1, field.calls // (len(field.val) + 2 * _SHOTS) - 3)
    optimizer = BootstrapFewShotWithRandomSearch(right, num_candidate_programs=n_candidates, num_threads=THREADS)
    return optimizer.compile(field.program, trainset=field.train, valset=field.val)


def _mipro(field: Field, shots: int) -> Any:
    from dspy.teleprompt import MIPROv2

    optimizer = MIPROv2(
        right,
        prompt_model=field.writer(),
        auto=None,
        num_candidates=10,
        num_threads=THREADS,
        seed=field.seed + 1,  # it does not take 0 as a seed
        max_bootstrapped_demos=shots,
        max_labeled_demos=shots,
    )
    n_trials = max(1, field.calls // len(field.val) - 2)
    return optimizer.compile(
        field.program, trainset=field.train, valset=field.val, num_trials=n_trials, minibatch=False
    )


def _gepa(field: Field) -> Any:
    from dspy.teleprompt import GEPA

    def judged(example: Any, prediction: Any, *_: Any) -> Any:
        is_right = right(example, prediction)
        return dspy.Prediction(score=float(is_right), feedback=_feedback(example, prediction.label, is_right=is_right))

    optimizer = GEPA(
        judged, max_metric_calls=field.calls, reflection_lm=field.writer(), num_threads=THREADS, seed=field.seed
    )
    return optimizer.compile(field.program, trainset=field.train, valset=field.val)


def _gepa_of_wordings(field: Field) -> Any:
    """GEPA on a program that answers under several wordings: the objectives are how right, stable and alike."""
    from dspy.teleprompt import GEPA

    own = field.program.signature
    noun = next(iter(own.input_fields))
    n_labels = len(get_args(own.output_fields["label"].annotation))
    wordings = list(rephrase_by_rules(own.instructions, noun, _WORDINGS, seed=field.seed).search)

    def judged(example: Any, prediction: Any, *_: Any) -> Any:
        answers = prediction.answers
        counts = np.array([answers.count(answer) for answer in dict.fromkeys(answers)]) / len(answers)
        entropy = float(-(counts * np.log(counts)).sum() / np.log(n_labels))
        share = answers.count(example.label) / len(answers)
        objectives = {"right": share, "insensitive": 1 - entropy, "consistent": float((counts**2).sum())}
        return dspy.Prediction(
            score=float(np.mean(list(objectives.values()))),
            feedback=_feedback(example, max(answers, key=answers.count), is_right=share == 1),
            objective_scores=objectives,
        )

    optimizer = GEPA(
        judged,
        max_metric_calls=field.calls // _WORDINGS,
        reflection_lm=field.writer(),
        num_threads=THREADS,
        seed=field.seed,
        gepa_kwargs={"frontier_type": "hybrid"},
    )
    best = optimizer.compile(_UnderWordings(field.program, wordings), trainset=field.train, valset=field.val)
    return best.predict


def _copro(field: Field) -> Any:
    from dspy.teleprompt import COPRO

    depth = max(1, field.calls // (_BREADTH * len(field.val)))
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _COPRO_RECURSION))
    optimizer = COPRO(prompt_model=field.writer(), metric=right, breadth=_BREADTH, depth=depth)
    options = {"num_threads": THREADS, "display_progress": False, "display_table": 0}
    return optimizer.compile(field.program, trainset=field.val, eval_kwargs=options)  # it knows only one set


def _simba(field: Field) -> Any:
    from dspy.teleprompt import SIMBA

    examples = field.train + field.val
    n_steps = max(n for n in range(1, 1 + field.calls) if n == 1 or _calls_of_simba(n, len(examples)) <= field.calls)
    optimizer = SIMBA(
        metric=right,
        bsize=_BATCH,
        num_candidates=_CANDIDATES,
        max_steps=n_steps,
        prompt_model=field.writer(),
        num_threads=THREADS,
    )
    return optimizer.compile(field.program, trainset=examples, seed=field.seed)


def _calls_of_simba(n_steps: int, n_examples: int) -> int:
    """A step asks each candidate about a batch twice; at the end the winners of steps are asked about everything."""
    return n_steps * _BATCH * (2 * _CANDIDATES + 1) + min(n_steps + 1, _CANDIDATES + 1) * n_examples


OPTIMIZERS: dict[str, Optimize] = {
    "SensitivityOptimizer": _psopt,
    "BootstrapFewShotWithRandomSearch": _random_search,
    "MIPROv2, zero-shot": lambda field: _mipro(field, 0),
    "MIPROv2, few-shot": lambda field: _mipro(field, _SHOTS),
    "GEPA": _gepa,
    "GEPA given S and C": _gepa_of_wordings,
    "COPRO": _copro,
    "SIMBA": _simba,
}
"""By their names in the table."""


class _UnderWordings(dspy.Module):  # type: ignore[misc]  # dspy has no types
    """A step that is asked under several wordings of its first instructions; what was added to them stays."""

    def __init__(self, predict: Any, wordings: list[str]) -> None:
        super().__init__()
        self.predict = predict.deepcopy()
        self.wordings = wordings

    def forward(self, **inputs: Any) -> Any:
        first, *others = self.wordings
        own = self.predict.signature
        answers = [self.predict(**inputs).label]
        for wording in others:
            other = own.with_instructions(own.instructions.replace(first, wording))
            answers.append(self.predict(**inputs, signature=other).label)
        return dspy.Prediction(answers=answers)


def _feedback(example: Any, answer: str, *, is_right: bool) -> str:
    return "Right." if is_right else f"Wrong: it is {example.label}, not {answer}."
