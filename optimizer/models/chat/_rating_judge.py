"""A model that rates free answers beside a reference: from 1 to 10, in both orders, read strictly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import spoken
from psopt.models.chat._verdicts import DATA, ask_judge, check_read, tagged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models._assessor import Rated
    from psopt.models.chat._writer import Writer
    from psopt.search_spaces import Messages

_SYSTEM = f"You rate answers. {DATA}"
_ASKED = (
    "Rate <answer> by how well it does what <task> asks, beside <reference>, which is a good answer: 1 is of no use, 5 "
    "is partly right, 10 is as good as the reference or better. Other words are no fault, and length is no merit. "
    "Answer with the number alone."
)
# A number alone; "Rating: 7", "7/10" and "**7**" are read too. Whatever else is said is no rating.
_RATING = re.compile(r"\W*(?:(?:rating|score)\W{1,3})?(\d{1,3})(?:\s*/\s*10)?\W*", re.IGNORECASE)
_LOWEST, _HIGHEST = 1, 10
_AGREE = 1  # ratings that lie no further apart are the same


@dataclass(frozen=True, slots=True)
class Rating:
    """What a judge says of an answer that stands after the reference, and before it; None where it gave no rating."""

    after: int | None
    before: int | None

    @property
    def mean(self) -> float | None:
        """In [0, 1]; None without a rating."""
        known = [rating for rating in (self.after, self.before) if rating is not None]
        return (sum(known) / len(known) - _LOWEST) / (_HIGHEST - _LOWEST) if known else None


class RatingJudge:
    """Rates answers, each once; see `psopt.models.Rater`.

    Parameters
    ----------
    writer : Writer
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._ratings: dict[Rated, Rating] = {}

    def rate(self, answers: Sequence[Rated]) -> list[float]:
        """Return what each answer is rated; one without a rating is worth what the others are in the mean.

        Raises
        ------
        ModelError
            If more than a tenth of all so far get no rating, asked twice in each order; or the judge can't be reached.
        """
        self._ask([item for item in dict.fromkeys(answers) if item not in self._ratings])
        means = [self._ratings[item].mean for item in answers]
        known = [mean for mean in means if mean is not None]
        usual = float(np.mean(known)) if known else 0.0
        return [usual if mean is None else mean for mean in means]

    def measures(self, answers: Sequence[Rated]) -> dict[str, float]:
        """Return how far the judge agrees with itself, and by how much it prefers what stands last."""
        return judge_measures([self._ratings[item] for item in answers])

    def _ask(self, unknown: Sequence[Rated]) -> None:
        if not unknown:
            return
        sides = [
            ask_judge(self._writer, [_messages(item, answer_first=first) for item in unknown], read_rating)
            for first in (False, True)
        ]
        ratings = {item: Rating(*pair) for item, pair in zip(unknown, zip(*sides, strict=True), strict=True)}
        self._ratings.update(ratings)
        unread = [_messages(item, answer_first=False) for item, said in self._ratings.items() if said.mean is None]
        what = f"gives {{share}} answers no rating from {_LOWEST} to {_HIGHEST}"
        check_read(self._writer, unread, len(self._ratings), what)


def read_rating(text: str) -> int | None:
    """Return the rating that a judge's answer is; None if it is none.

    >>> [read_rating(text) for text in ("7", "Rating: 7/10", "<think>8?</think> 7.", "11", "7 or 8", "good")]
    [7, 7, 7, None, None, None]
    """
    match = _RATING.fullmatch(spoken(text) or "")
    rating = int(match[1]) if match else 0
    return rating if _LOWEST <= rating <= _HIGHEST else None


def judge_measures(ratings: Sequence[Rating]) -> dict[str, float]:
    """Return how far a judge agrees with itself, and by how much it prefers what stands last, in ratings' range."""
    both = np.array(
        [(rating.after, rating.before) for rating in ratings if rating.after is not None and rating.before is not None]
    )
    if not len(both):
        return {}
    differences = both[:, 0] - both[:, 1]
    return {
        "judge agrees with itself": float((np.abs(differences) <= _AGREE).mean()),
        "judge's order bias": float(differences.mean() / (_HIGHEST - _LOWEST)),
    }


def _messages(rated: Rated, *, answer_first: bool) -> Messages:
    text, reference, answer = rated
    parts = [tagged("reference", reference), tagged("answer", answer)]
    ordered = [tagged("task", text), *(reversed(parts) if answer_first else parts)]
    return [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": "\n".join([*ordered, "", _ASKED])}]
