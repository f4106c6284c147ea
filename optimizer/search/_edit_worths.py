"""What each edit is expected to be worth in a prompt, from all trials so far, and which edits make the best prompt.

Before an edit was tried its proposer's gain is all that is known of it: how much of such gains comes about is fitted to
the trials. What is left of the candidates' leads is explained by effects of the edits. There are more edits than
candidates, so that the effects are shrunk towards 0: ridge regression, read as the posterior of effects that are normal
around 0. How strongly is not chosen, but estimated by the marginal likelihood (MacKay 1992, "Bayesian interpolation"),
together with what edits do to each other, which a sum of effects leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.search._front import Candidate, gains_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.search._front import Ranked
    from psopt.search_spaces import Edit

    Vector = NDArray[np.float64]

# Of the errors by which draws stray from what is likeliest; chosen: with a hundred edits and forty trials, draws with
# whole errors leave out several good edits at a time.
_BOLDNESS = 0.5
# Standard deviations of effects, and of what is no sum of effects, among which the likeliest pair is taken: from less
# than any search can see to more than an edit ever did on TREC (minilm: a note of a whole class gains some .03).
_EFFECTS = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
_RESTS = (0.0025, 0.005, 0.01, 0.02, 0.04)
_ERROR_OF_ESTIMATES = (
    0.02  # of a stopped candidate's scores, from some hundred samples; chosen, and it only ranks edits
)


@dataclass(frozen=True, eq=False)
class EditWorths:
    """What edits add to F1 - S + C."""

    obeyed: float  # how much of the gains that proposers expect comes about, in [0, 1]
    # Of their effects beyond that
    means: Mapping[str, float]
    errors: Mapping[str, float]

    @classmethod
    def of(cls, candidates: Sequence[Ranked], baseline: Ranked, pool: Sequence[Edit]) -> EditWorths:
        """Fit them to all candidates whose scores are known, in whole or by estimates."""
        parameters, held = held_in([candidate.edits for candidate in candidates], pool)
        leads = np.array([float((gains_of(candidate) - gains_of(baseline)).sum()) for candidate in candidates])
        expected = np.array([expected_gain(candidate.edits) for candidate in candidates])
        is_told = bool(expected.any())
        obeyed = float(np.clip(expected @ leads / (expected @ expected), 0, 1)) if is_told else 1.0
        variances = np.array([_variance(candidate) for candidate in candidates])
        means, errors = posterior(held, leads - obeyed * expected, variances)
        return cls(
            obeyed,
            dict(zip(parameters, means.tolist(), strict=True)),
            dict(zip(parameters, errors.tolist(), strict=True)),
        )

    def drawn(self, rng: np.random.Generator) -> EditWorths:
        """Draw effects from what is known of them: what is unsure is tried too (Thompson 1933)."""
        means = {
            name: mean + _BOLDNESS * self.errors[name] * float(rng.standard_normal())
            for name, mean in self.means.items()
        }
        return EditWorths(self.obeyed, means, self.errors)

    def effect(self, edit: Edit) -> float:
        """What an edit adds beyond its expected gain."""
        return sum(self.means.get(name, 0.0) for name in edit.stands_for)

    def worth(self, edits: Sequence[Edit]) -> float:
        """What edits are worth together; those of one bundle count once."""
        effects = {edit.parameter_name: self.effect(edit) for edit in edits}
        return self.obeyed * expected_gain(edits) + sum(effects.values())


def expected_gain(edits: Iterable[Edit]) -> float:
    """Return what proposers expect of edits together: those of one label fix the same samples, so the best counts."""
    best: dict[str, float] = {}
    for edit in edits:
        best[edit.label] = max(best.get(edit.label, 0.0), edit.gain)
    return sum(best.values())


def best_within(
    edits: Sequence[Edit],
    worths: EditWorths,
    allows: Callable[[Sequence[Edit]], bool],
    tokens: Callable[[Sequence[Edit]], int],
) -> tuple[Edit, ...]:
    """Choose the edits that are worth most within limits, greedily: by worth a token, or by worth, whichever is better.

    Bundles stay whole, and the order of the edits stays.
    """
    by_parameter: dict[str, list[Edit]] = {}
    for edit in edits:
        by_parameter.setdefault(edit.parameter_name, []).append(edit)
    bare = tokens(())
    prices = {name: max(1, tokens(bundle) - bare) for name, bundle in by_parameter.items()}
    choices = [_greedy(by_parameter, worths, allows, price) for price in (prices, dict.fromkeys(prices, 1))]
    chosen = max(choices, key=worths.worth)
    return tuple(edit for edit in edits if edit in chosen)


def _greedy(
    by_parameter: Mapping[str, Sequence[Edit]],
    worths: EditWorths,
    allows: Callable[[Sequence[Edit]], bool],
    prices: Mapping[str, int],
) -> list[Edit]:
    chosen: list[Edit] = []
    left = dict(by_parameter)
    while left:
        before = worths.worth(chosen)
        adds = {name: worths.worth([*chosen, *bundle]) - before for name, bundle in left.items()}
        name = max(adds, key=lambda name: adds[name] / prices[name])
        if chosen and adds[name] <= 0:
            break
        bundle = left.pop(name)
        if allows([*chosen, *bundle]):
            chosen += bundle
    return chosen


def _variance(candidate: Ranked) -> float:
    return 0.0 if isinstance(candidate, Candidate) else _ERROR_OF_ESTIMATES**2


def held_in(prompts: Sequence[Sequence[Edit]], pool: Sequence[Edit]) -> tuple[tuple[str, ...], Vector]:
    """Return the p parameters of a pool, and which of them each of n prompts holds: (n, p), 1 or 0.

    What merges others holds these.
    """
    parameters = tuple(dict.fromkeys(name for edit in pool for name in edit.stands_for))
    held = [{name for edit in edits for name in edit.stands_for} for edits in prompts]
    return parameters, np.array([[parameter in names for parameter in parameters] for names in held], dtype=float)


def posterior(x: Vector, y: Vector, variances: Vector) -> tuple[Vector, Vector]:
    """Return means and standard deviations of the effects, (p,) each; O(n^3 + n p) for n candidates."""
    products = x @ x.T
    fits = ((effect, _covariance(products, variances, effect, rest)) for effect in _EFFECTS for rest in _RESTS)
    effect, covariance = max(fits, key=lambda fit: _log_likelihood(y, fit[1]))
    gain = effect**2 * np.linalg.solve(covariance, x).T
    explained = (gain * x.T).sum(axis=1)
    return gain @ y, effect * np.sqrt(np.clip(1 - explained, 0, 1))


def _covariance(products: Vector, variances: Vector, effect: float, rest: float) -> Vector:
    return np.asarray(effect**2 * products + np.diag(variances + rest**2))


def _log_likelihood(y: Vector, covariance: Vector) -> float:
    """Up to a constant."""
    root = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(root, y)
    return float(-(whitened @ whitened) / 2 - np.log(np.diag(root)).sum())
