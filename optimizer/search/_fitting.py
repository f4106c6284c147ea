"""Choices of edits that fit into the limits on what is handed back.

A search is free to try what is larger: what does good in a large prompt tells which edits a small one needs. The
first round tries a prompt within the limits all the same, so that small searches have one to hand back. Where the user
has set the limit, nothing above it is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search._shorten import edit_worths
from psopt.search_spaces import CALIBRATE, apply_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from psopt.search._state import SearchState
    from psopt.search_spaces import Edit

TOO_LARGE = "larger than --max-prompt-tokens allows: the best of its edits are tried in its place"
TOO_LONG = "longer than the model reads: the best of its edits are tried in its place"
UNCALIBRATED = "the original prompt is nearly constant or a guess, and so it stays without calibration: tried with it"
"""Why a trial was dropped."""


def obvious(state: SearchState, new: Sequence[Edit], *, is_first: bool) -> list[tuple[Edit, ...]]:
    """Return what is tried first of a round's edits, beside the best prompt's; at first also the best that fits."""
    problem = state.problem
    reads_examples = len(problem.orders) > 1 or problem.options.parts.examples_allowed > 0
    families = obvious_choices(new, problem.task.labels, with_examples_alone=is_first and reads_examples)
    choices = [(*state.best.edits, *chosen) for chosen in families]
    if is_first and problem.limits.most_tokens is None:  # soon, so that small searches have one too
        everything = (*state.best.edits, *new)
        choices.insert(choices.index(everything) + 1, best_within(state, everything))
    return list(dict.fromkeys(in_place_of(state, edits) for edits in choices))


def objection(state: SearchState, edits: Sequence[Edit]) -> str:
    """Say why others are tried in place of a draw; empty for one that may be tried."""
    if not state.history.candidates:
        return ""
    if _needs_calibration(state, edits):
        return UNCALIBRATED
    if state.problem.limits.most_tokens is not None and not _allows(state, edits):
        return TOO_LARGE
    return "" if _reads(state, edits) else TOO_LONG


def in_place_of(state: SearchState, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return what is tried in place of a draw: the draw itself, calibrated where that is needed, as far as it fits."""
    if objection(state, edits) == UNCALIBRATED:
        edits = (CALIBRATE, *edits)
    return best_within(state, edits, _may_be_tried) if objection(state, edits) else edits


def _allows(state: SearchState, edits: Sequence[Edit]) -> bool:
    return state.problem.limits.allow(apply_edits(state.problem.baseline_prompt, edits), edits)


def _reads(state: SearchState, edits: Sequence[Edit]) -> bool:
    return state.problem.can_read(apply_edits(state.problem.baseline_prompt, edits))


def _may_be_tried(state: SearchState, edits: Sequence[Edit]) -> bool:
    """Only tokens that the user has set, and what models read, bound what is tried: 25 edits what is handed back."""
    return (state.problem.limits.most_tokens is None or _allows(state, edits)) and _reads(state, edits)


def best_within(
    state: SearchState, edits: tuple[Edit, ...], allows: Callable[[SearchState, Sequence[Edit]], bool] = _allows
) -> tuple[Edit, ...]:
    """Choose the edits that do most good, as far as the limits allow; all of them if they fit.

    What they do is told by the trials so far and, before these tell anything, by what proposers expect. Bundles stay
    whole, and the order of the edits stays.
    """
    if allows(state, edits):
        return edits
    worths = edit_worths(state.history.evaluated, state.pool)
    ranked = sorted(edits, key=lambda edit: (-worths.get(edit.parameter_name, 0.0), -edit.gain))
    chosen = {edit for edit in edits if edit.kind == "calibration"}  # which counts for nothing
    for name in dict.fromkeys(edit.parameter_name for edit in ranked):
        larger = chosen | {edit for edit in edits if edit.parameter_name == name}
        if allows(state, [edit for edit in edits if edit in larger]):
            chosen = larger
    return tuple(edit for edit in edits if edit in chosen)


def _needs_calibration(state: SearchState, edits: Sequence[Edit]) -> bool:
    """Whether edits without calibration would be a trial for nothing.

    Where a model answers the original prompt nearly always alike, or guesses, calibration is the one edit that changes
    that: SmolLM2 on TREC has F1 .02 to .03 under definitions, notes and examples without it, .40 to .56 with it.
    """
    if CALIBRATE in edits or not edits or CALIBRATE not in state.pool:
        return False
    return CALIBRATE in state.best.edits and state.baseline.val.is_hollow


def obvious_choices(
    new: Sequence[Edit], labels: Iterable[str], *, with_examples_alone: bool = False
) -> list[list[Edit]]:
    """Return what is tried first of a round's edits: all of them, plain families of them, and the best few.

    Examples alone, all and the first of each label, are for models that read them as turns of a conversation: there
    they make answers steadier than any text does (`experiments/example_turns.py`).
    """
    notes = [edit for edit in new if edit.kind == "note"]
    definitions = [edit for edit in new if edit.kind == "definition"]
    of_whole_labels = [edit for edit in definitions if edit.provenance.topic in set(labels)]
    gaining = [edit for edit in new if edit.gain > 0]
    better_half = gaining[: (len(gaining) + 1) // 2]
    examples = [edit for edit in new if edit.kind == "example"]
    families = [list(new), notes + definitions, notes + of_whole_labels, notes, better_half]
    if with_examples_alone and examples:
        first_of_each_label = [edit for edit in examples if edit.bundle == examples[0].bundle]
        families = [examples, *families, first_of_each_label]
    return families
