"""A model whose label prior is taken out of its decisions, under prompts that ask for it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from psopt.errors import InputError
from psopt.metrics import hard_predictions
from psopt.models._base import (
    WrappedModel,
    all_cells,
    can,
    evenly_spread,
    n_unkept,
    predict_cells,
    predict_proba_cells,
)
from psopt.search_spaces import Calibration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.models._base import Capabilities, Cells, Floats, Ints, Model, Progress, Prompts, Texts
    from psopt.models.chat import Budget
    from psopt.search_spaces import Prompt
    from typing_extensions import TypeIs

# How many unlabelled texts a prior is measured on. More did not help: on TREC, SmolLM2 has F1 .428 with 30, .424 with
# 50, .422 with 200. Fewer add noise: the choice of texts moves F1 by .013 (standard deviation) with 30, and by .025
# with 10 (150 questions, people's wordings).
PRIOR_TEXTS = 30
REWORDED_TEXTS = 15  # how many of them are asked under a rephrasing: `experiments/prior_texts.py`
_FEWEST_TEXTS = 10  # with fewer, a prior is mostly the noise of single texts
_UNLISTED = 1e-6  # assumed for a label that a server does not list among the likeliest tokens: its value is unknown
_LONGEST = 5  # one of these has the most tokens: rankings by characters and by tokens rarely differ more
FEWEST_LABELLED = 40  # a map pays off with CB's 45 texts, see docs/decisions.md; nothing smaller was measured
MOST_LABELLED = 200  # on TREC, 400 are no better, and 100 bring half of the gain


class LabelledTexts(NamedTuple):
    """Train texts, the position of each one's label, and the prompt under which they are asked."""

    prompt: Prompt
    texts: Texts
    labels: Sequence[int]


