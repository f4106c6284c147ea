"""A prompt's source: a file or a Python function, and the prompt that results from it for a task."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.answers import reader_for
from psopt.errors import InputError
from psopt.models.chat import read_response_format
from psopt.rephrasings import read_file
from psopt.runs._directory import MANIFEST, REPHRASINGS, RunDirectory
from psopt.runs._front_file import picked_prompt
from psopt.runs._measured import Measured, stated_model
from psopt.runs._settings import RunSettings
from psopt.search_spaces import Prompt
from psopt.settings import PromptOptions, group_given
from psopt.tasks import FREE, JSON, LABEL, LABELS, NUMBER, TEXT, Task, columns_of, fields_of, inputs_of
from psopt.templates import PromptText, detect_format, named_fields, prompt_entries, promptfoo_config, read_template
from psopt.text import read_json, read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.rephrasings import RephrasingSet


_NAMED = {
    LABEL: "a label",
    LABELS: "several labels",
    NUMBER: "a number",
    TEXT: "a text",
    JSON: "JSON",
    FREE: "a free answer",
}


@dataclass(frozen=True, slots=True)
class TaskPrompt:
    """A prompt that was read for a task, and notes on how it was read."""

    prompt: Prompt
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromptSource:
    """A prompt's file, or the Python function that writes its messages."""

    path: Path  # the file; for a function ``MODULE:NAME``, for a text its name in messages
    prompt: Prompt | None  # None for a text or messages: which prompt they make depends on the task
    run: Path | None = None  # the run directory that the file is in
    measured: Measured | None = None  # how a run has measured it, or its file says that it is asked, if that is known
    options: PromptOptions = field(default_factory=PromptOptions)  # how it is read
    model_note: str = ""  # on the model that a configuration states, or on why it states none
    model_file: Path | None = None  # that configuration
    text: PromptText | None = None  # a text or messages that were given in Python instead of a file

    @property
    def named(self) -> str:
        """What `psopt.templates.read_template` reads."""
        return str(self.path) if self.text is None else self.text

    def with_labels(self) -> Prompt:
        """The prompt, if it knows its labels; raises InputError if it is a text or messages, which don't know them."""
        if self.prompt is None:
            raise InputError(
                f"prompt {self.path} is no JSON of psopt's: to classify, the labels must be known; give a prompt's "
                "JSON, or each label with --label"
            )
        return with_prompt_options(self.prompt, self.options, str(self.path))

    def for_task(self, task: Task) -> Prompt:
        """Return the prompt for a task; see `read_for`."""
        return self.read_for(task).prompt

    def read_for(self, task: Task) -> TaskPrompt:
        """Return the prompt for a task, and how it was read; raises InputError if it can't be, or does not fit."""
        if self.prompt is not None:
            check_fits(self.prompt, task, str(self.path))
            return TaskPrompt(with_prompt_options(self.prompt, self.options, str(self.path)))
        read = read_template(
            self.named,
            task.fields,
            labels=task.labels,
            label_column=task.label_column,
            prompt_format=self.options.format,
            answer=self.options.answer,
            # several inputs, if a column is called `text`, which then does not stand for them
            inputs=tuple(inputs_of(task.samples[0].text)) if task.samples and "text" in task.fields else (),
            rows=((sample.id, fields_of(sample.text)) for sample in task.samples),
        )
        description = read.description
        if read.template is None:  # a plain text: with its line breaks, if it has any
            lines = description.strip().splitlines()
            description = "\n".join(map(str.rstrip, lines)) if lines[1:] else " ".join(description.split())
        prompt = Prompt(description, task.labels, task.noun, template=read.template, asks=task.spec.form)
        return TaskPrompt(with_prompt_options(prompt, self.options, str(self.path)), read.notes)

    def fields_named(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The names in braces: those that are columns of the data are its inputs."""
        if self.prompt is None:
            return named_fields(self.named, self.options.format, columns)
        return self.prompt.fields

    @cached_property
    def settings(self) -> RunSettings | None:
        if self.run is None:
            return None
        return RunSettings.from_dict(RunDirectory.open(self.run).read_json(MANIFEST)["settings"])

    @property
    def wordings(self) -> Path | None:
        """The file with the rephrasings of its run: in the run's folder, or itself if it was exported."""
        if self.run is not None and (self.run / REPHRASINGS).exists():
            return self.run / REPHRASINGS
        return self.path if self.measured is not None and "heldout" in self.measured.rephrasings else None

    @cached_property
    def rephrasings(self) -> RephrasingSet | None:
        return None if self.wordings is None else read_file(self.wordings)

    @property
    def task(self) -> Task | None:
        """The task of the run that the file is in; None if there is no run, or its data are not available."""
        return self._task_or_reason[0]

    @property
    def lacking(self) -> str | None:
        """Why the run's task is not available; None if it is."""
        return self._task_or_reason[1]

    @cached_property
    def _task_or_reason(self) -> tuple[Task | None, str | None]:
        try:
            return (None if self.settings is None else self.settings.load_task()), None
        except InputError as error:
            return None, str(error)


def inputs_named(sources: Sequence[PromptSource], dataset: str, task_file: str | None = None) -> tuple[str, ...]:
    """The columns that prompts name, in the data's order: a sample consists of them. Empty for the text column.

    If a prompt names ``{text}`` and the data have no such column, it means the text column. An id says nothing about
    its row, so it is an input only if nothing else is named.
    """
    if not sources:
        return ()
    columns = columns_of(dataset, task_file=task_file)
    named = {name for source in sources for name in source.fields_named(columns)}
    if named == {"text"} or ("text" in named and "text" not in columns):
        return ()
    inputs = tuple(column for column in columns if column in named)
    return tuple(column for column in inputs if column != "id") or inputs


def check_fits(prompt: Prompt, task: Task, source: str = "") -> None:
    """Refuse a prompt (from `source`) for other labels, or one that names fields that the samples don't have."""
    named = f"prompt {source or prompt.id}"
    if prompt.asks != task.spec.form:
        raise InputError(f"{named} asks for {_NAMED[prompt.asks]}; the data's answers are {_NAMED[task.spec.form]}")
    if set(prompt.labels) != set(task.labels):
        own = ", ".join(prompt.labels)
        raise InputError(f"{named} is for the labels {own}; the data have {', '.join(task.labels)}")
    columns = dict.fromkeys((*task.fields, "text"))
    for name in prompt.fields:
        if name not in columns:
            raise InputError(
                f"{named} names the field {name}, and the data have no such column; columns: {', '.join(columns)}"
            )


def with_prompt_options(prompt: Prompt, options: PromptOptions, source: str = "the prompt") -> Prompt:
    """Return a prompt whose answers are asked for and read as the options say; `source` is named in messages.

    Raises InputError if it is in psopt's own form, or an option can't be used.
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
        option = f"--response-format {options.response_format}"
        text = read_text(Path(options.response_format), option)
        try:
            template = replace(template, response_format=read_response_format(text))
        except InputError as error:
            raise InputError(f"{option}: {error}") from error
    return replace(prompt, template=template)


_NO_NAME = re.compile(r"[\n{]")
_IN_MEMORY = Path("in memory")


def read_source(
    path: Prompt | PromptSource | str | Path | Sequence[Mapping[str, Any]], options: PromptOptions | None = None
) -> PromptSource:
    """Read a prompt's file, and how it was measured, if known; ``MODULE:NAME`` is a Python function.

    A string with a line break or a brace is not a file name but the prompt's text, and a list is its messages. A run's
    folder stands for the prompt that the run recommends. A `PromptSource` is returned unchanged.

    Raises InputError if the file can't be read, or holds no prompt.
    """
    if isinstance(path, PromptSource):
        return path
    options = group_given("prompt_options", options, PromptOptions) or PromptOptions()
    if isinstance(path, Prompt):
        return PromptSource(_IN_MEMORY, path, options=options)
    if not isinstance(path, (str, Path, list, tuple)):
        raise InputError(
            f"a prompt, its file, a text or a list of messages is expected, not {type(path).__name__}; a function "
            "that makes a prompt is named MODULE:NAME; of a run, give its folder, or run.recommended.prompt"
        )
    if not path:
        raise InputError("the prompt is empty: give a text, a file or messages")
    if not isinstance(path, (str, Path)):
        path = json.dumps(list(path), ensure_ascii=False, indent=2)
    if isinstance(path, str) and is_prompt_text(path):
        return PromptSource(_IN_MEMORY, None, options=options, text=PromptText(path))
    if Path(path).is_dir():
        path = picked_prompt(Path(path))
    if detect_format(str(path), options.format) == "psopt":
        return _own_prompt(Path(path), options)
    path = Path(path)
    whole = path.with_suffix(".json")
    if path.suffix != ".json" and whole.is_file() and _run_of(path):  # it shows what is sent, its JSON holds the parts
        raise InputError(f"prompt {path} is a run's prompt as it is shown, and no template: give {whole}")
    return of_configuration(PromptSource(path, None, options=options), path)


def of_configuration(source: PromptSource, path: str | Path) -> PromptSource:
    """Return a prompt with the model that a promptfoo configuration states, if no other is known."""
    if source.measured is not None or source.model_file is not None:
        return source
    if config := promptfoo_config(path):
        measured, note = stated_model(config)
        source = replace(source, measured=measured, model_note=note, model_file=Path(path))
    return source


def prompts_in(path: str, *, every: bool = False) -> list[str]:
    """Name the first prompt of a promptfoo configuration, or `every` one of them; none for another file."""
    try:
        config = promptfoo_config(path)
    except InputError:  # what is wrong is told where the data are read
        config = None
    n_prompts = len(prompt_entries(config)) if config is not None else 0
    if every and n_prompts > 1:
        return [f"{path}#{number + 1}" for number in range(n_prompts)]
    return [path] if n_prompts else []


def is_prompt_text(prompt: str) -> bool:
    """Return whether a string is a prompt's text rather than a file name: it has a line break or a brace."""
    return _NO_NAME.search(prompt) is not None


def _own_prompt(path: Path, options: PromptOptions) -> PromptSource:
    data = read_json(path, f"prompt {path}")
    if not isinstance(data, dict):
        raise InputError(f"prompt {path} holds no prompt of psopt's: expected an object with description and labels")
    try:
        prompt = Prompt.from_dict(data)
        measured = Measured.from_dict(data["measured"]) if "measured" in data else None
    except InputError as error:
        raise InputError(f"prompt {path}: {error}") from error
    return PromptSource(path, prompt, _run_of(path), measured, options)


def _run_of(path: Path) -> Path | None:
    """The run directory that a prompt's file is in; written as the user has named it, if possible."""
    parent = path.parent if path.parent.name == "prompts" else path.parent.resolve()
    is_in_run = parent.name == "prompts" and (parent.parent / MANIFEST).is_file()
    return parent.parent if is_in_run else None
