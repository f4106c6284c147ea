"""A prompt of the user's own, asked and read as its options say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.answers import reader_for
from psopt.errors import InputError
from psopt.models.chat import read_response_format

if TYPE_CHECKING:
    from psopt.search_spaces import Prompt
    from psopt.settings import PromptOptions


def with_prompt_options(prompt: Prompt, options: PromptOptions, source: str = "the prompt") -> Prompt:
    """Return a prompt whose answers are asked for and read as the options say; `source` is named in messages.

    Raises
    ------
    InputError
        If it is a prompt in psopt's own form, or an option can't be used.
    """
    if options.answer is None and options.response_format is None:
        return prompt
    if prompt.template is None:
        option = "--answer" if options.answer is not None else "--response-format"
        raise InputError(
            f"{option} is for a prompt that is sent as it is: {source} is in psopt's own form, which asks for a "
            f"label and reads one; leave {option} out"
        )
    template = prompt.template
    if options.answer is not None:
        reader_for(options.answer, prompt.labels)
        template = replace(template, answer=options.answer)
    if options.response_format is not None:
        template = replace(template, response_format=_schema_in(options.response_format))
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
