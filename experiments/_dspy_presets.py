"""DSPy's optimizers at their own presets, each beside psopt at as many calls: who is ahead where calls are few?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import dspy
from psopt import SensitivityOptimizer

if TYPE_CHECKING:
    from collections.abc import Callable


class Size(NamedTuple):
    """How large a search of ours is: programs, wordings, and examples of train and of val."""

    trials: int
    rephrasings: int
    samples: int


_ROUNDS = 3  # of diagnosis on train: the default of `SearchOptions`, which `SensitivityOptimizer` takes
TESTED = 4  # examples that the front is scored on: the peers have no test of their own, and pay for none
_HELDOUT = 10
_MOST_TESTED = 6  # programs of the front, the baseline and the shortest
# From the least that can be compared to some thousand calls; samples grow before wordings, as in psopt's own planning.
LADDER = (
    Size(4, 2, 20),
    Size(5, 2, 30),
    Size(7, 2, 40),
    Size(9, 2, 50),
    Size(11, 2, 60),
    Size(12, 2, 80),
    Size(14, 2, 100),
    Size(16, 3, 100),
    Size(20, 3, 120),
    Size(24, 3, 160),
    Size(28, 4, 200),
)


def expected_calls(size: Size) -> int:
    """What a search asks at most: every program and every diagnosis in whole, and the test."""
    grids = size.trials + _ROUNDS + 1  # and how much each step shakes
    return grids * size.rephrasings * size.samples + _MOST_TESTED * _HELDOUT * TESTED


def size_within(limit: int) -> Size:
    """The largest search that a number of calls pays for; the least of all where none does."""
    return max((size for size in LADDER if expected_calls(size) <= limit), key=expected_calls, default=LADDER[0])


def sizes_from(limit: int) -> tuple[Size, ...]:
    """The largest search that a number of calls pays for at most, and those beyond: races ask less than the most."""
    return LADDER[LADDER.index(size_within(limit)) :]


def ours(program: Any, train: list[Any], val: list[Any], seed: int, size: Size) -> Any:
    """Search with psopt."""
    optimizer = SensitivityOptimizer(num_trials=size.trials, num_rephrasings=size.rephrasings, gate="off", seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        optimizer.log_dir = Path(folder) / "run"
        better = optimizer.compile(
            program, trainset=train[:-TESTED][: size.samples], valset=val[: size.samples], testset=train[-TESTED:]
        )
    plain = dspy.Predict(better.signature)
    plain.demos = better.demos
    return plain


def mipro(writer: Any, metric: Any, auto: Any) -> Callable[..., Any]:
    """MIPROv2 at a preset."""

    def optimize(program: Any, train: list[Any], val: list[Any], seed: int) -> Any:
        from dspy.teleprompt import MIPROv2

        # seed 0 is no seed to it
        optimizer = MIPROv2(metric, prompt_model=writer, auto=auto, num_threads=2, seed=seed + 1)
        return optimizer.compile(program, trainset=train, valset=val)

    return optimize


def gepa(writer: Any, auto: Any) -> Callable[..., Any]:
    """GEPA at a preset; its metric says which label was right, which is the feedback that it reflects on."""

    def judged(example: Any, prediction: Any, *_: Any) -> Any:
        is_right = example.label == prediction.label
        feedback = "Right." if is_right else f"Wrong: it is {example.label}, not {prediction.label}."
        return dspy.Prediction(score=float(is_right), feedback=feedback)

    def optimize(program: Any, train: list[Any], val: list[Any], seed: int) -> Any:
        from dspy.teleprompt import GEPA

        optimizer = GEPA(judged, auto=auto, reflection_lm=writer, num_threads=2, seed=seed)
        return optimizer.compile(program, trainset=train, valset=val)

    return optimize


def presets(writer: Any, metric: Any) -> dict[str, Callable[..., Any]]:
    """The peers by the name that the table has for them."""
    return {
        "MIPROv2, light": mipro(writer, metric, "light"),
        "MIPROv2, medium": mipro(writer, metric, "medium"),
        "GEPA, light": gepa(writer, "light"),
    }
