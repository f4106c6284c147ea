"""How sure a model was of the tokens that it wrote."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from psopt.answers import spoken
from psopt.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.models.chat._client import Answer


def confidence_of(logprobs: Any) -> float | None:
    """Return the mean probability of the tokens that were written, in [0, 1] (P24's decoding confidence).

    Thoughts that stand before what is said are left out.

    Parameters
    ----------
    logprobs : Any
        What a chat completion says of its tokens.

    Returns
    -------
    float or None
        None where the server does not say of every token how probable it was.

    Examples
    --------
    >>> places = [{"token": "Num", "logprob": -0.1}, {"token": "ber", "logprob": -0.7}]
    >>> round(confidence_of({"content": places}), 3)
    0.701
    """
    places = (logprobs or {}).get("content") or []
    told = [place.get("logprob") for place in places[_first_said(places) :]]
    if not told or None in told:
        return None
    # some servers round a certain token to a little more than 0
    mean = sum(math.exp(min(float(logprob), 0.0)) for logprob in told) / len(told)
    return mean if math.isfinite(mean) else None


def _first_said(places: Sequence[Mapping[str, Any]]) -> int:
    """The first token of what is said: after thoughts, where there are any that end."""
    tokens = [str(place.get("token") or "") for place in places]
    text = "".join(tokens)
    said = (spoken(text) or "").strip()
    begin = text.rfind(said) if said else 0
    ends = itertools.accumulate(len(token) for token in tokens)
    return next((number for number, end in enumerate(ends) if end > begin), 0)


def check_confidence(name: str, answer: Answer) -> None:
    """Make sure that an answer bears the probabilities of its tokens.

    Raises ModelError if it does not.
    """
    if answer.confidence is None:
        raise ModelError(f"{name} sent no log-probabilities with its answers: leave --logprobs out")
