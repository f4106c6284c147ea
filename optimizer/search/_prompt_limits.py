"""How large recommended prompts may be, in edits or in tokens per call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.models import capabilities_of
from psopt.models.chat import TokenRange, tokens_of_text
from psopt.search_spaces import render_fixed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psopt.evaluation import Evaluator
    from psopt.search_spaces import Edit, Prompt, SearchRestriction

_MOST_EDITS = 25  # chosen by judgement: about as many as somebody reviews before shipping a prompt
_ENOUGH_TEXTS = 200  # chosen: beyond a few hundred texts, the mean length hardly changes


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """The size limit of recommended prompts: a number of edits, or the tokens per call that the user has set."""

    # A label's definitions by rule count as one, as do its examples; each by a model counts. None for no limit.
    most_edits: int | None
    most_tokens: int | None  # per call, with a text of mean length; None for no limit. Nothing larger is tried
    around: TokenRange  # the tokens of that text, and of the rest of every call (see `tokens_around`)
    examples_allowed: int = 0  # this many examples don't count as edits

    @classmethod
    def of(cls, baseline: Prompt, around: TokenRange, restriction: SearchRestriction) -> PromptLimits:
        """Take the limits that the user has set, otherwise 25 edits; InputError if they don't allow the baseline."""
        most_tokens, most_edits = restriction.max_prompt_tokens, restriction.max_prompt_edits
        if most_tokens is not None and most_tokens < (of_baseline := round(tokens_a_call(baseline, around).middle)):
            raise InputError(
                f"--max-prompt-tokens {most_tokens} does not allow the original prompt: a call of it takes about "
                f"{of_baseline}"
            )
        if most_edits is None and most_tokens is None:
            most_edits = _MOST_EDITS
        return cls(most_edits, most_tokens, around, restriction.examples_allowed)

    def allow(self, prompt: Prompt, edits: Collection[Edit]) -> bool:
        if self.are_too_many(edits):
            return False
        return self.most_tokens is None or round(tokens_a_call(prompt, self.around).middle) <= self.most_tokens

    def are_too_many(self, edits: Collection[Edit]) -> bool:
        """Whether these are more edits than a prompt of any length may have."""
        if self.most_edits is None:
            return False
        others = {edit for edit in edits if edit.kind not in {"calibration", "definition", "example"}}
        # definitions by rule are short phrases on one line; a model's are sentences, to be reviewed one by one
        definitions = [edit for edit in edits if edit.kind == "definition"]
        defined = {(edit.label, edit.step, edit.text if edit.is_drafted else "") for edit in definitions}
        examples = [edit for edit in edits if edit.kind == "example"]
        shown = {(edit.label, edit.step) for edit in examples}
        n_shown = min(len(shown), max(0, len(examples) - self.examples_allowed))
        return len(others) + len(defined) + n_shown > self.most_edits


def tokens_a_call(prompt: Prompt, around: TokenRange) -> TokenRange:
    """Return about how many tokens a model reads per call: the prompt's, and those around it in every call."""
    return tokens_of_text(render_fixed(prompt)) + around


def tokens_around(evaluator: Evaluator) -> TokenRange:
    """Return the tokens of a test text of mean length, plus what every call adds to it and to the prompt."""
    return tokens_of_mean_text(evaluator.texts("test")) + tokens_of_text(capabilities_of(evaluator.model).frame)


def tokens_of_mean_text(texts: Sequence[str]) -> TokenRange:
    """Return about how many tokens a text has on average; zero if there are no texts."""
    few = texts[:_ENOUGH_TEXTS]
    return sum(map(tokens_of_text, few), TokenRange()).times(1 / max(1, len(few)))
