"""What the measures accept: one reader per argument, so that all error messages are consistent.

A reader returns a plain array of the right shape or a plain value. Otherwise it raises a ValueError that names the
argument, what is wrong with it and what is allowed.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

SCORES = ("f1", "sensitivity", "consistency")
GRID = "(n_samples, n_rephrasings)"
SHAPE = "(n_samples, n_rephrasings), or of probabilities (n_samples, n_rephrasings, n_classes)"
ROW_SUM_TOLERANCE = 1e-5  # a float32 softmax over a hundred labels can miss 1 by more than 1e-6


def read_predictions(predictions: ArrayLike, n_classes: int | None = None, name: str = "predictions") -> NDArray[Any]:
    """Hard predictions as an integer array (n_samples, n_rephrasings)."""
    array = as_array(predictions, name, (2,), GRID)
    return read_class_numbers(array, name, n_classes)


def read_labels(y: ArrayLike, n_samples: int, n_classes: int | None = None) -> NDArray[Any]:
    """True labels as an integer array (n_samples,)."""
    array = as_array(y, "y", (1,), "(n_samples,)")
    if len(array) != n_samples:
        raise ValueError(f"y has {len(array)} labels for {n_samples} samples; give one label a sample")
    return read_class_numbers(array, "y", n_classes)


def read_counts(counts: ArrayLike) -> tuple[NDArray[Any], int | None]:
    """Counts or distributions (n_samples, n_classes), and how to read them.

    The dtype decides. *Integers* are counts: every row sums to the same Q, which is returned. *Floats* are
    probabilities: every row sums to one, and None is returned instead of Q.
    """
    array = as_array(counts, "counts", (2,), "(n_samples, n_classes)", "iuf", "integers or probabilities")
    if array.shape[1] < 2:
        raise ValueError("counts has one column; it needs one a class, N/A included: 2 or more")
    if array.dtype.kind == "f":
        return _read_distributions(array, "counts"), None
    if array.min() < 0:
        raise ValueError(f"counts holds {array.min()}; a count is 0 or more")
    # several times faster than sum(axis=1) on short rows
    totals = np.einsum("ij->i", array, dtype=np.int64, casting="unsafe")
    if totals.min() != totals.max():
        raise ValueError(
            f"counts has rows that sum to {totals.min()} and to {totals.max()}; every sample needs the same "
            "number of rephrasings, because entropy depends on it"
        )
    if totals[0] == 0:
        raise ValueError("counts has only zeros; a sample needs one prediction or more")
    return array, int(totals[0])


def read_probabilities(probabilities: ArrayLike, ndims: tuple[int, ...] = (3,), name: str = "probabilities") -> Floats:
    """Probabilities (n_samples, n_rephrasings, n_classes) whose last axis sums to one."""
    shape = "(n_samples, n_rephrasings, n_classes)"
    array = as_array(probabilities, name, ndims, shape, "f", "probabilities (floats)")
    if array.shape[-1] < 2:
        raise ValueError(f"{name} has one class on its last axis; it needs 2 or more, N/A included")
    return _read_distributions(array, name)


def read_either(
    predictions: ArrayLike, n_classes: int, name: str = "predictions"
) -> tuple[NDArray[Any], Floats | None]:
    """Hard predictions (N, Q), and the probabilities (N, Q, C) they come from, if given."""
    n_classes = read_n_classes(n_classes)
    array = as_array(predictions, name, (2, 3), SHAPE)
    if array.ndim == 2:
        return read_predictions(array, n_classes, name=name), None
    probabilities = read_probabilities(array, name=name)
    if probabilities.shape[2] != n_classes:
        raise ValueError(f"{name} has {probabilities.shape[2]} classes on its last axis, not {n_classes}")
    return probabilities.argmax(axis=2), probabilities


def read_scores(scores: ArrayLike, name: str = "scores") -> NDArray[Any]:
    """Scores in [0, 1], or booleans for correctness, as floats (n_samples, n_rephrasings)."""
    array = as_array(scores, name, (2,), GRID, "biuf", "numbers or booleans").astype(np.float64)
    _refuse_nan(array, name)
    if array.min() < 0 or array.max() > 1:
        raise ValueError(f"{name} reach from {array.min():g} to {array.max():g}; they must lie in [0, 1]")
    return array


def read_weights(weights: ArrayLike | None, scores: NDArray[Any], name: str) -> NDArray[np.float64] | None:
    """How much each score counts: finite, 0 or more, in the scores' shape."""
    if weights is None:
        return None
    array = as_array(weights, name, (2,), GRID, "biuf", "numbers").astype(np.float64)
    if array.shape != scores.shape:
        raise ValueError(f"{name} has shape {array.shape}, and the scores {scores.shape}; both must be equal")
    if not np.isfinite(array).all() or array.min() < 0:
        raise ValueError(f"{name} must hold finite numbers of 0 or more")
    return array


