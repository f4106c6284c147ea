"""--prompt and what says how to read it; what is said of a prompt before anything is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer
from psopt.cli._lines import wrapped
from psopt.cli._typer import UsageError, has_option, is_given

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.runs import PromptSource, RunSettings
    from psopt.search_spaces import Prompt
    from psopt.settings import PromptOptions
    from psopt.tasks import Task

_SHOWN = 50


def read_prompts(
    prompts: Sequence[str | Path], options: PromptOptions, dataset: str = "", *, every: bool = False
) -> list[PromptSource]:
    """Read what --prompt names, as far as that can be done before the data are known.

    Where the data are a promptfoo configuration, its prompt stands for --prompt (`every` one: all of them), and its
    provider for the model.

    Raises UsageError if options say how to read a prompt and there is none, or if --strategy makes another. Raises
    InputError if a file can't be read.
    """
    from psopt.runs import of_configuration, prompts_in, read_source

    if not prompts and not (has_option("strategy") and is_given("strategy")):
        prompts = prompts_in(dataset, every=every)
    if not prompts:
        for name in ("prompt_format", "answer", "response_format"):
            if is_given(name):
                raise UsageError(f"--{name.replace('_', '-')} says how --prompt is read: give --prompt too")
        return []
    if has_option("strategy") and is_given("strategy"):
        raise UsageError("--strategy makes a prompt, and --prompt is one: leave one of them out")
    return [of_configuration(read_source(prompt, options), dataset) for prompt in prompts]


def prompt_for_task(sources: Sequence[PromptSource], task: Task, strategy: str, seed: int, *, silent: bool) -> Prompt:
    """Return the prompt that --prompt names, else the strategy's original prompt."""
    from psopt.search_spaces import seed_prompt

    return read_for_task(sources[0], task, silent=silent) if sources else seed_prompt(task, strategy, seed=seed)


def start_from(
    sources: Sequence[PromptSource], settings: RunSettings, *, silent: bool
) -> tuple[Task | None, RunSettings]:
    """Let a run start from the prompt that --prompt names; returns its task too, where that had to be loaded."""
    if not sources:
        return None, settings
    task = settings.load_task()
    prompt = read_for_task(sources[0], task, silent=silent)
    return task, replace(settings, prompt=prompt, prompt_file=str(sources[0].path))


def read_for_task(source: PromptSource, task: Task, *, silent: bool) -> Prompt:
    """Return the prompt for a task, and say on stderr how it was read."""
    return read_all([source], task, silent=silent)[0]


def read_all(sources: Sequence[PromptSource], task: Task, *, silent: bool) -> list[Prompt]:
    """Return the prompts for a task; say on stderr how they were read, once all of them are."""
    readings = [source.read_for(task) for source in sources]
    if not silent:
        for source, reading in zip(sources, readings, strict=True):
            for line in prompt_lines(source, reading.prompt, reading.notes):
                typer.echo(line, err=True)
    return [reading.prompt for reading in readings]


def prompt_lines(source: PromptSource, prompt: Prompt, notes: Sequence[str]) -> list[str]:
    """Say what a prompt of the user's own is: its format and fields, what is rephrased, how answers are read."""
    template = prompt.template
    if template is None:
        return wrapped(notes)
    heading, *others = notes or (f"prompt {source.path}: a template of a run", f"answers are read as {prompt.answer}")
    parts = f"{template.n_parts} paragraph{'s' if template.n_parts > 1 else ''}"
    shape = [f"fields: {', '.join(template.fields)}", f"rephrased: {_first_words(prompt.description)!r}, {parts}"]
    return [*wrapped([heading]), *wrapped([*shape, *others], indent="  ")]


def _first_words(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN].rsplit(' ', 1)[0]} .."
