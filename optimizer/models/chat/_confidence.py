"""How sure a model was of the tokens that it wrote."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from psopt.errors import ModelError

if TYPE_CHECKING:
    from psopt.models.chat._client import Answer


def confidence_of(logprobs: Any) -> float | None:
    """Return the mean probability of the tokens that were written, in [0, 1] (P24's decoding confidence).

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
    told = [place.get("logprob") for place in (logprobs or {}).get("content") or []]
    if not told or None in told:
        return None
    # some servers round a certain token to a little more than 0
    mean = sum(math.exp(min(float(logprob), 0.0)) for logprob in told) / len(told)
    return mean if math.isfinite(mean) else None


def check_confidence(name: str, answer: Answer) -> None:
    """Make sure that an answer bears the probabilities of its tokens.

    Raises
    ------
    ModelError
        If it does not.
    """
    if answer.confidence is None:
        raise ModelError(f"{name} sent no log-probabilities with its answers: leave --logprobs out")
