"""How large a prompt may be that is handed back: so many edits, and so many tokens a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.models.chat import TokenRange, tokens_of_text
from psopt.search_spaces import render_fixed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psopt.search_spaces import Edit, Prompt, SearchRestriction

_MOST_EDITS = 25  # chosen, by judgement: what somebody reads before it is shipped
_TIMES_THE_BASELINE = 2  # chosen: what a user of many calls would still pay for a better prompt, by judgement
_ENOUGH_TEXTS = 200  # chosen: the mean length of a few hundred texts hardly moves with more


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """The limits on what is handed back.

    Attributes
    ----------
    most_edits : int or None
        Definitions of one label count once: they stand on one line, as merged notes do. None for any number.
    most_tokens : int
        A call, with a text of mean length.
    text_tokens : TokenRange
        Those of that text.
    is_firm : bool
        Whether the user has set the tokens: then no gain is worth more of them.
    """

    most_edits: int | None
    most_tokens: int
    text_tokens: TokenRange
    is_firm: bool = False

    @classmethod
    def of(cls, baseline: Prompt, texts: Sequence[str], restriction: SearchRestriction) -> PromptLimits:
        """Derive them: without a number of the user's, 25 edits and twice the tokens of the baseline.

        Raises
        ------
        InputError
            If the user's number does not even allow the baseline.
        """
        text_tokens = tokens_of_mean_text(texts)
        of_baseline = _tokens(baseline, text_tokens)
        asked = restriction.max_prompt_tokens
        if asked is not None and asked < of_baseline:
            raise InputError(
                f"--max-prompt-tokens {asked} does not allow the seed prompt: a call of it takes about {of_baseline}"
            )
        most = _TIMES_THE_BASELINE * of_baseline if asked is None else asked
        most_edits = restriction.max_prompt_edits
        if most_edits is None and asked is None:
            most_edits = _MOST_EDITS
        return cls(most_edits, most, text_tokens, asked is not None)

    def tokens(self, prompt: Prompt) -> int:
        """About how many tokens a call of a prompt takes."""
        return _tokens(prompt, self.text_tokens)

    def allow(self, prompt: Prompt, edits: Collection[Edit]) -> bool:
        """Whether a prompt with these edits is within the limits."""
        return self.excess(prompt, edits) == 0

    def excess(self, prompt: Prompt, edits: Collection[Edit]) -> int:
        """Return how many limits must be lifted for a prompt: 0, 1 for that on tokens, 2 for that on edits too."""
        if self.are_too_many(edits):
            return 2
        return int(self.tokens(prompt) > self.most_tokens)

    def are_too_many(self, edits: Collection[Edit]) -> bool:
        """Whether a prompt of any length must not have so many edits."""
        lines = {(edit.label, edit.step) if edit.kind == "definition" else edit for edit in edits}
        return self.most_edits is not None and len(lines) > self.most_edits


def tokens_a_call(prompt: Prompt, text_tokens: TokenRange) -> TokenRange:
    """Return about how many tokens a model reads: the prompt's, and those of a text of mean length."""
    return tokens_of_text(render_fixed(prompt)) + text_tokens


def tokens_of_mean_text(texts: Sequence[str]) -> TokenRange:
    """Return about how many tokens a text has in the mean; none where there are no texts."""
    few = texts[:_ENOUGH_TEXTS]
    total = TokenRange()
    for text in few:
        total += tokens_of_text(text)
    return total.times(1 / max(1, len(few)))


def _tokens(prompt: Prompt, text_tokens: TokenRange) -> int:
    return round(tokens_a_call(prompt, text_tokens).middle)
