"""How large recommended prompts may be, in edits or in tokens per call, and how large a search makes prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.diagnosis import diagnose_predictions
from psopt.errors import InputError
from psopt.evaluation import evaluate
from psopt.models import capabilities_of
from psopt.models.chat import TokenRange, tokens_of_text
from psopt.models.sim import SimulatedModel
from psopt.proposals import N_OPEN_EXAMPLES, OPEN_NOTES, propose_edits
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

_MOST_EDITS = 25  # chosen by judgement: about as many as somebody reviews before shipping a prompt
_ENOUGH_TEXTS = 200  # chosen: beyond a few hundred texts, the mean length hardly changes
# A good model and a weak one: their errors decide which edits are proposed, and how many.
_LIKE = ("accuracy=0.85,wobble=0.15", "accuracy=0.5,wobble=0.5")
_ENOUGH_SAMPLES = 200  # more add hardly any edits (TREC: 2,600 to 3,400 characters with 60, 2,500 to 3,700 with 500)
# Tokens of an edit that a model drafts: from ten words to the most that it may have, at 1.3 tokens per word.
_DRAFT = TokenRange(13, 50)


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
        """Take the limits for a search, whose texts determine how long a call is; see `of`."""
        return cls.of(baseline, tokens_around(evaluator), restriction)

    def tokens(self, prompt: Prompt) -> int:
        """About how many tokens one call of a prompt takes."""
        return _tokens(prompt, self.around)

    def allow(self, prompt: Prompt, edits: Collection[Edit]) -> bool:
        """Whether a prompt with these edits is within the limit."""
        if self.are_too_many(edits):
            return False
        return self.most_tokens is None or self.tokens(prompt) <= self.most_tokens

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
    """Estimate by how many tokens all edits of a first round lengthen the original prompt; no model is asked.

    `drafted` says whether a model drafts edits too.
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
    drafts = TokenRange()
    if drafted:
        most = min(MOST_SLICES, len(task.labels))
        drafts = TokenRange(_DRAFT.low * most, _DRAFT.high * (most + MOST_SLICES))
    low = min(tokens.low for tokens in grown) - before.low
    high = max(tokens.high for tokens in grown) - before.high
    return TokenRange(max(0.0, low), max(0.0, high)) + drafts


def _tokens_of_open_edits(train: tuple[Sample, ...]) -> TokenRange:
    """Examples of usual length and a few notes: open answers are not simulated."""
    shown = subset(train, _ENOUGH_SAMPLES, seed=0, by_label=False)
    ranges = [tokens_of_text(f"{sample.text} {sample.label}") for sample in shown]
    n_examples = min(N_OPEN_EXAMPLES, len(ranges))
    notes = tokens_of_text(" ".join(OPEN_NOTES))
    if not ranges:
        return TokenRange(0.0, notes.high)
    low = min(tokens.low for tokens in ranges)
    high = sum(tokens.high for tokens in ranges) / len(ranges)
    return TokenRange(low, n_examples * high + notes.high)
