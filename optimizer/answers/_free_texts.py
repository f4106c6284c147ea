"""Free answers: the same if they mean the same, by default according to sentence embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers._open_answers import OpenAnswers, filled_text
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
_vectors: dict[str, NDArray[np.float32]] = {}


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
        """Embed answers, all at once."""
        unknown = [answer for answer in dict.fromkeys(answers) if answer not in _vectors]
        if not unknown:
            return
        if not _embeds:
            raise InputError("nothing says how free answers are embedded: import psopt.evaluation")
        _vectors.update(zip(unknown, _embeds[0](unknown), strict=True))

    def classes(self, answers: Sequence[str]) -> list[int]:
        """Return which answers are the same, or linked by answers that are."""
        from scipy.sparse.csgraph import connected_components

        if self.equivalence.kind != EMBEDDING:
            raise ValueError(f"which answers are the same is for {self.equivalence.name} to say")
        if len(answers) < 2:
            return [0] * len(answers)
        self.prepare(answers)
        vectors = np.stack([_vectors[answer] for answer in answers])
        alike = vectors @ vectors.T >= self.equivalence.threshold
        return [int(number) for number in connected_components(alike, directed=False)[1]]

    def similarity(self, first: str, second: str) -> float:
        """Return the cosine of two answers, 0 if it is negative."""
        if first == second:
            return 1.0
        self.prepare([first, second])
        return float(np.clip(_vectors[first] @ _vectors[second], 0.0, 1.0))


def read_free(answer: str) -> tuple[str | None, str]:
    """Return the whole answer and no kind; or None, and why."""
    return filled_text(answer)
