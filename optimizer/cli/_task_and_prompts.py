"""--dataset and --prompt, each read to match the other, and the notes on both before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.cli._model_choice import ModelChoice, choose_model
from psopt.cli._typer import UsageError, is_given
from psopt.cli._writing import tell, wrapped
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.runs import PromptSource, RunSettings
    from psopt.search_spaces import Prompt
    from psopt.settings import DataOptions, MeasureOptions, PromptOptions
    from psopt.tasks import Task

_SHOWN = 50  # characters of a prompt's wording, in one line


@dataclass(frozen=True, slots=True)
class Measuring:
    """What a command measures, and how."""

    task: Task
    prompts: dict[str, Prompt]  # by their files; if there are none, the strategy's original prompt by its name
    choice: ModelChoice
    options: MeasureOptions

    @property
    def prompt(self) -> Prompt:
        """The first prompt, or the only one."""
        return next(iter(self.prompts.values()))


def read_measuring(
    data: DataOptions,
    prompts: Sequence[str | None],
    reading: PromptOptions,
    model: str | None,
    strategy: str,
    options: MeasureOptions,
    *,
    require_labels: bool,
    every: bool = False,
) -> Measuring:
    """Read what --dataset and --prompt name, with `every` as in `read_prompts`; say how it was read."""
    from psopt.answers import AnswerType
    from psopt.runs import load_data
    from psopt.search_spaces import seed_prompt

    sources = read_prompts(prompts, reading, data.dataset, every=every)
    task = load_data(data_for(data, sources), options.seed, require_labels=require_labels)
    tell(*(f"Note: {note}" for note in (task.info.note, AnswerType.of(task).note) if note))
    choice = choose_model(model, options.lm, sources)
    named = dict(zip([str(source.path) for source in sources], read_all(sources, task), strict=True))
    if not named:
        named = {strategy: seed_prompt(task, strategy, seed=options.seed)}
    tell(choice.line)
    return Measuring(task, named, choice, replace(options, lm=choice.lm))


def read_prompts(
    prompts: Sequence[str | Path | None], options: PromptOptions, dataset: str = "", *, every: bool = False
) -> list[PromptSource]:
    """Read what --prompt names (None where it is not given), as far as possible before the data are known.

    If the data are a promptfoo configuration, its prompt replaces --prompt (with `every`, all of its prompts), and its
    provider the model. Raises UsageError if options contradict each other, and InputError if a file cannot be read.
    """
    from psopt.runs import of_configuration, prompts_in, read_source

    to_read: list[Any] = [prompt for prompt in prompts if prompt is not None]
    if "" in to_read:
        raise UsageError("--prompt is empty: name a prompt, or leave --prompt out for the strategy's")
    if not to_read and not is_given("strategy"):
        to_read += prompts_in(dataset, every=every)
    if not to_read:
        for name in ("prompt_format", "answer", "response_format"):
            if is_given(name):
                raise UsageError(f"--{name.replace('_', '-')} says how --prompt is read: give --prompt too")
        return []
    if is_given("strategy"):
        raise UsageError("--strategy makes a prompt, and --prompt is one: leave one of them out")
    return [of_configuration(read_source(prompt, options), dataset) for prompt in to_read]


def start_from(sources: Sequence[PromptSource], settings: RunSettings) -> tuple[Task | None, RunSettings]:
    """Let a run start from the prompt that --prompt names; also returns its task if that had to be loaded."""
    if not sources:
        return None, settings
    task = settings.load_task()
    (prompt,) = read_all(sources, task)
    return task, replace(settings, prompt=prompt, prompt_file=str(sources[0].path))


def read_all(sources: Sequence[PromptSource], task: Task) -> list[Prompt]:
    """Return the prompts for a task; say how they were read, after all of them are."""
    readings = [source.read_for(task) for source in sources]
    for source, reading in zip(sources, readings, strict=True):
        tell(*prompt_lines(source, reading.prompt, reading.notes))
    return [reading.prompt for reading in readings]


def prompt_lines(source: PromptSource, prompt: Prompt, notes: Sequence[str]) -> list[str]:
    """Describe a user's own prompt: its format and fields, what is rephrased, how answers are read."""
    template = prompt.template
    if template is None:
        return wrapped(notes)
    heading, *others = notes or (f"prompt {source.path}: a template of a run", f"answers are read as {prompt.answer}")
    words = " ".join(prompt.description.split())
    if len(words) > _SHOWN:
        words = f"{words[:_SHOWN].rsplit(' ', 1)[0]} .."
    shape = [f"fields: {', '.join(template.fields)}", f"rephrased: {words!r}, {counted(template.n_parts, 'paragraph')}"]
    return [*wrapped([heading]), *wrapped([*shape, *others], indent="  ")]


def data_for(data: DataOptions, sources: Sequence[PromptSource]) -> DataOptions:
    """The data options, completed with inputs that prompts name and the answer type they were measured with."""
    from psopt.runs import inputs_named
    from psopt.tasks import is_hub_name

    if not data.inputs and data.text_column is None:
        data = replace(data, inputs=inputs_named(sources, data.dataset, data.task_file))
    # built-in data define their own answer type
    is_own = bool(Path(data.dataset).suffix) or is_hub_name(data.dataset)
    if data.answers is None and not data.order and is_own:
        for dataset in (source.measured.dataset for source in sources if source.measured):
            if "answers" in dataset:
                return replace(data, answers=dataset["answers"], order=tuple(dataset.get("order", ())))
    return data
