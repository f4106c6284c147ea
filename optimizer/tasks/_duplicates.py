"""Texts that stand twice."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.tasks._data import Sample


def without_duplicates(samples: Sequence[Sample], *, but: Sequence[Sample] = ()) -> tuple[Sample, ...]:
    """Keep the first of equal texts; drop texts that carry different labels, and those that stand in `but`.

    A text with two labels has no right answer, so none of its samples can teach or choose anything.
    """
    labels: dict[str, set[str | None]] = defaultdict(set)
    for sample in samples:
        labels[normalised(sample.text)].add(sample.label)
    seen = {normalised(sample.text) for sample in but}
    kept = []
    for sample in samples:
        text = normalised(sample.text)
        if text not in seen and len(labels[text]) == 1:
            seen.add(text)
            kept.append(sample)
    return tuple(kept)


def normalised(text: str) -> str:
    """A text as duplicates are looked for: Unicode's compatibility form, case folded, white space collapsed.

    >>> normalised("Ｗho   won ? ")
    'who won ?'
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
