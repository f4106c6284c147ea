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
    ``xml:team`` the opening tag, of ``last-line`` what the prompt's examples have there (``Answer: ``), else nothing.
    What the prompt's last turn, if it is the assistant's, says already is not said again, and nothing where its last
    turn asks for the label by the same words.
    """
    lead = _opening(prompt)
    last = messages[-1]["content"].rstrip()
    if messages[-1]["role"] != "assistant":
        return "" if lead.strip() and last.endswith(lead.strip()) else lead
    begun = messages[-1]["content"]
    n_shared = next((n for n in range(len(lead), 0, -1) if begun.endswith(lead[:n])), 0)
    return lead[n_shared:]


def _opening(prompt: Prompt) -> str:
    form, _, place = prompt.answer.partition(":")
    names = place.split(".")
    if form == "json":
        nested = "".join(f"{{{json.dumps(name, ensure_ascii=False)}: " for name in names)
        return "" if any(name.isdigit() for name in names) else f'{nested}"'
    if form == "xml":
        return f"<{place}>"
    output = prompt.template.example.output if prompt.template else ""
    return output.partition("{label}")[0] if form == "last-line" else ""


def labels_in_answers(prompt: Prompt) -> Sequence[str]:
    """Return the labels as they are written there: JSON escapes quotation marks."""
    if not prompt.answer.startswith("json:"):
        return prompt.labels
    return [json.dumps(label, ensure_ascii=False)[1:-1] for label in prompt.labels]
