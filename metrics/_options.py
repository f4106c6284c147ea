"""What the measures accept besides arrays of answers: sizes, shares, words and lists of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import as_array, read_class_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def read_n_classes(n_classes: int) -> int:
    """An integer of two or more: with one class there is nothing to change between, and ln C is 0."""
    if isinstance(n_classes, bool) or not isinstance(n_classes, int | np.integer) or n_classes < 2:
        raise ValueError(f"n_classes is {n_classes!r}; it must be an integer of 2 or more, N/A included")
    return int(n_classes)


def read_label_list(labels: Sequence[int] | ArrayLike) -> NDArray[Any]:
    """A fixed list of labels: distinct class numbers, at least one."""
    array = read_class_numbers(as_array(labels, "labels", (1,), "(n_labels,)"), "labels", None)
    if len(np.unique(array)) != len(array):
        raise ValueError(f"labels repeats a label: {array.tolist()}; give each once")
    return array


def read_choice(value: str | None, name: str, choices: Sequence[str | None]) -> None:
    """Refuse a word that is not among the choices."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}")


def read_fraction(value: float, name: str) -> float:
    """A number strictly between zero and one."""
    if not 0 < value < 1:
        raise ValueError(f"{name} is {value!r}; it must lie between 0 and 1")
    return float(value)


def read_size(value: int, name: str, least: int = 1) -> int:
    """An integer that is large enough."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} is {value!r}; it must be an integer of {least} or more")
    return int(value)
