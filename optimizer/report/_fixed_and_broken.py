"""Sample by sample: which one prompt answers rightly more often than another, and which less often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import answers_line

if TYPE_CHECKING:
    from psopt.evaluation import Predictions

MOST_ROWS = 500  # a page of more is slow, and nobody reads them


def fixed_and_broken(first: Predictions, second: Predictions, most: int = MOST_ROWS) -> list[dict[str, Any]]:
    """The samples whose share of right answers differs most between two prompts, what the second has broken first.

    Both have the same samples in the same order. Of answers that are graded it is their mean worth.
    """
    change = second.share_right - first.share_right
    by_change = [int(index) for index in np.argsort(-np.abs(change), kind="stable")[:most] if change[index]]
    rows = []
    for index in sorted(by_change, key=lambda place: change[place]):
        sample = first.samples[index]
        rows.append(
            {
                "id": sample.id,
                "text": sample.text,
                "label": sample.label,
                "kind": "fixed" if change[index] > 0 else "broken",
                "answers": [answers_line(predictions.answers_to(index)) for predictions in (first, second)],
                "right": [float(predictions.share_right[index]) for predictions in (first, second)],
            }
        )
    return rows
