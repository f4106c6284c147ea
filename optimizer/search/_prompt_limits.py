"""How large a prompt may be that is handed back: so many edits, and so many tokens a call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.models import capabilities_of
from psopt.models.chat import TokenRange, tokens_of_text
from psopt.search_spaces import Example, render_fixed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psopt.evaluation import Evaluator
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
    around : TokenRange
        Those of that text, and of what every call holds beside it (see `tokens_around`).
    is_firm : bool
        Whether the user has set the tokens: then no gain is worth more of them.
    examples_allowed : int
        So many examples don't count among the edits.
    """

    most_edits: int | None
    most_tokens: int
    around: TokenRange
    is_firm: bool = False
    examples_allowed: int = 0

    @classmethod
    def of(
        cls, baseline: Prompt, around: TokenRange, restriction: SearchRestriction, *, of_example: int = 0
    ) -> PromptLimits:
        """Derive them: without a number of the user's, 25 edits and twice the tokens of the baseline, and the examples.

        Parameters
        ----------
        baseline : Prompt
        around : TokenRange
        restriction : SearchRestriction
        of_example : int
            Tokens of an example: as many as the restriction allows come on top.

        Raises
        ------
        InputError
            If the user's number does not even allow the baseline.
        """
        of_baseline = _tokens(baseline, around)
        asked = restriction.max_prompt_tokens
        if asked is not None and asked < of_baseline:
            raise InputError(
                f"--max-prompt-tokens {asked} does not allow the seed prompt: a call of it takes about {of_baseline}"
            )
        room = _TIMES_THE_BASELINE * of_baseline + restriction.examples_allowed * of_example
        most = room if asked is None else asked
        most_edits = restriction.max_prompt_edits
        if most_edits is None and asked is None:
            most_edits = _MOST_EDITS
        return cls(most_edits, most, around, asked is not None, restriction.examples_allowed)

    @classmethod
    def in_search(cls, baseline: Prompt, evaluator: Evaluator, restriction: SearchRestriction) -> PromptLimits:
        """Derive them for a search, from the texts that are asked about; see `of`."""
        of_example = tokens_of_example(baseline, evaluator) if restriction.examples_allowed else 0
        return cls.of(baseline, tokens_around(evaluator), restriction, of_example=of_example)

    def tokens(self, prompt: Prompt) -> int:
        """About how many tokens a call of a prompt takes."""
        return _tokens(prompt, self.around)

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
        said = [edit for edit in edits if edit.kind != "calibration"]
        lines = {(edit.label, edit.step) if edit.kind == "definition" else edit for edit in said}
        n_examples = sum(edit.kind == "example" for edit in edits)
        n_counted = len(lines) - min(n_examples, self.examples_allowed)
        return self.most_edits is not None and n_counted > self.most_edits


def tokens_a_call(prompt: Prompt, around: TokenRange) -> TokenRange:
    """Return about how many tokens a model reads: the prompt's, and those that stand around it in every call."""
    return tokens_of_text(render_fixed(prompt)) + around


def tokens_around(evaluator: Evaluator) -> TokenRange:
    """Return the tokens of a test text of mean length, and of what every call holds beside it and the prompt."""
    return tokens_of_mean_text(evaluator.texts("test")) + tokens_of_text(capabilities_of(evaluator.model).frame)


def tokens_of_example(baseline: Prompt, evaluator: Evaluator) -> int:
    """Return about how many tokens an example adds to a prompt: a test text of mean length with a label."""
    empty = Example("", max(baseline.labels, key=len, default=""))
    one, two = (tokens_of_text(render_fixed(replace(baseline, examples=(empty,) * n))).middle for n in (1, 2))
    return round(two - one + tokens_of_mean_text(evaluator.texts("test")).middle)


def tokens_of_mean_text(texts: Sequence[str]) -> TokenRange:
    """Return about how many tokens a text has in the mean; none where there are no texts."""
    few = texts[:_ENOUGH_TEXTS]
    total = TokenRange()
    for text in few:
        total += tokens_of_text(text)
    return total.times(1 / max(1, len(few)))


def _tokens(prompt: Prompt, around: TokenRange) -> int:
    return round(tokens_a_call(prompt, around).middle)
