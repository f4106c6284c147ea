"""How long the prompts of a search will be, before anything is asked: the rules propose edits to simulated answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import evaluate
from psopt.models.chat import TokenRange, tokens_of_text
from psopt.models.sim import SimulatedModel
from psopt.proposals import MOST_OPEN_EXAMPLES, OPEN_NOTES, propose_edits
from psopt.proposals.llm import MOST_SLICES
from psopt.search_spaces import allowed_edits, apply_edits, first_parameters, render_fixed
from psopt.settings import SearchOptions
from psopt.tasks import subset

if TYPE_CHECKING:
    from psopt.rephrasings import RephrasingSet
    from psopt.search_spaces import Prompt, SearchRestriction
    from psopt.tasks import Sample, Task

# A good model and a weak one: what they get wrong decides which edits there are, and how many.
_LIKE = ("accuracy=0.85,wobble=0.15", "accuracy=0.5,wobble=0.5")
_ENOUGH_SAMPLES = 200  # more find hardly more edits (TREC: 2,600 to 3,400 characters with 60, 2,500 to 3,700 with 500)
# Tokens of an edit that a model drafts: ten words to the most that it may have, at 1.3 tokens a word.
_DRAFT = TokenRange(13, 50)


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
