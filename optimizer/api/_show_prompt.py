"""What of a prompt is rephrased and what is kept, before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.rephrasings import shown_segments
from psopt.runs import PromptSource, TaskPrompt, read_source
from psopt.search_spaces import Prompt
from psopt.templates import named_fields, read_template

if TYPE_CHECKING:
    from psopt.api._prompts import AnyPrompt
    from psopt.runs import PromptOptions
    from psopt.tasks import Task
    from psopt.templates import Segment

_UNKNOWN_LABELS = ("..",)
_WITHOUT_DATA = "without --dataset: names in braces are taken for columns, and labels are not known"


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """A prompt in stretches, and what is to be said of how it was read."""

    prompt: Prompt
    segments: tuple[Segment, ...]
    notes: tuple[str, ...] = ()


def show_prompt(
    prompt: AnyPrompt, task: Task | None = None, *, prompt_options: PromptOptions | None = None
) -> ShownPrompt:
    """Say what of a prompt is rephrased and what is kept; nothing is asked.

    Raises InputError if the prompt can't be read.

    Parameters
    ----------
    prompt : Prompt, PromptSource, or path
        A path may be ``MODULE:NAME``, too.
    task : Task, optional
        Says which names in braces are columns and what the labels are; without it, names in braces are fields.
    prompt_options : PromptOptions, optional
        How a file is read, where it does not say so itself.
    """
    read = _read(prompt, task, prompt_options)
    return ShownPrompt(read.prompt, tuple(shown_segments(read.prompt)), read.notes)


def _read(prompt: AnyPrompt, task: Task | None, options: PromptOptions | None) -> TaskPrompt:
    if isinstance(prompt, Prompt):
        return TaskPrompt(prompt)
    source = prompt if isinstance(prompt, PromptSource) else read_source(prompt, options)
    if task is not None:
        return source.read_for(task)
    return TaskPrompt(source.with_labels()) if source.prompt is not None else _without_data(source)


def _without_data(source: PromptSource) -> TaskPrompt:
    """A prompt as far as it can be read while neither columns nor labels are known."""
    form = source.options.format
    fields = named_fields(source.named, form)
    read = read_template(source.named, fields, labels=(), prompt_format=form, answer=source.options.answer)
    if read.template is None:
        return TaskPrompt(Prompt(read.description.strip(), _UNKNOWN_LABELS), read.notes)
    return TaskPrompt(Prompt(read.description, (), template=read.template), (*read.notes, _WITHOUT_DATA))
