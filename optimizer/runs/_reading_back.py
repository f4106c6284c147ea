"""A written prompt, read again as somebody would who has nothing but its file and the data."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.runs._written_prompt import write_prompt
from psopt.search_spaces import Prompt, render
from psopt.templates import read_template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.runs._written_prompt import WrittenPrompt


def read_back(prompt: Prompt, written: WrittenPrompt, fields: Sequence[str]) -> Prompt:
    """Read a prompt from what was written of it; `fields` are the columns of the data.

    psopt's own form as text is only what stands before the sample's text; its messages are read in its place.

    Raises InputError if it can't be read.
    """
    if written.format == "psopt":
        return Prompt.from_dict(json.loads(written.text))
    if prompt.template is None and written.format == "text":
        written = write_prompt(prompt, "openai")
    own = prompt.template
    inputs = [name for name in own.fields if name in fields] if own else []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"prompt{written.suffix}"
        file.write_bytes(written.text.encode("utf-8"))
        read = read_template(
            file, fields, labels=prompt.labels, prompt_format=written.format, answer=prompt.answer, inputs=inputs
        )
    template = read.template
    if template is not None and own is not None:
        # A schema is no part of the prompt's file: whoever has that gives the other beside it.
        template = replace(template, response_format=own.response_format)
    return Prompt(read.description, prompt.labels, prompt.noun, template=template, asks=prompt.asks)


def asks_the_same(prompt: Prompt, other: Prompt, texts: Sequence[str]) -> bool:
    """Whether two prompts send the same about these texts, and read answers alike."""
    if prompt.answer != other.answer:
        return False
    return all(render(prompt, text) == render(other, text) for text in texts)
