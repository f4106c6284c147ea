"""How a prompt of the user's own is read, where it does not say so itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.answers import reader_for
from psopt.errors import InputError

if TYPE_CHECKING:
    from psopt.search_spaces import Prompt

_SCHEMA = frozenset({"type", "properties", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "json_schema"})
"""What a JSON schema of an answer holds at its top; ``json_schema`` where it comes as OpenAI's API takes it."""


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """How a prompt of the user's own is read, where it does not say so itself.

    Attributes
    ----------
    format : str or None
        ``text``, ``openai``, ``promptfoo``, ``python``, ``psopt`` or ``description``; None: it is detected.
    answer : str or None
        How answers are read: ``label``, ``json:FIELD``, ``xml:TAG``, ``regex:PATTERN``, ``last-line`` or
        ``MODULE:NAME``; None: as the prompt asks for them.
    response_format : path or None
        A file with a JSON schema, which is sent with each request.
    """

    format: str | None = None
    answer: str | None = None
    response_format: str | Path | None = None

    def applied(self, prompt: Prompt, source: str = "the prompt") -> Prompt:
        """Return a prompt whose answers are asked for and read as these options say; `source` is named in messages.

        Raises
        ------
        InputError
            If it is a prompt in psopt's own form, or an option can't be used.
        """
        if self.answer is None and self.response_format is None:
            return prompt
        if prompt.template is None:
            option = "--answer" if self.answer is not None else "--response-format"
            raise InputError(
                f"{option} is for a prompt that is sent as it is: {source} is in psopt's own form, which asks for a "
                f"label and reads one; leave {option} out"
            )
        template = prompt.template
        if self.answer is not None:
            reader_for(self.answer, prompt.labels)
            template = replace(template, answer=self.answer)
        if self.response_format is not None:
            template = replace(template, response_format=read_response_format(self.response_format))
        return replace(prompt, template=template)


def read_response_format(path: str | Path) -> str:
    """Read a file with a JSON schema, as JSON text.

    Raises
    ------
    InputError
        If it can't be read, or holds no schema.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
        schema = json.loads(text)
    except OSError as error:
        raise InputError(f"--response-format {path} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"--response-format {path} is no valid JSON: {error}") from error
    if not isinstance(schema, dict) or not schema.keys() & _SCHEMA:
        raise InputError(
            f"--response-format {path} is no JSON schema: an object is expected that says what an answer is, such as "
            '{"type": "object", "properties": ..}'
        )
    return json.dumps(schema, ensure_ascii=False)
