"""How large a run is: samples, wordings, candidates, rounds; and the path along which all of them grow together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.settings import SizeOptions

_SPLITS = ("train", "val", "test")
_WORDINGS = ("rephrasings", "heldout")


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

    def at_most(self, available: Mapping[str, int]) -> Sizes:
        """The same sizes, with no more samples of a split than are available."""
        return replace(self, **{split: min(getattr(self, split), available[split]) for split in _SPLITS})


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


class _Station(NamedTuple):
    """A place on the path: samples of train, answers of one prompt on val and test, wordings, candidates, rounds."""

    train: int
    val: int
    test: int
    wordings: int
    trials: int
    rounds: int


FLOOR_TRIALS = 4
"""The baseline and three candidates: with fewer, there is no search to speak of."""
FULL = Sizes(train=500, val=500, test=10**9, rephrasings=10, heldout=10, trials=40, rounds=3)
"""The sizes if nothing is planned; all of test is used."""
# Chosen so that a task with enough samples takes about 5,000, 20,000 and 60,000 calls. Wordings begin at two, since one
# has no S, and grow more slowly than samples: for the same number of answers, two wordings of many samples have a fifth
# of the variance of all wordings of few. Each test can show a difference smaller by a third than the one before.
_STATIONS = (
    _Station(train=40, val=40 * 2, test=25 * 4, wordings=2, trials=FLOOR_TRIALS, rounds=1),
    _Station(train=100, val=150 * 3, test=120 * 3, wordings=3, trials=10, rounds=2),
    _Station(train=200, val=300 * 4, test=250 * 4, wordings=4, trials=20, rounds=3),
    _Station(train=350, val=500 * 6, test=400 * 6, wordings=6, trials=32, rounds=3),
    _Station(train=500, val=500 * 10, test=10**9 * 10, wordings=10, trials=40, rounds=3),
)
_MORE_HELDOUT = 2
"""How many more wordings test has than val: few can't show that S is no worse, and two show no scatter of S at all.

Of subsamples of 300 answers (SmolLM2, TREC), 15, 23, 27 and 31 % showed it with 3, 4, 5 and 6 wordings, and F1's
interval grew from 13 to 17 points. With minilm's five prompts, 360 answers, 82, 84, 82 and 81 % passed the whole gate.
"""
_NOTHING = Sizes(train=0, val=0, test=0, rephrasings=0, heldout=0, trials=0, rounds=0)  # before the first step
_STEPS = 40  # between two stations: about one trial each
N_STEPS = _STEPS * (len(_STATIONS) - 1)
"""How many steps there are from the smallest sizes to `FULL`."""


def path(asked: Mapping[str, int], available: Mapping[str, int]) -> tuple[Sizes, ...]:
    """The sizes from the smallest useful ones to `FULL`, step by step, with the user's own (`asked`) in their place.

    The answers per prompt grow by a constant factor from step to step, and wordings now and then, so that as many
    answers then come from fewer samples. Neither answers (samples x wordings) nor trials ever decrease. `available`
    holds the most available: samples of a split, wordings of a file.
    """
    steps = [_NOTHING]
    for number in range(N_STEPS):
        steps.append(_sizes_at(number, asked, available, steps[-1]))
    return (*steps[1:], full_sizes(asked, available))


def full_sizes(asked: Mapping[str, int], available: Mapping[str, int]) -> Sizes:
    """`FULL`, as far as available, with the user's own sizes in their place."""
    most = asked.get("rephrasings", FULL.rephrasings)
    wordings = {name: min(most, available.get(name, most)) for name in _WORDINGS}
    return replace(FULL, **{**wordings, **asked}).at_most(available)


def _sizes_at(number: int, user_sizes: Mapping[str, int], available: Mapping[str, int], before: Sizes) -> Sizes:
    station, part = divmod(number, _STEPS)
    low = _STATIONS[station]
    high = _STATIONS[station + 1]

    def between(name: str, most: int = 10**9) -> float:
        least, last = min(getattr(low, name), most), min(getattr(high, name), most)
        return float(least * (last / max(1, least)) ** (part / _STEPS)) + 1e-9

    def wordings(name: str, n_more: int = 0) -> int:
        planned = min(round(between("wordings")) + n_more, getattr(FULL, name))
        return user_sizes.get(name) or min(user_sizes.get("rephrasings", planned), available.get(name, 10**9))

    def samples(split: str, n_wordings: int, answers_before: int) -> int:
        if split in user_sizes:
            return min(user_sizes[split], available[split])
        most = min(available[split], int(getattr(FULL, split)))
        answers = int(between(split, most * FULL.rephrasings))
        return min(most, max(answers // n_wordings, -(-answers_before // n_wordings)))

    rephrasings, heldout = wordings("rephrasings"), wordings("heldout", _MORE_HELDOUT)
    return Sizes(
        train=min(user_sizes.get("train", int(between("train"))), available["train"]),
        val=samples("val", rephrasings, before.val * before.rephrasings),
        test=samples("test", heldout, before.test * before.heldout),
        rephrasings=rephrasings,
        heldout=heldout,
        trials=user_sizes.get("trials", int(between("trials"))),
        rounds=user_sizes.get("rounds", round(between("rounds"))),
    )