def n_weighted(scores: NDArray[Any], *weights: NDArray[np.float64] | None) -> int:
    """How many samples count: those of which an answer has a weight, and at least one."""
    present = [weight for weight in weights if weight is not None]
    if len(present) < len(weights):
        return len(scores)
    return max(1, int(np.hstack(present).any(axis=1).sum()))


def read_groups(groups: ArrayLike | None, n_samples: int) -> NDArray[np.int64] | None:
    """Which rows belong together: one integer per row, renumbered without gaps."""
    if groups is None:
        return None
    array = as_array(groups, "groups", (1,), "(n_samples,)")
    if array.dtype.kind not in "iu" or len(array) != n_samples or array.min() < 0:
        raise ValueError(f"groups must hold {n_samples} integers of 0 or more, one a sample")
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def read_log_probabilities(log_probabilities: ArrayLike, lengths: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    """Log-probabilities (n_samples, Q, Q) of answers under prompts, and their lengths (n_samples, Q)."""
    shape = "(n_samples, n_rephrasings, n_rephrasings)"
    array = as_array(log_probabilities, "log_probabilities", (3,), shape, "if", "numbers")
    if array.shape[1] != array.shape[2] or array.shape[1] < 2:
        raise ValueError(f"log_probabilities has shape {array.shape}; it must be {shape}, with 2 or more")
    _refuse_nan(array, "log_probabilities")
    if array.max() > 0:
        raise ValueError(f"log_probabilities holds {array.max():g}; a log-probability is at most 0")
    tokens = as_array(lengths, "lengths", (2,), GRID)
    if tokens.shape != array.shape[:2]:
        raise ValueError(f"lengths has shape {tokens.shape}; it must be {array.shape[:2]}, one an answer")
    if tokens.dtype.kind not in "iu" or tokens.min() < 1:
        raise ValueError("lengths must hold numbers of tokens: integers of 1 or more")
    return array.astype(np.float64), tokens


def as_array(
    values: ArrayLike, name: str, ndims: tuple[int, ...], shape: str, kinds: str = "", content: str = ""
) -> NDArray[Any]:
    """An array that is not empty, of a number of dimensions and, if given, of one of NumPy's kinds of dtype."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} is masked; drop or fix the masked entries first")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is ragged; it must be an array of shape {shape}") from error
    except (TypeError, RuntimeError) as error:  # such as PyTorch's tensors with gradients, or of bfloat16
        raise ValueError(f"{name} can't be read as an array: {error}") from error
    if array.ndim not in ndims:
        raise ValueError(f"{name} has shape {array.shape}; it must be {shape}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: shape {array.shape}")
    if array.dtype == object and all(isinstance(value, int) for value in array.flat):  # pandas' nullable integers
        array = array.astype(np.int64)
    if kinds and array.dtype.kind not in kinds:
        raise ValueError(f"{name} must hold {content}, not {array.dtype}")
    return array


def read_class_numbers(array: NDArray[Any], name: str, n_classes: int | None) -> NDArray[Any]:
    if array.dtype.kind == "f":
        _refuse_nan(array, name)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold class numbers (integers), not {array.dtype}")
    if array.min() < 0:
        raise ValueError(f"{name} holds {array.min()}; classes are numbered from 0, N/A last")
    if n_classes is not None and array.max() >= n_classes:
        raise ValueError(f"{name} holds {array.max()}; with {n_classes} classes the last is {n_classes - 1}")
    return array


def _read_distributions(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    _refuse_nan(array, name)
    array = array.astype(np.float64, copy=False)
    if array.min() < 0:
        raise ValueError(f"{name} holds {array.min():g}; a probability is 0 or more")
    off = np.abs(np.einsum("...i->...", array) - 1).max()
    if off > ROW_SUM_TOLERANCE:
        raise ValueError(
            f"{name} holds floats, so its last axis must sum to 1, but a row is off by {off:g}; "
            "normalise probabilities, or give counts as integers"
        )
    return array


def _refuse_nan(array: NDArray[Any], name: str) -> None:
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinity; drop or fix those entries first")


def read_n_classes(n_classes: int) -> int:
    """An integer of two or more: with one class there is nothing to change between, and ln C is 0."""
    return read_size(n_classes, "n_classes", 2, ", N/A included")


def read_label_list(labels: Sequence[int] | ArrayLike, n_classes: int | None = None) -> NDArray[Any]:
    """A fixed list of labels: distinct class numbers, at least one."""
    array = read_class_numbers(as_array(labels, "labels", (1,), "(n_labels,)"), "labels", n_classes)
    if len(np.unique(array)) != len(array):
        raise ValueError(f"labels repeats a label: {array.tolist()}; give each once")
    return array


def read_choice(value: str | None, name: str, choices: Sequence[str | None]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}")


def read_tail(confidence: float) -> float:
    """The share of each tail, for a confidence strictly between zero and one."""
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence!r}; it must lie between 0 and 1")
    return (1 - float(confidence)) / 2


def read_size(value: int, name: str, least: int = 1, note: str = "") -> int:
    """An integer that is large enough."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} is {value!r}; it must be an integer of {least} or more{note}")
    return int(value)
