"""What each edit adds to the three objectives, and how surely, by a regression on all trials so far.

Every candidate says something of each edit, by having it or not; those that stopped in their races say it with larger
errors. There are more edits than candidates, so that the effects are shrunk towards 0: ridge regression, read as the
posterior of effects that are normal around 0. How strongly is not chosen, but estimated by the marginal likelihood
(MacKay 1992, "Bayesian interpolation"), together with what edits do to each other, which a sum of effects leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.search._estimates import Estimate
    from psopt.search_spaces import Edit

    Vector = NDArray[np.float64]

# Standard deviations of effects, and of what is no sum of effects, among which the likeliest pair is taken: from less
# than any search can see to more than an edit ever did on TREC (minilm: a note of a whole class gains some .03).
_EFFECTS = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
_RESTS = (0.0025, 0.005, 0.01, 0.02, 0.04)


@dataclass(frozen=True, eq=False)
class EditEffects:
    """What edits add to F1, -S (as disagreement) and C; all are to be maximised.

    Attributes
    ----------
    parameters : tuple of str
        Of the p edits.
    means, errors : (p, 3) float
    n_with : (p,) int
        How many candidates have each.
    n : int
        How many there are.
    """

    parameters: tuple[str, ...]
    means: Vector
    errors: Vector
    n_with: NDArray[np.int64]
    n: int


def edit_effects(estimates: Sequence[Estimate], pool: Sequence[Edit]) -> EditEffects:
    """Estimate the effects of a pool's edits; what merges others counts as these.

    Parameters
    ----------
    estimates : sequence of Estimate
        Of all candidates, against the baseline, the baseline's own among them.
    pool : sequence of Edit
    """
    parameters, x = held_in([estimate.edits for estimate in estimates], pool)
    leads = np.array([estimate.lead for estimate in estimates])
    variances = np.array([estimate.errors for estimate in estimates]) ** 2
    fits = [posterior(x, leads[:, objective], variances[:, objective]) for objective in range(leads.shape[1])]
    means, errors = (np.column_stack(columns) for columns in zip(*fits, strict=True))
    return EditEffects(parameters, means, errors, x.sum(axis=0).astype(int), len(x))


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
