"""How many answers the diagnoses of a search are expected to take, before anything is asked."""

from __future__ import annotations

import math

# Answers for each sample of train in the first diagnosis and in each further one, which begins where the first has
# found something: the highest of minilm and two simulated models on 500 questions of TREC, ten wordings (rounded up).
_FIRST = 2.5
_FURTHER = 2.1


def expected_diagnosis_calls(n_train: int, n_wordings: int, n_labels: int, rounds: int) -> tuple[int, ...]:
    """Return how many calls each round's diagnosis takes where diagnoses grow, if every round has another best prompt.

    The chosen prompt on train, for the report, takes as many as the last one.

    Parameters
    ----------
    n_train : int
        Samples of train.
    n_wordings : int
        Q.
    n_labels : int
        Every class has at least two samples in each of them.
    rounds : int

    Examples
    --------
    >>> expected_diagnosis_calls(500, 10, 6, 3)
    (1250, 1050, 1050)
    >>> expected_diagnosis_calls(10, 2, 2, 2)
    (20, 20)
    """
    most = n_train * n_wordings
    least = min(most, 2 * n_labels * min(2, n_wordings))
    shares = [_FIRST, *[_FURTHER] * (rounds - 1)][:rounds]
    return tuple(max(least, min(most, math.ceil(round(share * n_train, 6)))) for share in shares)
