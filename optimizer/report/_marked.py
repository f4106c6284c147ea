"""A prompt beside the original prompt: which of its lines were added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.search_spaces import ShownLine, ShownMessage, mark_added, render_instructions, render_shown, shown_messages

if TYPE_CHECKING:
    from psopt.search_spaces import Prompt


@dataclass(frozen=True, slots=True)
class PromptPanel:
    """A prompt as a page shows it."""

    copied: str  # what its button copies: the prompt without marks
    messages: list[ShownMessage]  # one without a role where the prompt has psopt's own form

    @classmethod
    def of(cls, prompt: Prompt, seed_prompt: Prompt | None = None) -> PromptPanel:
        """Put a prompt beside the original prompt.

        Without an original prompt a template, or psopt's own form with examples, is beside what its author wrote, and
        psopt's own form without examples beside itself. Examples are shown as the turns that they are.
        """
        if prompt.template is None and not prompt.examples:
            text = render_instructions(prompt)
            seed_text = render_instructions(seed_prompt or prompt)
            return cls(text, [ShownMessage("", tuple(marked(text, seed_text)))])
        original = seed_prompt if seed_prompt and seed_prompt.template == prompt.template else None
        return cls(render_shown(prompt), shown_messages(prompt, original))


def marked(prompt: str, seed_prompt: str) -> list[ShownLine]:
    r"""Mark the lines of a prompt that the original prompt doesn't have.

    >>> [line.added for line in marked("Sort it.\nA is first.", "Sort it.")]
    [False, True]
    """
    return mark_added(seed_prompt.splitlines(), prompt.splitlines())
