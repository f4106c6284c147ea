"""How a prompt of the user's own is read, where it does not say so itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.answers import reader_for
from psopt.errors import InputError
from psopt.models.chat import read_response_format

if TYPE_CHECKING:
    from psopt.search_spaces import Prompt


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
            template = replace(template, response_format=_schema_in(self.response_format))
        return replace(prompt, template=template)


def _schema_in(path: str | Path) -> str:
    """Read a file with a JSON schema, as requests hold it.

    Raises
    ------
    InputError
        If it can't be read, or holds no schema.
    """
    try:
        return read_response_format(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise InputError(f"--response-format {path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"--response-format {path} is not UTF-8 (byte {error.start}): convert it to UTF-8") from error
    except InputError as error:
        raise InputError(f"--response-format {path}: {error}") from error
