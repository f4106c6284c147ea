"""How a prompt of the user's own is read, where it does not say so itself."""

from dataclasses import dataclass
from pathlib import Path

from psopt.settings._option import rare, told

_PANEL = "Prompt"


@told
@dataclass(frozen=True, slots=True)
class PromptOptions:
    """How a prompt of the user's own is read, where it does not say so itself."""

    format: str | None = rare(
        None,
        "text, openai, promptfoo, python, psopt or description",
        _PANEL,
        "F",
        key="prompt_format",
        shown_default="detected",
    )
    answer: str | None = rare(
        None,
        "How answers to your prompt are read: label, json:FIELD, xml:TAG, regex:PATTERN, last-line or MODULE:NAME",
        _PANEL,
        "SPEC",
        shown_default="as the prompt asks for them",
    )
    response_format: str | Path | None = rare(
        None, "A JSON schema that is sent with each request of your prompt.", _PANEL, "FILE"
    )
