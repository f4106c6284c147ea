"""Choices of edits that fit into the limits on what is handed back.

A search is free to try what is larger: what does good in a large prompt tells which edits a small one needs. The
first round tries a prompt within the limits all the same, so that small searches have one to hand back. Where the user
has set the limit, nothing above it is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.search._edit_worths import EditWorths, best_within
from psopt.search_spaces import CALIBRATE, apply_edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.search._state import SearchState
    from psopt.search_spaces import Edit, Prompt

TOO_LARGE = "larger than --max-prompt-tokens allows: the best of its edits are tried in its place"
UNCALIBRATED = "the original prompt is nearly constant, and so it stays without calibration: tried with it"
"""Why a trial was dropped."""


class Fitting:
    """Chooses, of edits that are too many or too long, those that are worth most."""

    def __init__(self, state: SearchState) -> None:
        self._state = state
        self._problem = state.problem
        self._fitted: tuple[int, EditWorths] | None = None

    @property
    def _worths(self) -> EditWorths:
        """What edits are worth, by all trials so far."""
        evaluated = self._state.history.evaluated
        if self._fitted is None or self._fitted[0] != len(evaluated):
            by_trial = sorted(evaluated, key=lambda candidate: candidate.trial)
            worths = EditWorths.of(by_trial, self._state.baseline, self._state.history.pool)
            self._fitted = (len(evaluated), worths)
        return self._fitted[1]

    def obvious(self, new: Sequence[Edit], labels: Sequence[str], *, is_first: bool) -> list[tuple[Edit, ...]]:
        """Return what is tried first of a round's edits, beside the best prompt's; at first also the best that fits."""
        best = self._state.best.edits
        with_examples_alone = is_first and self._problem.options.parts.examples_allowed > 0
        obvious = obvious_choices(new, labels, with_examples_alone=with_examples_alone)
        choices = [(*best, *chosen) for chosen in obvious]
        if self._problem.limits.most_tokens is not None:
            return list(dict.fromkeys(self._best_of(edits) for edits in choices))
        within = [self._best_of(choices[0])] if is_first else []  # soon, so that small searches have one too
        return list(dict.fromkeys([choices[0], *within, *choices[1:]]))

    def _best_of(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """Choose what is worth most within the limits; all of the edits if they fit."""
        return tuple(edits) if self._allows(edits) else self._best_within(edits, self._worths)

    def objection(self, edits: Sequence[Edit]) -> str:
        """Say why others are tried in place of a draw; empty for one that may be tried."""
        if self._needs_calibration(edits):
            return UNCALIBRATED
        is_held_to = self._problem.limits.most_tokens is not None and self._state.history.candidates
        return TOO_LARGE if is_held_to and not self._allows(edits) else ""

    def in_place_of(self, prompt: Prompt, edits: Sequence[Edit]) -> tuple[Edit, ...] | None:
        """Return what is tried in place of a draw; None for one that may be tried.

        A draw without calibration gets it where it makes the difference (see `_needs_calibration`). In place of one
        that is larger than the user's limit, the draw and the edits of the best prompt are what is chosen from, by
        worths that are drawn from what is known of them; equal draws get equal ones.
        """
        objection = self.objection(edits)
        if objection == UNCALIBRATED:
            calibrated = (CALIBRATE, *edits)
            return self.in_place_of(self._prompt(calibrated), calibrated) or calibrated
        if not objection:
            return None
        worths = self._worths.drawn(np.random.default_rng([self._problem.options.seed, int(prompt.id, 16)]))
        chosen = {*edits, *self._state.best.edits}
        return self._best_within([edit for edit in self._state.history.pool if edit in chosen], worths)

    def _needs_calibration(self, edits: Sequence[Edit]) -> bool:
        """Whether edits without calibration would be a trial for nothing.

        Where a model answers the original prompt nearly always alike, calibration is the one edit that changes that:
        SmolLM2 on TREC has F1 .02 to .03 under definitions, notes and examples without it, .40 to .56 with it.
        """
        state = self._state
        if CALIBRATE in edits or not edits or CALIBRATE not in state.history.pool or not state.history.candidates:
            return False
        return CALIBRATE in state.best.edits and state.baseline.val.near_constant is not None

    def _best_within(self, edits: Sequence[Edit], worths: EditWorths) -> tuple[Edit, ...]:
        tokens = self._problem.limits.tokens
        said = [edit for edit in edits if edit.kind != "calibration"]
        chosen = best_within(said, worths, self._allows, lambda chosen: tokens(self._prompt(chosen)))
        return tuple(edit for edit in edits if edit in chosen or edit.kind == "calibration")  # which counts for nothing

    def _allows(self, edits: Sequence[Edit]) -> bool:
        return self._problem.limits.allow(self._prompt(edits), edits)

    def _prompt(self, edits: Sequence[Edit]) -> Prompt:
        return apply_edits(self._problem.baseline_prompt, edits)


def obvious_choices(
    new: Sequence[Edit], labels: Iterable[str], *, with_examples_alone: bool = False
) -> list[list[Edit]]:
    """Return what is tried first of a round's edits: all of them, plain families of them, and the best few."""
    notes = [edit for edit in new if edit.kind == "note"]
    definitions = [edit for edit in new if edit.kind == "definition"]
    of_whole_labels = [edit for edit in definitions if edit.provenance.topic in set(labels)]
    gaining = [edit for edit in new if edit.gain > 0]
    better_half = gaining[: (len(gaining) + 1) // 2]
    examples = [edit for edit in new if edit.kind == "example"]
    alone = [examples] if with_examples_alone and examples else []
    return [list(new), *alone, notes + definitions, notes + of_whole_labels, notes, better_half]
