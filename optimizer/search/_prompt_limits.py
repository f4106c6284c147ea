"""How large prompts may be that are handed back, in edits or in tokens per call, and how large a search makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.diagnosis import diagnose_predictions
from psopt.errors import InputError
from psopt.evaluation import evaluate
from psopt.models import capabilities_of
from psopt.models.chat import TokenRange, tokens_of_text
from psopt.models.sim import SimulatedModel
from psopt.proposals import MOST_OPEN_EXAMPLES, OPEN_NOTES, propose_edits
from psopt.proposals.llm import MOST_SLICES
from psopt.search_spaces import allowed_edits, apply_edits, first_parameters, render_fixed
from psopt.settings import SearchOptions
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psopt.evaluation import Evaluator
    from psopt.rephrasings import RephrasingSet
    from psopt.search_spaces import Edit, Prompt, SearchRestriction
    from psopt.tasks import Sample, Task

_MOST_EDITS = 25  # chosen, by judgement: what somebody reads before it is shipped
_ENOUGH_TEXTS = 200  # chosen: the mean length of a few hundred texts hardly moves with more
# A good model and a weak one: what they get wrong decides which edits there are, and how many.
_LIKE = ("accuracy=0.85,wobble=0.15", "accuracy=0.5,wobble=0.5")
_ENOUGH_SAMPLES = 200  # more find hardly more edits (TREC: 2,600 to 3,400 characters with 60, 2,500 to 3,700 with 500)
# Tokens of an edit that a model drafts: ten words to the most that it may have, at 1.3 tokens a word.
_DRAFT = TokenRange(13, 50)


@dataclass(frozen=True, slots=True)
class PromptLimits:
    """The size limit of what is handed back: a number of edits, or the tokens per call that the user has set."""

    # A label's definitions by rule count once, as do its examples; each that a model wrote counts. None for any number.
    most_edits: int | None
    most_tokens: int | None  # A call, with a text of mean length; None for any number. Nothing larger is tried.
    around: TokenRange  # those of that text, and of what every call holds beside it (see `tokens_around`)
    examples_allowed: int = 0  # so many examples don't count among the edits

    @classmethod
    def of(cls, baseline: Prompt, around: TokenRange, restriction: SearchRestriction) -> PromptLimits:
        """Take what the user has set, else 25 edits.

        Raises InputError if the user's number does not even allow the baseline.
        """
        most_tokens, most_edits = restriction.max_prompt_tokens, restriction.max_prompt_edits
        if most_tokens is not None and most_tokens < (of_baseline := _tokens(baseline, around)):
            raise InputError(
                f"--max-prompt-tokens {most_tokens} does not allow the original prompt: a call of it takes about "
                f"{of_baseline}"
            )
        if most_edits is None and most_tokens is None:
            most_edits = _MOST_EDITS
        return cls(most_edits, most_tokens, around, restriction.examples_allowed)

    @classmethod
    def in_search(cls, baseline: Prompt, evaluator: Evaluator, restriction: SearchRestriction) -> PromptLimits:
        """Take them for a search, whose texts say how long a call is; see `of`."""
        return cls.of(baseline, tokens_around(evaluator), restriction)

    def tokens(self, prompt: Prompt) -> int:
        """About how many tokens per call of a prompt takes."""
        return _tokens(prompt, self.around)

    def allow(self, prompt: Prompt, edits: Collection[Edit]) -> bool:
        """Whether a prompt with these edits is within the limit."""
        if self.are_too_many(edits):
            return False
        return self.most_tokens is None or self.tokens(prompt) <= self.most_tokens

    def are_too_many(self, edits: Collection[Edit]) -> bool:
        """Whether a prompt of any length must not have so many edits."""
        if self.most_edits is None:
            return False
        others = {edit for edit in edits if edit.kind not in {"calibration", "definition", "example"}}
        # by rule they are short phrases on one line; a model's are sentences, to be read one by one
        definitions = [edit for edit in edits if edit.kind == "definition"]
        defined = {(edit.label, edit.step, edit.text if edit.is_drafted else "") for edit in definitions}
        examples = [edit for edit in edits if edit.kind == "example"]
        shown = {(edit.label, edit.step) for edit in examples}
        n_shown = min(len(shown), max(0, len(examples) - self.examples_allowed))
        return len(others) + len(defined) + n_shown > self.most_edits


def tokens_a_call(prompt: Prompt, around: TokenRange) -> TokenRange:
    """Return about how many tokens a model reads: the prompt's, and those that stand around it in every call."""
    return tokens_of_text(render_fixed(prompt)) + around


def tokens_around(evaluator: Evaluator) -> TokenRange:
    """Return the tokens of a test text of mean length, and of what every call holds beside it and the prompt."""
    return tokens_of_mean_text(evaluator.texts("test")) + tokens_of_text(capabilities_of(evaluator.model).frame)


def tokens_of_mean_text(texts: Sequence[str]) -> TokenRange:
    """Return about how many tokens a text has in the mean; none where there are no texts."""
    few = texts[:_ENOUGH_TEXTS]
    total = TokenRange()
    for text in few:
        total += tokens_of_text(text)
    return total.times(1 / max(1, len(few)))


def _tokens(prompt: Prompt, around: TokenRange) -> int:
    return round(tokens_a_call(prompt, around).middle)


def tokens_of_all_edits(
    task: Task,
    prompt: Prompt,
    rephrasings: RephrasingSet,
    train: tuple[Sample, ...],
    parts: SearchRestriction,
    *,
    drafted: bool = False,
) -> TokenRange:
    """Return by how many tokens the original prompt grows with all edits of a first round, about; no model is asked.

    Parameters
    ----------
    drafted : bool
        Whether a model drafts edits too.
    """
    if task.spec.is_open:
        return _tokens_of_open_edits(train)
    samples = tuple(subset(train, _ENOUGH_SAMPLES, seed=0))
    before = tokens_of_text(render_fixed(prompt))
    grown = []
    for options in _LIKE:
        predictions = evaluate(SimulatedModel(options, task), prompt, rephrasings.search, samples)
        seen = diagnose_predictions(predictions, labelled=task.train).of_views(parts.views)
        edits = allowed_edits(propose_edits(task, prompt, predictions, seen), parts)
        longest = apply_edits(prompt, first_parameters(edits, SearchOptions().most_edits))
        grown.append(tokens_of_text(render_fixed(longest)))
    most = min(MOST_SLICES, len(task.labels)) if drafted else 0
    drafts = TokenRange(_DRAFT.low * most, _DRAFT.high * (most + MOST_SLICES if drafted else 0))
    low = min(tokens.low for tokens in grown) - before.low
    high = max(tokens.high for tokens in grown) - before.high
    return TokenRange(max(0.0, low), max(0.0, high)) + drafts


def _tokens_of_open_edits(train: tuple[Sample, ...]) -> TokenRange:
    """Examples of usual length and a few notes: what open answers will be is not simulated."""
    shown = subset(train, _ENOUGH_SAMPLES, seed=0, by_label=False)
    ranges = [tokens_of_text(f"{sample.text} {sample.label}") for sample in shown]
    n_examples = min(MOST_OPEN_EXAMPLES, len(ranges))
    notes = tokens_of_text(" ".join(OPEN_NOTES))
    if not ranges:
        return TokenRange(0.0, notes.high)
    low = min(tokens.low for tokens in ranges)
    high = sum(tokens.high for tokens in ranges) / len(ranges)
    return TokenRange(low, n_examples * high + notes.high)
