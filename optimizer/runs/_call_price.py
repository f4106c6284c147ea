"""The price of a prompt's length: the tokens of a call, and the cost of a thousand calls."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.models.chat import TokenRange, price_of, tokens_of_answer
from psopt.runs._directory import MANIFEST, SAMPLES
from psopt.search import tokens_a_call, tokens_of_mean_text
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.runs._directory import RunDirectory
    from psopt.search_spaces import Prompt

_CALLS = 1000  # that a price is given for
NOTHING = TokenRange()


@dataclass(frozen=True, slots=True)
class CallPrice:
    """What a call takes."""

    tokens: int  # about how many are read: the prompt's, and those around it, including a text of mean length
    # Of a thousand calls including their answers, in US dollars; None if no table has the model's price
    usd_per_thousand: float | None = None

    @classmethod
    def of(cls, prompt: Prompt, model: str, around: TokenRange = NOTHING) -> CallPrice:
        """Estimate it from the length of the prompt and what is around it (see `tokens_around`); no model is asked."""
        read = tokens_a_call(prompt, around).middle
        cost = None
        with contextlib.suppress(InputError):  # the user's table can't be read: reported where a cost limit needs it
            if price := price_of(model):
                cost = price.of(read * _CALLS, tokens_of_answer(prompt).middle * _CALLS)
        return cls(round(read), cost)

    def to_dict(self) -> dict[str, Any]:
        cost = self.usd_per_thousand
        return {"tokens_a_call": self.tokens, "usd_per_thousand": cost and round(cost, 6)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CallPrice:
        return cls(data["tokens_a_call"], data["usd_per_thousand"])


def asked_about(directory: RunDirectory) -> tuple[str, TokenRange]:
    """Return a run's model, and the tokens around its prompts: those of a test text of mean length and of the frame."""
    manifest = directory.read_json(MANIFEST)
    of_text = tokens_of_mean_text([sample["text"] for sample in directory.read_json(SAMPLES)["test"]])
    return manifest["model"], of_text + TokenRange(*manifest.get("frame_tokens", ()))


def price_line(before: CallPrice, after: CallPrice) -> str:
    """Describe what calls take before and after.

    >>> price_line(CallPrice(41, 0.0123), CallPrice(96, 0.0205))
    'about 41 -> 96 tokens per call; 0.0123 -> 0.0205 USD for a thousand calls'
    """
    line = f"about {_changed(f'{before.tokens:,}', f'{after.tokens:,}')} tokens per call"
    if before.usd_per_thousand is None or after.usd_per_thousand is None:
        return line
    costs = _changed(f"{before.usd_per_thousand:.3g}", f"{after.usd_per_thousand:.3g}")
    return f"{line}; {costs} USD for a thousand calls"


def more_line(before: CallPrice, after: CallPrice) -> str:
    """Describe how much more a call takes, for the end of a verdict.

    >>> more_line(CallPrice(41, 0.0123), CallPrice(353, 0.0643))
    '312 more tokens per call (0.052 USD more for a thousand)'
    >>> more_line(CallPrice(41), CallPrice(40))
    '1 fewer token per call'
    """
    n_more = after.tokens - before.tokens
    line = f"{counted(abs(n_more), 'fewer token' if n_more < 0 else 'more token')} per call"
    if not n_more:
        line = "as many tokens per call"
    if before.usd_per_thousand is None or after.usd_per_thousand is None:
        return line
    usd_more = after.usd_per_thousand - before.usd_per_thousand
    return f"{line} ({abs(usd_more):.2g} USD {'less' if usd_more < 0 else 'more'} for a thousand)"


def _changed(before: str, after: str) -> str:
    return before if before == after else f"{before} -> {after}"
