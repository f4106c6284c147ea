"""Two prompts side by side: added lines, both texts in two columns, samples that one fixes or breaks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import answers_line
from psopt.search_spaces import ShownMessage, mark_added, render_instructions, render_shown, shown_messages
from psopt.text import line_changes

if TYPE_CHECKING:
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Prompt

_CONTEXT = 2  # unchanged lines, shown before and after each change
MOST_ROWS = 500  # a page with more is slow, and nobody reads them


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row of both columns."""

    # The lines; None where a column has none next to the other's
    old: str | None
    new: str | None
    is_changed: bool
    n_hidden: int = 0  # how many unchanged lines this row replaces; it has no text then


def side_by_side(old: str, new: str) -> list[DiffRow]:
    r"""Put two texts side by side, line by line; of unchanged lines only those next to changes are shown.

    >>> for row in side_by_side("Sort it.\nA\nB", "Sort it.\nA is first.\nB"):
    ...     print(row.old, "|", row.new)
    Sort it. | Sort it.
    A | A is first.
    B | B
    """
    old_lines, new_lines = old.splitlines(), new.splitlines()
    rows: list[DiffRow] = []
    changes = line_changes(old_lines, new_lines)
    for number, (kind, old_start, old_end, new_start, new_end) in enumerate(changes):
        pairs = zip_longest(old_lines[old_start:old_end], new_lines[new_start:new_end])
        part = [DiffRow(ours, theirs, is_changed=kind != "equal") for ours, theirs in pairs]
        if kind == "equal":
            n_before = 0 if number == 0 else _CONTEXT
            n_after = 0 if number == len(changes) - 1 else _CONTEXT
            n_hidden = len(part) - n_before - n_after
            if n_hidden > 1:  # a row that replaces one line would take as much room
                hidden = DiffRow(None, None, is_changed=False, n_hidden=n_hidden)
                part = [*part[:n_before], hidden, *part[n_before + n_hidden :]]
        rows += part
    return rows


@dataclass(frozen=True, slots=True)
class PromptPanel:
    """A prompt as a page shows it."""

    copied: str  # what its button copies: the prompt without marks
    messages: list[ShownMessage]  # one without a role where the prompt has psopt's own form

    @classmethod
    def of(cls, prompt: Prompt, seed_prompt: Prompt | None = None) -> PromptPanel:
        """Compare a prompt with the original prompt.

        Without an original prompt, a template or psopt's own form with examples is compared with its author's text, and
        psopt's own form without examples with itself. Examples are shown as turns.
        """
        if prompt.template is None and not prompt.examples:
            text = render_instructions(prompt)
            before = render_instructions(seed_prompt or prompt)
            return cls(text, [ShownMessage("", tuple(mark_added(before.splitlines(), text.splitlines())))])
        if seed_prompt and seed_prompt.template != prompt.template:
            seed_prompt = None
        return cls(render_shown(prompt), shown_messages(prompt, seed_prompt))


def fixed_and_broken(first: Predictions, second: Predictions, most: int = MOST_ROWS) -> list[dict[str, Any]]:
    """The samples whose share of right answers differs most between two prompts, those that the second broke first.

    Both have the same samples in the same order. For graded answers it is their mean worth.
    """
    change = second.share_right - first.share_right
    by_change = [int(index) for index in np.argsort(-np.abs(change), kind="stable")[:most] if change[index]]
    rows = []
    for index in sorted(by_change, key=lambda place: change[place]):
        sample = first.samples[index]
        rows.append(
            {
                "id": sample.id,
                "text": sample.text,
                "label": sample.label,
                "kind": "fixed" if change[index] > 0 else "broken",
                "answers": [answers_line(predictions.answers_to(index)) for predictions in (first, second)],
                "right": [float(predictions.share_right[index]) for predictions in (first, second)],
            }
        )
    return rows
