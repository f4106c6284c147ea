"""--dataset, --prompt and --model, each read to match the others, and the notes on them before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.cli._typer import UsageError, has_option, is_given
from psopt.cli._writing import tell, wrapped
from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.runs import Measured, PromptSource, RunSettings
    from psopt.search_spaces import Prompt
    from psopt.settings import DataOptions, LMConfig, MeasureOptions, PromptOptions
    from psopt.tasks import Task

_DEFAULT = "minilm"
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

    to_read: list[Any] = [prompt for prompt in prompts if prompt]
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
    shape = [f"fields: {', '.join(template.fields)}", f"rephrased: {words!r}, paragraphs: {template.n_parts}"]
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


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model of a command."""

    model: str
    server: str | None  # the address that is asked, without secrets
    origin: str  # where the choice comes from, in words
    lm: LMConfig  # how it is asked

    @property
    def line(self) -> str:
        """The line about it on the screen."""
        return f"model {_place(self.model, self.server)}{likelihood_note(self.model, self.lm)}, {self.origin}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {"model": self.model, "server": self.server, "model_origin": self.origin}


def likelihood_note(model: str, lm: LMConfig) -> str:
    """Say by which likelihood a local model scores labels; empty for other models."""
    if _kind(model) != "hf":
        return ""
    return f" (labels scored by {lm.hf_likelihood.replace('sum', 'whole')} log-likelihood)"


def choose_model(named: str | None, lm: LMConfig, sources: Sequence[PromptSource]) -> ModelChoice:
    """Choose the model of prompts, and how to ask it: as the run asked it; raises InputError if the prompts disagree.

    The command line overrides what a prompt says. If it names a model, the prompt's server and options still apply, as
    long as both models are asked in the same way.
    """
    from psopt.models.chat import server_of

    measured = [(source, source.measured) for source in sources if source.measured is not None]
    model, origin = named, "as --model says"
    if not model:
        model, origin = _model_of(sources, measured)
    alike = [how for _, how in measured if _kind(how.model) == _kind(model)]
    if alike:  # what a run has set replaces the defaults
        lm = replace(lm, **{name: value for name, value in alike[0].options.items() if not is_given(name)})
    server = server_of(model, lm)
    for source, how in measured:
        if (how.model, how.server or server) != (model, server):
            verb = "names" if source.prompt is None else "was measured with"
            origin += f"; {source.path} {verb} {_place(how.model, how.server)}"
    return ModelChoice(model, server, origin, lm)


def model_to_search_with(model: str, lm: LMConfig, sources: Sequence[PromptSource]) -> tuple[str, LMConfig, str]:
    """The model of a new run, how to ask it, and the line that reports it.

    If the run starts from an earlier run's prompt, it uses that run's model, asked in the same way. A user's own prompt
    is for a particular model, so none is assumed.
    """
    if any(source.measured is not None for source in sources):
        choice = choose_model(model if is_given("model") else None, lm, sources)
        return choice.model, choice.lm, choice.line
    if sources and not is_given("model"):
        raise _unstated(sources[0], " (minilm needs none)")
    note = likelihood_note(model, lm)
    return model, lm, note and f"model {model}{note}"


def _model_of(sources: Sequence[PromptSource], measured: Sequence[tuple[PromptSource, Measured]]) -> tuple[str, str]:
    """The model where none was named, and where it comes from; raises an error if the prompts do not say one."""
    if not sources:
        return _DEFAULT, "the default"
    if not measured:
        raise _unstated(sources[0])
    for source, how in measured:
        _check_usable(source, how)
    first, how = measured[0]
    for further_source, different in measured[1:]:
        _check_same(first, how, further_source, different)
    origin = f"as in {first.run or first.model_file or first.path}"
    return how.model, f"{origin} ({first.model_note})" if first.model_note else origin


def _unstated(source: PromptSource, hint: str = "") -> InputError:
    fault = f"prompt {source.model_file or source.path} does not say which model it is for"
    return InputError(f"{', '.join(filter(None, (fault, source.model_note)))}: give --model{hint}")


def _check_usable(source: PromptSource, how: Measured) -> None:
    if how.program is not None:
        raise InputError(
            f"prompt {source.path} is that of a DSPy program ({how.program}), run by {_place(how.model, how.server)}: "
            "use the program (psopt export RUN --format dspy), or give --model to try its text as a prompt of psopt's"
        )
    if not how.by_name:
        raise InputError(
            f"prompt {source.path} was measured with a model object in Python ({how.model}), which no name loads: "
            "give --model"
        )


def _check_same(first: PromptSource, how: Measured, second: PromptSource, different: Measured) -> None:
    ours = how.deciding
    theirs = different.deciding
    for name in sorted(ours.keys() | theirs.keys(), key=lambda name: (name != "model", name != "server", name)):
        option = name.replace("server", "api_base")
        if ours.get(name) != theirs.get(name) and not is_given(option):
            flag = "--" + option.replace("_", "-") if has_option(option) else "--model"
            raise InputError(
                f"the prompts were measured differently: {first.path} with {name} {ours.get(name)}, {second.path} with "
                f"{theirs.get(name)}; say with {flag} what both are to be measured with"
            )


def _kind(model: str) -> str:
    return model.partition("/")[0]


def _place(model: str, server: str | None) -> str:
    return f"{model} at {server}" if server else model
