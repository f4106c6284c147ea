"""A cell of `promise.py`: one population, one sample size, many runs of choosing on val and gating on test."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from _promise_population import LABELS, N_EDITS, Draw, Population, true_scores
from psopt.metrics import consistency, micro_f1, prediction_counts, sample_sensitivity, sensitivity
from psopt.search import knee, pareto_front
from psopt.search.gating import MARGIN_OF_S, MeasuredGain, gate
from psopt.settings import GATE_MARGIN
from scipy.optimize import brentq
from scipy.stats import beta

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

Q = 10
N_CANDIDATES = 40
_DRAWN = 20  # candidates at random, the original prompt among them; the others lean towards what looks good on val
_LEANING = 0.85
_JUST = 0.0001  # beyond the margin: where a test errs most often, and an error counts
WAYS = ("always", "likely", "sure", "sure, two nominees")
"""How a prompt is recommended: the knee without the gate, the gate's two modes, and the gate with two nominees."""


def _unmoved(_: np.random.Generator) -> Population:
    nothing = np.zeros(N_EDITS)
    return Population(nothing, nothing)


def _edits(level: float, level_sd: float, shake: float, shake_sd: float) -> Callable[[np.random.Generator], Population]:
    def population(rng: np.random.Generator) -> Population:
        return Population(rng.normal(level, level_sd, N_EDITS), rng.normal(shake, shake_sd, N_EDITS))

    return population


def _f1_just_lower(_: np.random.Generator) -> Population:
    """Any edits make F1 lower by just more than the margin, and S much better."""
    shake = 0.5
    f1, _s = true_scores(Population.base, 1.0, Q)
    wanted = f1 - GATE_MARGIN - _JUST
    level = brentq(lambda level: true_scores(Population.base + level, np.exp(-shake), Q)[0] - wanted, -1, 1)
    return Population(np.zeros(N_EDITS), np.zeros(N_EDITS), (level, shake))


def _s_just_higher(_: np.random.Generator) -> Population:
    """Any edits make S higher by just more than the margin, and F1 much better."""
    level = 0.35
    _f1, s = true_scores(Population.base, 1.0, Q)
    wanted = s + MARGIN_OF_S + _JUST
    shake = brentq(lambda shake: true_scores(Population.base + level, np.exp(-shake), Q)[1] - wanted, -2, 2)
    return Population(np.zeros(N_EDITS), np.zeros(N_EDITS), (level, shake))


KINDS: dict[str, Callable[[np.random.Generator], Population]] = {
    "no effect": _unmoved,
    "harmful": _edits(-0.05, 0.03, -0.03, 0.03),
    "small effects": _edits(0.0, 0.03, 0.0, 0.03),
    "large effects": _edits(0.03, 0.04, 0.03, 0.03),
    "F1 just lower, S better": _f1_just_lower,
    "S just higher, F1 better": _s_just_higher,
}
"""What edits do; .03 of level is about a point of F1. Chosen after sixty runs with other harmful edits, so that these
leave hardly any good prompt."""


@dataclass
class Tally:
    """The outcomes of one way to recommend."""

    handed_back: int = 0
    worse: int = 0
    gain: float = 0.0
    f1: float = 0.0
    sensitivity: float = 0.0

    def add(self, f1: float, s: float) -> None:
        """Count a prompt that was recommended in place of the baseline, by its true differences."""
        self.handed_back += 1
        self.worse += f1 < -GATE_MARGIN or s > MARGIN_OF_S
        self.gain += f1 - s
        self.f1 += f1
        self.sensitivity += s


