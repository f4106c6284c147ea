"""Populations of samples and wordings in which every prompt's true F1 and S are known.

An answer is right if a latent score is above 0; otherwise it is the class that the sample is mistaken for:

    score = level + sample + shake * (wording + rest)

An edit moves the level, shrinks or widens the unstable part, and moves each sample and each wording a little, so that
two prompts differ on samples even if they are equal on average. All parts are normal and independent: F1 is a
normal probability, and S at Q wordings an integral over one normal variable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation import Predictions
from psopt.tasks import Sample
from scipy.special import comb, ndtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

LABELS = ("a", "b", "c", "d", "e", "f")
N_EDITS = 20
_SAMPLES, _WORDINGS, _REST = 1.0, 0.1, 0.45  # standard deviations of the latent parts: wordings move accuracy by .03
_OWN_SAMPLES, _OWN_WORDINGS = 0.15, 0.02  # by how much an edit itself moves a sample and a wording
_SHARED = 0.8  # the part of the rest's variance that two prompts share: the model and the text are the same
_NODES = np.polynomial.hermite_e.hermegauss(80)


@dataclass(frozen=True)
class Draw:
    """What is drawn from a population: samples, and wordings to go with them."""

    samples: NDArray[np.float64]
    own_samples: NDArray[np.float64]
    wordings: NDArray[np.float64]
    own_wordings: NDArray[np.float64]
    rest: NDArray[np.float64]
    truth: NDArray[np.int64]
    mistaken: NDArray[np.int64]
    rng: np.random.Generator

    @classmethod
    def of(cls, rng: np.random.Generator, n_samples: int, n_wordings: int) -> Draw:
        """Draw samples and wordings anew."""
        truth = rng.integers(len(LABELS), size=n_samples)
        return cls(
            samples=rng.normal(size=n_samples),
            own_samples=rng.normal(size=(N_EDITS, n_samples)),
            wordings=rng.normal(size=n_wordings),
            own_wordings=rng.normal(size=(N_EDITS, n_wordings)),
            rest=rng.normal(size=(n_samples, n_wordings)),
            truth=truth,
            mistaken=(truth + rng.integers(1, len(LABELS), size=n_samples)) % len(LABELS),
            rng=rng,
        )

    def answers(self, population: Population, prompts: NDArray[np.bool_]) -> NDArray[np.int64]:
        """What prompts, (K, edits), answer: (K, N, Q). If the same prompt is asked again, the rest is redrawn."""
        n_on = prompts.sum(axis=1)[:, None]
        kept = np.sqrt(1 - n_on * _OWN_SAMPLES**2 / _SAMPLES**2)  # of the samples' variance, which edits don't change
        samples = _SAMPLES * kept * self.samples + _OWN_SAMPLES * (prompts @ self.own_samples)
        kept = np.sqrt(1 - n_on * _OWN_WORDINGS**2 / _WORDINGS**2)
        wordings = _WORDINGS * kept * self.wordings + _OWN_WORDINGS * (prompts @ self.own_wordings)
        shape = (len(prompts), *self.rest.shape)
        own = self.rng.standard_normal(shape, dtype=np.float32)
        rest = _REST * (math.sqrt(_SHARED) * self.rest + math.sqrt(1 - _SHARED) * own)
        shaken = population.shake(prompts)[:, None, None] * (wordings[:, None, :] + rest)
        is_right = population.level(prompts)[:, None, None] + samples[:, :, None] + shaken > 0
        return np.where(is_right, self.truth[:, None], self.mistaken[:, None])

    def predictions(self, answers: NDArray[np.int64]) -> Predictions:
        """Answers of a prompt, in psopt's form."""
        samples = tuple(Sample(str(index), "", LABELS[label]) for index, label in enumerate(self.truth))
        return Predictions(answers, samples, LABELS)


@dataclass(frozen=True)
class Population:
    """What edits do.

    Attributes
    ----------
    levels : (edits,) float
        What each adds to the latent level.
    shakes : (edits,) float
        What each subtracts from the logarithm of the shake.
    constant : (level, shake) or None
        The joint effect of any edits at all, in place of sums.
    """

    levels: NDArray[np.float64]
    shakes: NDArray[np.float64]
    constant: tuple[float, float] | None = None
    base: float = 0.58  # F1 of the original prompt .70

    def level(self, prompts: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The latent level of prompts: (K,)."""
        added = prompts @ self.levels if self.constant is None else self.constant[0] * prompts.any(axis=1)
        return np.asarray(self.base + added)

    def shake(self, prompts: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The factor on wordings and the rest: (K,)."""
        taken = prompts @ self.shakes if self.constant is None else self.constant[1] * prompts.any(axis=1)
        return np.asarray(np.exp(-taken))

    def truth(self, prompt: NDArray[np.bool_], n_wordings: int) -> tuple[float, float]:
        """The true F1 and the true S of a prompt, (edits,), at this many wordings."""
        level = float(self.level(prompt[None])[0])
        return true_scores(level, float(self.shake(prompt[None])[0]), n_wordings)


def true_scores(level: float, shake: float, n_wordings: int) -> tuple[float, float]:
    """F1 and S for a latent level and shake.

    >>> f1, s = true_scores(0.0, 1.0, 10)
    >>> f1
    0.5
    """
    shaken = shake * math.hypot(_WORDINGS, _REST)
    f1 = float(ndtr(level / math.hypot(_SAMPLES, shaken)))
    nodes, weights = _NODES
    share = ndtr((level + _SAMPLES * nodes) / shaken)
    n_right = np.arange(n_wordings + 1)[:, None]
    chances = comb(n_wordings, n_right) * share**n_right * (1 - share) ** (n_wordings - n_right)
    p = n_right[:, 0] / n_wordings
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nan_to_num(p * np.log(p)) - np.nan_to_num((1 - p) * np.log(1 - p))
    s = float((weights / weights.sum()) @ (entropy @ chances)) / math.log(len(LABELS) + 1)
    return f1, s
