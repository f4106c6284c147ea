"""Free answers: the same if they mean the same, by default according to sentence embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers._open_answers import OpenAnswers
from psopt.errors import InputError
from psopt.tasks import EMBEDDING, FUNCTION, JUDGE, NLI, REFERENCE, Instrument

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Embed = Callable[[Sequence[str]], NDArray[np.float32]]
    """Texts to unit vectors, (n, d)."""

BAND = (0.85, 0.9, 0.95)
"""The thresholds at which S is reported: a single one would hide how much S of free answers depends on the matcher."""
_BY_EMBEDDING, _BY_REFERENCE = Instrument(EMBEDDING), Instrument(REFERENCE)
_embeds: list[Embed] = []


def embed_with(embed: Embed) -> None:
    """Set what turns texts into vectors: higher-level packages know models, and this one does not."""
    _embeds[:] = [embed]


@dataclass(frozen=True, slots=True)
class FreeTexts(OpenAnswers):
    """Free answers."""

    # What decides which answers are the same. With an embedding, they are from a certain cosine on. Answers linked by a
    # chain of same ones form one class, so that their order does not matter. Any other instrument is asked elsewhere
    # (`psopt.models.Assessor`), and its verdicts are kept with the answers.
    equivalence: Instrument = _BY_EMBEDDING
    rating: Instrument = _BY_REFERENCE  # what they are worth; with an embedding, the cosine with the nearest reference

    @property
    def quality_name(self) -> str:
        """The mean rating, or the mean cosine with the nearest reference."""
        return "rating" if self.rating.is_asked else "similarity"

    @property
    def note(self) -> str:
        """What is measured differently than for labels."""
        same = {
            EMBEDDING: f"from a cosine of {self.equivalence.threshold:g} of their embeddings on",
            NLI: f"if each follows from the other by {self.equivalence.name}",
            JUDGE: f"if {self.equivalence.name} says so in both orders",
            FUNCTION: f"if {self.equivalence.name} says so",
        }[self.equivalence.kind]
        quality = "similarity to the reference"
        if self.rating.is_asked:
            quality = f"the rating by {self.rating.name}"
        return f"Answers are free texts, the same {same}; {quality} stands where F1 stands else, and C is not defined"

    @property
    def least_right(self) -> float:
        """A free answer is right if it is the same as a reference, according to an embedding."""
        return self.equivalence.threshold

    def prepare(self, answers: Sequence[str]) -> None:
        """Embed answers, all at once: what embeds keeps the vectors."""
        _embedded(answers)

    def classes(self, answers: Sequence[str]) -> list[int]:
        """Return which answers are the same, or linked by answers that are."""
        from scipy.sparse.csgraph import connected_components

        if self.equivalence.kind != EMBEDDING:
            raise ValueError(f"which answers are the same is for {self.equivalence.name} to say")
        if len(answers) < 2:
            return [0] * len(answers)
        vectors = _embedded(answers)
        alike = vectors @ vectors.T >= self.equivalence.threshold
        return [int(number) for number in connected_components(alike, directed=False)[1]]

    def similarity(self, first: str, second: str) -> float:
        """Return the cosine of two answers, 0 if it is negative."""
        if first == second:
            return 1.0
        first_vector, second_vector = _embedded([first, second])
        return float(np.clip(first_vector @ second_vector, 0.0, 1.0))


def _embedded(answers: Sequence[str]) -> NDArray[np.float32]:
    if not _embeds:
        raise InputError("nothing says how free answers are embedded: import psopt.models")
    return _embeds[0](answers)
