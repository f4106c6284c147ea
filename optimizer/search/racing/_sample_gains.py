"""The objectives as means over samples, so that two candidates can be compared sample by sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import ONE_LABEL, LabelSets, places_of, similarities_of, text_of, worths_of
from psopt.evaluation import LabelRows, consistency_contributions, mean_influences
from psopt.metrics import sample_consistency
from psopt.tasks import set_written

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.answers import AnswerType, OpenAnswers


def sample_gains(
    array: NDArray[np.int64],
    cells: NDArray[np.bool_],
    truth: NDArray[np.int64],
    n_classes: int,
    answer_type: AnswerType = ONE_LABEL,
) -> NDArray[np.float64]:
    """Return what each sample contributes to F1, to -S and, where it is defined, to C on some cells, to be maximised.

    S is told by disagreement, ``m/(m-1) (1 - sum p^2)``: at any number m of wordings an unbiased estimate of the Gini
    impurity at all of them, which entropy is not. Of ordered labels the answers' similarity W takes the place of
    equality, ``m/(m-1) (1 - sum p W p)`` (Rao's quadratic entropy), and closeness that of right answers. C is pooled
    over the pairs of each class; its contributions are ``C + 2 w (c - C)``, where c is a sample's mean consistency with
    its class and w its class's share of pairs: their mean is C, and their variance that of C to first order (Hajek's
    projection of a U-statistic). Of several labels F1 is a ratio of sums, and told to first order likewise.

    Parameters
    ----------
    array : (N, Q) int
        Answers in [0, n_classes), N/A the last of them, or open ones; anything where `cells` is False.
    cells : (N, Q) bool
        Each sample has m >= 2 cells, the same m for all that have any.
    truth : (N,) int
    n_classes : int
        With N/A.

    Returns
    -------
    gains : (n, 3) or (n, 2) float
        Of the n samples that have cells, in their order.
    """
    chosen = cells.any(axis=1)
    m = int(cells[chosen][0].sum())
    answers = array[chosen][cells[chosen]].reshape(-1, m)
    labels = truth[chosen]
    if answer_type.open is not None:
        return open_gains(answers, labels, answer_type.open)
    counts = (answers[:, :, None] == np.arange(n_classes)).sum(axis=1)
    worth, similarity = answer_type.worth, answer_type.similarity
    quality = answers == labels[:, None] if worth is None else worth[labels[:, None], answers]
    shares = counts / m
    alike = shares if similarity is None else shares @ similarity
    disagreement = m / (m - 1) * (1 - (shares * alike).sum(axis=1))
    return np.column_stack([quality.mean(axis=1), -disagreement, _consistencies(counts, labels)])


def _consistencies(counts: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    with_others = np.nan_to_num(sample_consistency(counts, labels, self_pairs=False), nan=1.0)
    pooled, parts = consistency_contributions(with_others, labels)
    return pooled + parts


def open_gains(answers: NDArray[np.int64], truth: NDArray[np.int64], rule: OpenAnswers) -> NDArray[np.float64]:
    """Return gains as `sample_gains` does, of answers (n, m) and the numbers of what is right, (n,)."""
    m = answers.shape[1]
    places = places_of(answers, rule)
    shares = (places[:, :, None] == np.arange(m)).mean(axis=1)
    similarity = similarities_of(answers, places, rule, m)
    alike = shares if similarity is None else np.einsum("nab,nb->na", similarity, shares)
    disagreement = m / (m - 1) * (1 - (shares * alike).sum(axis=1))
    worths, weights = worths_of(answers, truth, rule)
    mean, parts = mean_influences(worths, weights)
    quality = mean + len(parts) * parts
    if not isinstance(rule, LabelSets):
        return np.column_stack([quality, -disagreement])
    right = [text_of(code) for code in truth.tolist()]
    labels = sorted({label for written in right for label in set_written(written)})
    return np.column_stack([quality, -disagreement, LabelRows.of(answers, right, labels).contributions])
