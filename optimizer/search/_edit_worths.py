"""What each edit is expected to be worth in a prompt, from all trials so far, and which edits make the best prompt.

Before an edit was tried its proposer's gain is all that is known of it: how much of such gains comes about is fitted to
the trials. What is left of the candidates' leads is explained by effects of the edits (`_edit_effects`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.search._edit_effects import held_in, posterior
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
LEAST_WORTH = 0.002  # in F1 - S + C, chosen: one sample of 500 that is right and steady; less can't be measured
_ERROR_OF_ESTIMATES = (
    0.02  # of a stopped candidate's scores, from some hundred samples; chosen, and it only ranks edits
)


@dataclass(frozen=True, eq=False)
class EditWorths:
    """What edits add to F1 - S + C.

    Attributes
    ----------
    obeyed : float
        How much of the gains that proposers expect comes about, in [0, 1].
    means, errors : dict of parameter to float
        Of their effects beyond that.
    """

    obeyed: float
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
    """Return what proposers expect of edits together: those of one label mend the same samples, so the best counts."""
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
