"""Performance drop rate: what rewording costs against the prompt as its author wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._prompt_f1 import prompt_f1

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def performance_drop_rate(predictions: ArrayLike, y: ArrayLike) -> float:
    """Relative loss of accuracy from the first prompt to the others. Lower is better.

        PDR = 1 - (1/(Q - 1) sum_{q > 1} acc(rho_q)) / acc(rho_1)

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers; the first rephrasing is the original prompt.
    y : (n_samples,) int
        True labels.

    Returns
    -------
    float
        At most 1; negative if the others do better. NaN without other rephrasings, or if the first prompt is
        never right.

    References
    ----------
    Zhu et al., *PromptRobust (PromptBench)*, 2023: there against an attacked prompt, here against the mean of
    the rephrasings.

    Examples
    --------
    >>> performance_drop_rate([[0, 0, 1], [1, 0, 0]], [0, 1])
    0.75
    """
    first, *others = prompt_f1(predictions, y).tolist()
    if not others or first == 0:
        return float("nan")
    return float(1 - sum(others) / len(others) / first)