class CalibratedModel(WrappedModel):
    """Batch calibration around a model with label probabilities (see `psopt.search_spaces.Calibration`).

    It subtracts from each label's log-probability the mean over `PRIOR_TEXTS` of the unlabelled `texts`, under the same
    wording; the answer is the label with the most left. The probability of N/A does not change. Where there are
    `labelled` texts, the result goes through a map learnt from them.

    Under a rephrasing, `REWORDED_TEXTS` are enough: their mean difference from the prompt's own wording is added to the
    prior of that (a control variate), because a text moves the log-probabilities under all wordings alike. The `budget`
    counts the calls for priors, where the model does not. `is_always`: also under prompts that don't ask for it.
    """

    def __init__(
        self,
        model: Model,
        texts: Texts,
        budget: Budget,
        *,
        is_always: bool = False,
        labelled: LabelledTexts | None = None,
    ) -> None:
        super().__init__(model)
        self._texts = evenly_spread(list(dict.fromkeys(texts)), PRIOR_TEXTS)
        self._few_texts = evenly_spread(self._texts, REWORDED_TEXTS)
        self._budget = budget
        self._calibrated_as = calibrated_as(model.name, getattr(model, "likelihood", "mean"))
        self._is_always = is_always
        self._labelled = labelled
        # By prompt id and text: the labels' log-probabilities, as far as priors took them
        self._read: defaultdict[str, dict[str, Floats]] = defaultdict(dict)

    def learning_from(self, labelled: LabelledTexts) -> CalibratedModel:
        """The same model with a label map, if there are enough texts to learn one; it is learnt on first use."""
        if len(labelled.texts) < FEWEST_LABELLED or self._is_always:
            return self
        return CalibratedModel(self._model, self._texts, self._budget, labelled=labelled)

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, calibrates=True)

    def predict_cells(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Ints:
        is_calibrated = np.array([self.calibrates(prompt) for prompt in prompts])
        wanted = cells & is_calibrated
        if not wanted.any():
            return predict_cells(self._model, prompts, texts, cells, on_progress)
        answers = predict_cells(self._model, prompts, texts, cells & ~is_calibrated, on_progress)
        probabilities = self.predict_proba_cells(prompts, texts, wanted, on_progress)
        answers[wanted] = hard_predictions(probabilities[wanted][:, None])[:, 0]
        return answers

    def predict_proba_cells(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Floats:
        probabilities = predict_proba_cells(self._model, prompts, texts, cells, on_progress)
        for column, prompt in enumerate(prompts):
            rows = np.flatnonzero(cells[:, column])
            if self.calibrates(prompt) and len(rows):
                calibrated = without_prior(probabilities[rows, column], self._prior(prompt), self._label_map(prompt))
                probabilities[rows, column] = calibrated
        return probabilities

    def calibrates(self, prompt: Prompt) -> bool:
        """Whether the label prior is taken out under a prompt."""
        return self._is_always or prompt.calibration is not None

    @property
    def can_measure(self) -> bool:
        """Whether there are enough texts to measure a prior."""
        return len(self._texts) >= _FEWEST_TEXTS

    def check_priors(self, prompts: Prompts) -> None:
        """Raise InputError if a prompt brings no label prior, and the texts are too few to measure it."""
        if not self.can_measure and not all(map(self._brought_prior, filter(self.calibrates, prompts))):
            raise InputError(
                f"the prompt is calibrated, and brings no label prior of {self._calibrated_as} for this wording: to "
                f"measure one takes at least {_FEWEST_TEXTS} texts, not {len(self._texts)}; give more, or --calibration"
                " off; a run directory brings the texts of its data"
            )

    def can_read(self, prompt: Prompt, texts: Texts) -> bool:
        """Whether it reads a prompt with each of these texts, and with those that it measures on, to the end."""
        own_texts = [*self._texts, *(self._labelled.texts if self._labelled else ())]
        return bool(self._model.can_read(prompt, [*texts, *longest_of(own_texts)]))

    def measured(self, prompt: Prompt) -> Prompt:
        """Return a calibrated prompt with its label prior; raises InputError if texts are too few to measure it."""
        if not self.calibrates(prompt):
            return prompt
        prior = tuple(self._prior(prompt).tolist())
        n_texts = self._brought(prompt).n_texts if self._brought_prior(prompt) else len(self._texts)
        unmeasured = replace(prompt, calibration=Calibration())
        calibration = Calibration(prior, n_texts, self._calibrated_as, unmeasured.id)
        label_map = self._label_map(prompt)
        if label_map is not None:
            calibration = replace(calibration, label_map=tuple(map(tuple, label_map.tolist())))
        return replace(prompt, calibration=calibration)

    def prior_calls(self, prompts: Prompts) -> int:
        """At most how many more answers the priors of these prompts, and the label map, will need."""
        unmeasured = [prompt for prompt in prompts if self.calibrates(prompt) and not self._brought_prior(prompt)]
        wanted = [reading for prompt in unmeasured for reading in self._readings(prompt)]
        if self._labelled and unmeasured and "_learnt" not in self.__dict__:
            wanted.append((self._labelled.prompt, self._labelled.texts))
        missing: dict[str, tuple[Prompt, dict[str, None]]] = {}
        for prompt, texts in wanted:
            unread = dict.fromkeys(text for text in texts if text not in self._read[prompt.id])
            missing.setdefault(prompt.id, (prompt, {}))[1].update(unread)
        return sum(self._n_unkept(prompt, list(texts)) for prompt, texts in missing.values())

    def _n_unkept(self, prompt: Prompt, texts: Texts) -> int:
        return n_unkept(self._model, [prompt], texts, all_cells([prompt], texts))

    @property
    def n_labelled(self) -> int:
        """How many labelled texts the label map is learnt from; 0 without one."""
        return len(self._labelled.texts) if self._labelled else 0

    def _prior(self, prompt: Prompt) -> Floats:
        """The mean log-probability of each label under a prompt, (n_labels,): brought along, or measured once."""
        if brought := self._brought_prior(prompt):
            return np.array(brought)
        self.check_priors([prompt])
        if prompt.original is None:
            return self._mean(prompt, self._texts)
        own = prompt.original
        return self._prior(own) + self._mean(prompt, self._few_texts) - self._mean(own, self._few_texts)

    def _readings(self, prompt: Prompt) -> list[tuple[Prompt, Texts]]:
        """Which texts are asked under which prompts to measure a prior."""
        own = prompt.original
        if own is None:
            return [(prompt, self._texts)]
        return [(prompt, self._few_texts), (own, self._few_texts if self._brought_prior(own) else self._texts)]

    def _mean(self, prompt: Prompt, texts: Texts) -> Floats:
        """The mean log-probability of each label over texts, (n_labels,); each is asked once."""
        read = self._read[prompt.id]
        if missing := [text for text in texts if text not in read]:
            read.update(zip(missing, _log(self._asked(prompt, missing)[:, :-1]), strict=True))
        return np.asarray(np.mean([read[text] for text in texts], axis=0))

    def _label_map(self, prompt: Prompt) -> Floats | None:
        """The map of a prompt: brought along, or learnt once for all prompts; None where labels are not used."""
        if brought := self._brought(prompt).label_map:
            return np.array(brought)
        return None if self._brought_prior(prompt) else self._learnt

    @cached_property
    def _learnt(self) -> Floats | None:
        """One map for all wordings and edits: it corrects the model, so answers under one prompt are enough."""
        if self._labelled is None:
            return None
        prompt, texts, labels = self._labelled
        return fit_label_map(_evidence(self._asked(prompt, texts), self._prior(prompt)), np.array(labels))

    def _brought(self, prompt: Prompt) -> Calibration:
        """The calibration that a prompt brings for this model; an empty one if it brings none."""
        calibration = (prompt.calibration or Calibration()).of(self._calibrated_as)
        return calibration if calibration.model == self._calibrated_as else Calibration()

    def _brought_prior(self, prompt: Prompt) -> tuple[float, ...]:
        """The prior that it holds of exactly this wording."""
        brought = self._brought(prompt)
        return brought.prior if brought.prompt == prompt.id else ()

    def _asked(self, prompt: Prompt, texts: Texts) -> Floats:
        """The model's own probabilities under one prompt, (n, C), counted."""
        if not can(self._model, "counts_calls"):
            n_new = self._n_unkept(prompt, texts)
            self._budget.count(made=n_new, cached=len(texts) - n_new)
        return predict_proba_cells(self._model, [prompt], texts, all_cells([prompt], texts))[:, 0]


def longest_of(texts: Iterable[str]) -> list[str]:
    """The longest few of the texts by characters."""
    return sorted(texts, key=len)[-_LONGEST:]


def calibrated_as(model: str, likelihood: str) -> str:
    """What a calibration is for: a model, and the likelihood by which it scores labels, unless that is their mean.

    >>> calibrated_as("smollm2", "mean"), calibrated_as("smollm2", "sum")
    ('smollm2', 'smollm2 by sum')
    """
    return model if likelihood == "mean" else f"{model} by {likelihood}"


def calibrates(model: Model) -> TypeIs[CalibratedModel]:
    return can(model, "calibrates")


def without_prior(probabilities: Floats, prior: Floats, label_map: Floats | None = None) -> Floats:
    """Return probabilities with a label prior taken out: both (n, C) with N/A last, which does not change.

    `prior` is the mean log-probability of each label, (C - 1,); for the `label_map`, (C, C - 1), see `fit_label_map`.
    Here a model gives the first label three times the second's probability, whatever the text:

    >>> without_prior(np.array([[0.75, 0.25, 0.0], [0.6, 0.4, 0.0]]), np.log([0.75, 0.25])).round(3)
    array([[0.5  , 0.5  , 0.   ],
           [0.333, 0.667, 0.   ]])
    """
    left = _evidence(probabilities, prior)
    if label_map is not None:
        left = scores_by(label_map, left)
    weights = np.exp(left - left.max(axis=1, keepdims=True))
    named = 1 - probabilities[:, -1:]
    return np.hstack([named * weights / weights.sum(axis=1, keepdims=True), probabilities[:, -1:]])


def _evidence(probabilities: Floats, prior: Floats) -> Floats:
    """What is left of the labels' log-probabilities, with a mean of 0 in each row, (n, C - 1)."""
    left = _log(probabilities[:, :-1]) - prior
    return np.asarray(left - left.mean(axis=1, keepdims=True))


def _log(probabilities: Floats) -> Floats:
    """Log-probabilities of the labels, normalized without N/A."""
    listed = np.where(probabilities > 0, probabilities, _UNLISTED)
    return np.asarray(np.log(listed / listed.sum(axis=1, keepdims=True)))


_RIDGE = 3.0  # on val of TREC, CB and product sentences F1 is about the same from 1 to 10; see docs/decisions.md


def fit_label_map(evidence: Floats, truth: Ints) -> Floats:
    """Fit scores that are an affine function of the evidence: (n, C) and labels in [0, C) to a map, (C + 1, C).

    Multinomial logistic regression, penalized by its distance from the identity map, so that few texts change little.
    The last row is the intercept. Supervised calibration, arXiv 2505.23783, is of this kind.

    The first label gets twice the evidence that it should:

    >>> evidence = np.array([[1.0, 0.0], [0.5, 0.0], [-1.0, 0.0], [0.5, 0.0]])
    >>> label_map = fit_label_map(np.repeat(evidence, 25, axis=0), np.repeat([0, 1, 1, 1], 25))
    >>> scores_by(label_map, evidence).argmax(axis=1)
    array([0, 1, 1, 1])
    """
    from scipy.optimize import minimize  # only where needed: the import takes a third of a second

    n, n_labels = evidence.shape
    design = np.hstack([evidence, np.ones((n, 1))])
    start = np.eye(n_labels + 1, n_labels)  # the map that changes nothing
    target = np.eye(n_labels)[truth]

    def loss(flat: Floats) -> tuple[float, Floats]:
        away = flat.reshape(start.shape) - start
        scores = design @ (start + away)
        scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
        gradient = design.T @ (np.exp(scores) - target) + 2 * _RIDGE * away
        return float(-(scores * target).sum() + _RIDGE * (away**2).sum()), gradient.ravel()

    best = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B").x
    return np.asarray(best.reshape(start.shape))


def scores_by(label_map: Floats, evidence: Floats) -> Floats:
    return np.asarray(evidence @ label_map[:-1] + label_map[-1])
