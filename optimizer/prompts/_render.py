"""From a prompt to the messages that a chat model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psopt.prompts._prompt import Prompt

Messages = list[dict[str, str]]

SYSTEM = "You are a text classifier."


def render(prompt: Prompt, text: str) -> Messages:
    """Render a prompt and the text to classify as chat messages.

    The text comes last, so that servers with prefix caching profit, and it is pasted as it is: braces or anything
    else in it has no meaning here.

    >>> from psopt.prompts import Prompt
    >>> messages = render(Prompt("Judge the review.", ("good", "bad"), noun="review"), "I {loved} it")
    >>> print(messages[1]["content"])
    Judge the review.
    Answer with exactly one of these labels and nothing else: good, bad
    <BLANKLINE>
    Review: I {loved} it
    Label:
    """
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "\n".join([render_instructions(prompt), "", _question(prompt, text)])},
    ]


def render_instructions(prompt: Prompt) -> str:
    """Render everything of a prompt that stands before the text to classify."""
    lines = [
        prompt.description,
        f"Answer with exactly one of these labels and nothing else: {', '.join(prompt.labels)}",
    ]
    if prompt.definitions:
        lines += ["", "What the labels mean:"]
        lines += [f"- {one.label}: {one.text}" for one in prompt.definitions]
    if prompt.notes:
        lines += ["", "Note:"]
        lines += [f"- {note}" for note in prompt.notes]
    if prompt.examples:
        lines += ["", "Examples:"]
        lines += [f"{_question(prompt, one.text)} {one.label}" for one in prompt.examples]
    return "\n".join(lines)


def _question(prompt: Prompt, text: str) -> str:
    return f"{prompt.noun.capitalize()}: {text}\nLabel:"
