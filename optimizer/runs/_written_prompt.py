"""A run's prompt as it is exported: in the format it came in, or in a requested one."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.runs._directory import MANIFEST
from psopt.search_spaces import Prompt, filled_template, open_messages, render, render_instructions, render_shown
from psopt.templates import Origin, promptfoo_config, promptfoo_text, read_template, write_template
from psopt.text import unified_diff

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.runs._directory import RunDirectory


WrittenForm = Literal["own", "text", "json", "openai", "promptfoo"]
"""``own`` is the format that the prompt came in; for psopt's own form, that is text."""
_FORMS: tuple[WrittenForm, ...] = get_args(WrittenForm)
_AS_TURNS = "the model was asked with the examples as turns of a conversation: --format openai writes them so"
_ONLY_THE_LAST = "{text} is in this prompt's own text too: put a text in place of the last one alone"
_FROM_PYTHON = "the prompt came from a Python function, which can't be written back: these are its messages for OpenAI"


@dataclass(frozen=True, slots=True)
class WrittenPrompt:
    """A prompt as a file."""

    text: str  # its content, to the last byte
    suffix: str  # what such a file is called: ``.md``, ``.json``
    format: str  # the format to read it again with (``--prompt-format``)
    note: str = ""  # what to tell the user about it; empty for nothing


def write_prompt(prompt: Prompt, form: str = "own", measured: Mapping[str, Any] | None = None) -> WrittenPrompt:
    """Write a prompt in a form; psopt's JSON includes how it was measured. UnknownNameError for another form."""
    if form not in _FORMS:
        raise UnknownNameError("form of a prompt", str(form), _FORMS)
    came_as = prompt.template.origin.format if prompt.template is not None else ""
    if (came_as and form == "own") or form == came_as == "text":
        return _as_it_came(prompt, measured)
    if form == "json":
        data = prompt.to_dict()
        if measured:
            data["measured"] = measured
        return _as_json(data, "psopt")
    if form == "openai":
        written = _as_json(open_messages(prompt), "openai")
        is_ambiguous = prompt.template is None and written.text.count("{text}") > 1
        return replace(written, note=_ONLY_THE_LAST if is_ambiguous else "")
    if form == "promptfoo":
        if prompt.template is None:
            raise InputError("a prompt of psopt's own form names no variables of promptfoo's: take --format openai")
        return WrittenPrompt(promptfoo_text(filled_template(prompt)), ".txt", "promptfoo")
    is_program = bool(measured and measured.get("program"))  # whose adapter has asked, in words of its own
    as_turns = prompt.examples and not is_program and (prompt.template is None or prompt.template.example.turns)
    return WrittenPrompt(render_instructions(prompt) + "\n", ".txt", "text", _AS_TURNS if as_turns else "")


def _as_it_came(prompt: Prompt, measured: Mapping[str, Any] | None) -> WrittenPrompt:
    template = filled_template(prompt)
    if template.origin.format == "psopt":
        return write_prompt(prompt, "json", measured)
    if template.origin.format == "python":
        written = write_template(replace(template, origin=Origin("openai", ".json")))
        return WrittenPrompt(written, ".json", "openai", _FROM_PYTHON)
    return WrittenPrompt(write_template(template), template.origin.suffix, template.origin.format)


def _as_json(data: Any, file_format: str) -> WrittenPrompt:
    return WrittenPrompt(json.dumps(data, indent=2, ensure_ascii=False) + "\n", ".json", file_format)


def read_baseline(directory: RunDirectory) -> Prompt:
    """Return the prompt that a run with a front has started from."""
    baseline = directory.read_json(MANIFEST)["baseline"]
    return Prompt.from_dict(directory.read_json(f"prompts/{baseline['id']}.json"))


def difference(baseline: Prompt, prompt: Prompt, form: str, old_name: str) -> str:
    """Return what changed in a prompt as a unified diff; messages in JSON, each a line, are compared as shown."""
    old, new = write_prompt(baseline, form), write_prompt(prompt, form)
    texts = (old.text, new.text)
    if new.suffix == ".json" and new.format != "psopt" and prompt.template is not None:
        texts = (f"{render_shown(baseline)}\n", f"{render_shown(prompt)}\n")
    return unified_diff(*texts, old_name or f"original{old.suffix}", f"{prompt.id}{new.suffix}")


def configuration_of(settings: Mapping[str, Any]) -> Path:
    """The promptfoo configuration that a run got its data or its prompt from; InputError if there is none any more."""
    folder, missing = Path(settings.get("folder") or ""), ""
    for name in ("dataset", "prompt_file"):
        path = Path(str(settings.get(name) or "").partition("#")[0])
        if path.suffix.lower() not in (".yaml", ".yml", ".json"):
            continue
        for place in (folder / path, path):
            if promptfoo_config(place) is not None:
                return place
        missing = missing or f": {path} is not there, or has no prompts"
    raise InputError(f"the run did not start from a promptfoo configuration{missing}; name one with --into FILE")


def read_back(prompt: Prompt, written: WrittenPrompt, fields: Sequence[str]) -> Prompt:
    """Read a prompt back from its written form; `fields` are the columns of the data. InputError if it can't be read.

    psopt's own form as text is only the part before the sample's text, so its messages are read instead.
    """
    if written.format == "psopt":
        return Prompt.from_dict(json.loads(written.text))
    if prompt.template is None and written.format == "text":
        written = write_prompt(prompt, "openai")
    own = prompt.template
    inputs = [name for name in prompt.fields if name in fields]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"prompt{written.suffix}"
        file.write_bytes(written.text.encode("utf-8"))
        read = read_template(
            file, fields, labels=prompt.labels, prompt_format=written.format, answer=prompt.answer, inputs=inputs
        )
    template = read.template
    if template is not None and own is not None:
        # A schema is not part of the prompt's file: users pass it along with the file.
        template = replace(template, response_format=own.response_format)
    return Prompt(read.description, prompt.labels, prompt.noun, template=template, asks=prompt.asks)


def keeps_instructions(prompt: Prompt, written: WrittenPrompt) -> bool:
    """Whether psopt finds a prompt's own instructions in its written form, and no sentence of an example."""
    try:
        return read_back(prompt, written, prompt.fields).description == prompt.description
    except InputError:
        return False


def asks_the_same(prompt: Prompt, other: Prompt, texts: Sequence[str]) -> bool:
    """Whether two prompts send the same for these texts, and read answers in the same way."""
    return prompt.answer == other.answer and all(render(prompt, text) == render(other, text) for text in texts)