@dataclass
class Cell:
    """One kind of population at one size."""

    kind: str
    n: int
    runs: int = 0
    optimism: float = 0.0
    ways: dict[str, Tally] = field(default_factory=lambda: {way: Tally() for way in WAYS})

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data: counts, and means over the runs."""
        always = self.ways["always"]
        ways = {way: self._way(tally, always) for way, tally in self.ways.items()}
        chosen = max(1, always.handed_back)
        means = {"f1": always.f1 / chosen, "sensitivity": always.sensitivity / chosen}
        knees = {"optimism": self.optimism / chosen, **means}
        return {"population": self.kind, "n": self.n, "runs": self.runs, "knee": knees, "ways": ways}

    def _way(self, tally: Tally, always: Tally) -> dict[str, Any]:
        gains = always.gain > 0.01 * self.runs  # a share of a smaller gain means nothing
        return {
            "handed_back": tally.handed_back,
            "worse": tally.worse,
            "worse_most": clopper_pearson(tally.worse, self.runs),
            "gain": tally.gain / self.runs,
            "kept": tally.gain / always.gain if gains else None,
        }


def clopper_pearson(n_hits: int, n: int, confidence: float = 0.95) -> float:
    """The upper end of the two-sided interval of a share (Clopper and Pearson, Biometrika 1934).

    >>> round(clopper_pearson(0, 1000), 5)
    0.00368
    """
    return 1.0 if n_hits == n else float(beta.ppf((1 + confidence) / 2, n_hits + 1, n - n_hits))


def run_cell(kind: str, n: int, runs: int) -> Cell:
    """Choose, gate and count, with one seed per run."""
    cell = Cell(kind, n)
    for seed in range(runs):
        _one_run(cell, np.random.default_rng([seed, n, *kind.encode()]))
    return cell


def _one_run(cell: Cell, rng: np.random.Generator) -> None:
    cell.runs += 1
    population = KINDS[cell.kind](rng)
    val = Draw.of(rng, cell.n, Q)
    baseline, candidates = _searched(val, population, rng)
    front = pareto_front(candidates, baseline.val.f1)
    chosen = knee(front, baseline)
    if chosen is baseline:
        return
    start = population.truth(baseline.key, Q)
    short = _shortest(candidates, chosen, baseline, val.truth)
    nominees = {"knee": chosen, **({"short": short} if short is not chosen else {})}
    truths = {name: _difference(population.truth(nominee.key, Q), start) for name, nominee in nominees.items()}
    cell.optimism += chosen.val.f1 - baseline.val.f1 - truths["knee"][0]
    for way, name in _handed_back(population, baseline, nominees, Draw.of(rng, cell.n, Q)).items():
        if name is not None:
            cell.ways[way].add(*truths[name])


def _handed_back(
    population: Population, baseline: Any, nominees: Mapping[str, Any], test: Draw
) -> dict[str, str | None]:
    """Which nominee each way recommends: psopt's gate, on samples and wordings that no choice has used."""
    keys = np.array([baseline.key, *(nominee.key for nominee in nominees.values())])
    before, *after = (test.predictions(answers) for answers in test.answers(population, keys))
    both = dict(zip(nominees, after, strict=True))
    on_val = {
        name: {"": MeasuredGain.between(baseline.val, nominee.val, len(test.truth))}
        for name, nominee in nominees.items()
    }
    sure = gate(before, {"knee": both["knee"]}, on_val=on_val)
    two = gate(before, both) if len(both) > 1 else sure
    likely = "knee" if sure.tests[0].is_likely else None
    return {"always": "knee", "likely": likely, "sure": sure.id, "sure, two nominees": two.id}


def _searched(draw: Draw, population: Population, rng: np.random.Generator) -> tuple[Any, list[Any]]:
    """The baseline and all candidates on val: half at random, half by a ridge regression on these, as searches lean."""
    first = rng.random((_DRAWN, N_EDITS)) < rng.uniform(0.2, 0.7, size=(_DRAWN, 1))
    first[0] = False
    candidates = _scored(draw, population, first)
    x = first - first.mean(axis=0)
    y = np.array([candidate.val.f1 - candidate.val.sensitivity + candidate.val.consistency for candidate in candidates])
    worth = np.linalg.solve(x.T @ x + np.eye(N_EDITS), x.T @ (y - y.mean()))
    leaning = np.where(worth > 0, _LEANING, 1 - _LEANING)
    second = rng.random((N_CANDIDATES - _DRAWN, N_EDITS)) < leaning
    return candidates[0], candidates + _scored(draw, population, second, _DRAWN)


def _scored(draw: Draw, population: Population, prompts: NDArray[np.bool_], first: int = 0) -> list[Any]:
    """Prompts with their scores on val, as psopt's front reads them."""
    candidates = []
    for number, (prompt, answers) in enumerate(zip(prompts, draw.answers(population, prompts), strict=True), first):
        counts = prediction_counts(answers, len(LABELS) + 1)
        f1, s, c = micro_f1(answers, draw.truth), sensitivity(counts), consistency(counts, draw.truth)
        gains = np.array([f1, -s, c])
        scores = SimpleNamespace(f1=f1, sensitivity=s, consistency=c, gains=gains, is_hollow=False, is_one_answer=False)
        edits = tuple(np.flatnonzero(prompt))
        candidates.append(
            SimpleNamespace(trial=number, id=str(number), edits=edits, key=prompt, answers=answers, val=scores)
        )
    return candidates


def _shortest(candidates: Sequence[Any], best: Any, baseline: Any, truth: NDArray[np.int64]) -> Any:
    """The candidate with the fewest edits that loses at most a standard error against the knee, over samples alone."""
    shorter = [of for of in candidates if len(of.edits) < len(best.edits) and of.val.f1 >= baseline.val.f1]
    of_best = _by_sample(best, truth)
    for candidate in sorted(shorter, key=lambda candidate: len(candidate.edits)):
        lost = of_best - _by_sample(candidate, truth)
        if (lost.mean(axis=0) <= lost.std(axis=0, ddof=1) / np.sqrt(len(lost))).all():
            return candidate
    return best


def _by_sample(candidate: Any, truth: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share right, and S below 1, of each sample: (N, 2)."""
    counts = prediction_counts(candidate.answers, len(LABELS) + 1)
    return np.column_stack([(candidate.answers == truth[:, None]).mean(axis=1), 1 - sample_sensitivity(counts)])


def _difference(after: tuple[float, float], before: tuple[float, float]) -> tuple[float, float]:
    return after[0] - before[0], after[1] - before[1]
