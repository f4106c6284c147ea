"""How large a run is: samples, wordings, candidates, rounds; and the path along which all of them grow together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.settings import SizeOptions


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a run."""

    # Samples: to diagnose on, to compare on, and for the final test
    train: int
    val: int
    test: int
    # Wordings: for train and val, and for test
    rephrasings: int
    heldout: int
    trials: int  # candidates in total, including the original prompt
    rounds: int  # how many times to diagnose and propose


def asked_sizes(options: SizeOptions) -> dict[str, int]:
    """The sizes that the user has set, by name in `Sizes`; `samples` is train's too, unless that has its own."""
    sizes = {
        "train": options.samples,
        "val": options.samples,
        "test": options.test_samples,
        **{name: getattr(options, name) for name in ("rephrasings", "heldout", "trials", "rounds")},
    }
    if options.train_samples is not None:
        sizes["train"] = options.train_samples
    return {name: size for name, size in sizes.items() if size is not None}


FLOOR_TRIALS = 4
"""The baseline and three candidates: with fewer, there is no search to speak of."""
_MANY = 10**9
_MOST_VAL = 500
_MOST_WORDINGS = 10
# Chosen so that a task with enough samples takes about 5,000, 20,000 and 60,000 calls. Wordings begin at two, since one
# has no S, and grow more slowly than samples: for the same number of answers, two wordings of many samples have a fifth
# of the variance of all wordings of few. Each test can show a difference smaller by a third than the one before.
# The last is what is taken if nothing is planned: all that there is, but at most 500 samples of val.
_STATIONS = {
    "train": (40, 100, 200, 350, 500),
    "val": (40 * 2, 150 * 3, 300 * 4, 500 * 6, _MANY),  # answers of one prompt: samples x wordings, as of test
    "test": (20 * 5, 120 * 3, 250 * 4, 400 * 6, _MANY),
    "wordings": (2, 3, 4, 6, _MOST_WORDINGS),
    "trials": (FLOOR_TRIALS, 10, 20, 32, 40),
    "rounds": (1, 2, 3, 3, 3),
}
_MORE_HELDOUT = 2
"""How many more wordings test has than val: few can't show that S is no worse, and two show no scatter of S at all.

Of subsamples of 300 answers (SmolLM2, TREC), 15, 23, 27 and 31 % showed it with 3, 4, 5 and 6 wordings, and F1's
interval grew from 13 to 17 points. With minilm's five prompts, 360 answers, 82, 84, 82 and 81 % passed the whole gate.
"""
_FEWEST_HELDOUT = 5
"""With fewer, S decides against prompts whose F1 is far better: see docs/decisions.md, "Five held-out wordings"."""
_NOTHING = Sizes(train=0, val=0, test=0, rephrasings=0, heldout=0, trials=0, rounds=0)  # before the first step
_STEPS = 40  # between two stations: about one trial each


def path(asked: Mapping[str, int], available: Mapping[str, int]) -> tuple[Sizes, ...]:
    """The sizes from the smallest useful ones to the full, step by step, with the user's own (`asked`) in their place.

    The answers per prompt grow by a constant factor from step to step, and wordings now and then, so that as many
    answers then come from fewer samples. Neither answers (samples x wordings) nor trials ever decrease. `available`
    holds the most available: samples of a split, wordings of a file.
    """
    steps = [_NOTHING]
    for number in range(_STEPS * (len(_STATIONS["train"]) - 1) + 1):
        steps.append(_sizes_at(number / _STEPS, asked, available, steps[-1]))
    return tuple(steps[1:])


def _sizes_at(station: float, asked: Mapping[str, int], available: Mapping[str, int], before: Sizes) -> Sizes:
    def planned(name: str, most: int = _MANY) -> float:
        sizes = [max(1, min(size, most)) for size in _STATIONS[name]]
        return float(np.exp(np.interp(station, range(len(sizes)), np.log(sizes)))) + 1e-6

    def wordings(name: str, n_planned: int) -> int:
        n_planned = min(n_planned, _MOST_WORDINGS)
        return asked.get(name) or min(asked.get("rephrasings", n_planned), available.get(name, _MANY))

    def samples(split: str, most: int, n_wordings: int, answers_before: int) -> int:
        if split in asked:
            return min(asked[split], available[split])
        most = min(available[split], most)
        answers = int(planned(split, most * max(n_wordings, _MOST_WORDINGS)))
        return min(most, max(answers // n_wordings, -(-answers_before // n_wordings)))

    n_wordings = round(planned("wordings"))
    rephrasings = wordings("rephrasings", n_wordings)
    heldout = wordings("heldout", max(_FEWEST_HELDOUT, n_wordings + _MORE_HELDOUT))
    return Sizes(
        train=min(asked.get("train", int(planned("train"))), available["train"]),
        val=samples("val", _MOST_VAL, rephrasings, before.val * before.rephrasings),
        test=samples("test", _MANY, heldout, before.test * before.heldout),
        rephrasings=rephrasings,
        heldout=heldout,
        trials=asked.get("trials", int(planned("trials"))),
        rounds=asked.get("rounds", round(planned("rounds"))),
    )
