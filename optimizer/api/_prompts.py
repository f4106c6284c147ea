"""The prompt that a verb was given, as a value, a file or a Python function; `psopt.rephrase` rewords it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.models import ModelProvider
from psopt.rephrasings import RephrasingOptions, RephrasingSet, Verdict, freeze_rephrasings
from psopt.runs import (
    N_HELDOUT,
    PromptSource,
    TaskPrompt,
    check_fits,
    is_prompt_text,
    read_source,
    seeds_of,
    with_prompt_options,
)
from psopt.search_spaces import Prompt
from psopt.settings import MeasureOptions, PromptOptions, RephrasingSizes, group_given
from psopt.tasks import as_task
from psopt.templates import named_fields, read_template

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.models.chat import LMConfig
    from psopt.tasks import Task

AnyPrompt = Prompt | PromptSource | str | Path | Sequence[Mapping[str, Any]]
"""A prompt, what `read_source` has read, or what it reads: a file, ``MODULE:NAME``, a text, chat messages."""


def task_for(
    task: Task | str | Path, prompts: Iterable[AnyPrompt | None], options: PromptOptions | None = None
) -> Task:
    """Return a verb's task; a data set's name or file is split as by the run of the prompts, if one measured them."""
    sources = [read_source(prompt, options) for prompt in prompts if prompt is not None]
    return as_task(task, seeds_of(sources, MeasureOptions().seed)[0])


def own_prompt(
    task: Task, prompt: AnyPrompt | None, strategy: str, options: PromptOptions | None = None
) -> Prompt | None:
    """Return the prompt that a verb was given, or None; raises InputError if it, or what is beside it, is refused."""
    if prompt is None:
        if options not in {None, PromptOptions()}:
            raise InputError("prompt_options say how a prompt is read: give the prompt too")
        return None
    if strategy != "simple":
        raise InputError(f"strategy {strategy!r} makes a prompt, and there is one already: leave one of them out")
    if isinstance(prompt, Prompt):
        check_fits(prompt, task)
        return with_prompt_options(prompt, options or PromptOptions())
    return read_source(prompt, options).for_task(task)


def file_of(prompt: AnyPrompt | None) -> str:
    """Where a prompt came from; empty for one that was made in Python."""
    if isinstance(prompt, PromptSource):
        return str(prompt.path)
    is_file = isinstance(prompt, Path) or (isinstance(prompt, str) and not is_prompt_text(prompt))
    return str(prompt) if is_file else ""


def prompt_to_show(source: PromptSource, task: Task | None = None) -> TaskPrompt:
    """Read a prompt to show which parts are rephrased and which are kept; nothing is asked.

    A task decides which names in braces are columns and what the labels are; without it, names in braces are fields.
    """
    if task is not None:
        return source.read_for(task)
    if source.prompt is not None:
        return TaskPrompt(source.with_labels())
    form = source.options.format
    fields = named_fields(source.named, form)
    read = read_template(source.named, fields, labels=(), prompt_format=form, answer=source.options.answer)
    if read.template is None:
        return TaskPrompt(Prompt(read.description.strip(), labels=("..",)), read.notes)
    note = "without --dataset: names in braces are taken for columns, and labels are not known"
    return TaskPrompt(Prompt(read.description, (), template=read.template), (*read.notes, note))


def rephrase(
    task: Task | str | Path,
    prompt: Prompt | PromptSource | Path | str | None = None,
    *,
    prompt_options: PromptOptions | None = None,
    rephrasings: int = 10,
    heldout: int = N_HELDOUT,
    rephrasing: RephrasingOptions | None = None,
    seed: int = 42,
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
    on_text: Callable[[Verdict], None] | None = None,
) -> RephrasingSet:
    """Reword a description, as a run does; `psopt.rephrasings.to_file` makes a file's content of the result.

    Raises PsoptError if an argument can't be used, or too few texts pass the checks.

    Parameters
    ----------
    task : Task, or str or path
    prompt : Prompt, PromptSource, Path or str, optional
        What to rephrase: a prompt's instructions, those of a prompt's file, or a description as a text; by default the
        task's description.
    prompt_options : PromptOptions, optional
        How a prompt's file is read, if it does not say so itself.
    rephrasings, heldout : int
        How many for the search, including the original, and how many for the report.
    rephrasing : RephrasingOptions, optional
        Who writes them, who judges them, and which families they are from.
    seed : int
        The seed of the rules' choices.
    lm, cache_dir
        How language models are asked, and where their answers are kept.
    on_text : callable, optional
        Is called with the verdict on each text that was checked.
    """
    sizes = RephrasingSizes(rephrasings, heldout)
    seed = MeasureOptions(seed=seed).seed
    options = group_given("rephrasing", rephrasing, RephrasingOptions) or RephrasingOptions()
    task = as_task(task)
    if not isinstance(prompt, str):
        prompt = own_prompt(task, prompt, "simple", prompt_options) or task.description
    return freeze_rephrasings(
        task, prompt, sizes.search, sizes.heldout, seed, options, models=ModelProvider(cache_dir, lm), on_text=on_text
    )
