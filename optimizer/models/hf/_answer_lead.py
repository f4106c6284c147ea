"""What an answer says before its label, where the prompt asks for more than a label."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search_spaces import Messages, Prompt


def answer_lead(prompt: Prompt, messages: Messages) -> str:
    r"""Return what stands before the label in the answer that a prompt asks for, as far as its form says.

    Of ``json:team`` that is ``{"team": "``: a reason that would come first is left out, as nothing writes it. Of
    ``xml:team`` the opening tag, of all else nothing. What the prompt's last turn, if it is the assistant's, says
    already is not said again.
    """
    form, _, place = prompt.answer.partition(":")
    names = place.split(".")
    lead = ""
    if form == "json" and not any(name.isdigit() for name in names):
        lead = "".join(f"{{{json.dumps(name, ensure_ascii=False)}: " for name in names) + '"'
    elif form == "xml":
        lead = f"<{place}>"
    last = messages[-1]
    begun = last["content"] if last["role"] == "assistant" else ""
    n_shared = next((n for n in range(len(lead), 0, -1) if begun.endswith(lead[:n])), 0)
    return lead[n_shared:]


def labels_in_answers(prompt: Prompt) -> Sequence[str]:
    """Return the labels as they are written there: JSON escapes quotation marks."""
    if not prompt.answer.startswith("json:"):
        return prompt.labels
    return [json.dumps(label, ensure_ascii=False)[1:-1] for label in prompt.labels]
