"""Two prompts side by side: added lines, and samples that one fixes or breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import answers_line
from psopt.search_spaces import ShownMessage, mark_added, render_instructions, render_shown, shown_messages

if TYPE_CHECKING:
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Prompt

MOST_ROWS = 500  # a page with more is slow, and nobody reads them


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
