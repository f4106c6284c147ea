"""--dataset, --prompt and --model, each read to match the others, and what is said of them before anything is asked."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.cli._typer import UsageError, is_given, is_silent
from psopt.cli._writing import tell, warn, wrapped
from psopt.errors import BudgetReachedError, InputError, say_how_to_go_on
from psopt.settings import LMConfig, MeasureOptions
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.models import OnProgress
    from psopt.runs import PromptSource
    from psopt.search_spaces import Prompt
    from psopt.settings import DataOptions, PromptOptions
    from psopt.tasks import Task

_SHOWN = 50  # characters of a prompt's wording, in one line


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model of a command."""

    model: str
    server: str | None  # the address that is asked, without secrets
    origin: str  # where the choice comes from, in words
    lm: LMConfig  # how it is asked
    note: str = ""  # on what of the prompts' calibration it can't use

    @property
    def line(self) -> str:
        """The line about it on the screen."""
        line = f"model {_place(self.model, self.server)}{likelihood_note(self.model, self.lm)}, {self.origin}"
        return "; ".join(filter(None, (line, self.note)))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {"model": self.model, "server": self.server, "model_origin": self.origin}


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
    from psopt.runs import as_in_run, load_data, seeds_of
    from psopt.search_spaces import seed_prompt

    sources = read_prompts(prompts, reading, data.dataset, every=every)
    split_seed = options.seed if is_given("seed") else seeds_of(sources, options.seed)[0]
    task = load_data(data_for(data, sources), split_seed, require_labels=require_labels)
    choice = choose_model(model, options.lm, sources)
    options_as_in_run = as_in_run(sources, choice.model, options, _given())
    named = dict(zip([str(source.path) for source in sources], read_all(sources, task), strict=True))
    warn(task.info.note)
    if answers_note := AnswerType.of(task).note:
        tell(f"Note: {answers_note}")
    if not named:
        named = {strategy: seed_prompt(task, strategy, seed=options_as_in_run.seed)}
    tell(choice.line, *_wordings_line(sources, options, options_as_in_run))
    if options.split == "test":
        warn(_changed_data_note(sources, task))
    return Measuring(task, named, choice, options_as_in_run)


def _changed_data_note(sources: Sequence[PromptSource], task: Task) -> str:
    """Say that data which mark no splits are split otherwise than in a prompt's run, since they changed; else empty."""

    def is_split_anew(source: PromptSource) -> bool:
        data = source.measured.dataset if source.measured else {}
        is_of_the_same = data.get("name") == task.info.name and "split_seed" in data
        return is_of_the_same and data.get("sha256") != task.info.sha256

    changed = next(filter(is_split_anew, sources), None)
    if changed is None:
        return ""
    return (
        f"{task.info.name} has changed since {changed.run or changed.path} was made, so it is split anew, and test may "
        "hold samples that the run has searched on; a column `split` keeps them apart"
    )


def _given() -> set[str]:
    """The options of measuring and of the language model that the command line names."""
    names = [option.name for option in (*fields(MeasureOptions), *fields(LMConfig))]
    return set(filter(is_given, names))


def _wordings_line(sources: Sequence[PromptSource], options: MeasureOptions, asked: MeasureOptions) -> Iterator[str]:
    """Say which of a run's wordings a prompt is asked under, or that there are too few of them."""
    own = sources[0].rephrasings if sources and options.rephrasing.are_usual else None
    if own is None:
        return
    run = sources[0].run or f"the run of {sources[0].path}"
    whose = f"{run} has held out" if options.split == "test" else f"the search of {run} had"
    if asked.rephrasing != options.rephrasing:
        yield f"wordings: {asked.rephrasings} that {whose}"
    elif is_given("rephrasings") and 0 < len(own.on(options.split)[0]) < options.rephrasings:
        yield f"wordings: psopt's own, since {whose} fewer than {options.rephrasings}"


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


def choose_model(named: str | None, lm: LMConfig, sources: Sequence[PromptSource]) -> ModelChoice:
    """Choose the model of prompts, and how to ask it: as the run asked it; raises InputError if the prompts disagree.

    The command line overrides what a prompt says. If it names a model, the prompt's server and options still apply, as
    long as both models are asked in the same way.
    """
    from psopt.models.chat import server_of
    from psopt.runs import as_measured, lm_as_in_run

    named_here = _given()
    measured = [(source, source.measured) for source in sources if source.measured is not None]
    if named == "":
        raise InputError("--model is empty: name a model, or leave it out")
    if named:
        model, origin = named, "as --model says"
    elif sources:
        model = as_measured(sources, named_here).model
        first = measured[0][0]
        origin = f"as in {first.run or first.model_file or first.path}"
        if first.model_note:
            origin += f" ({first.model_note})"
    else:
        model, origin = "minilm", "the default"
    lm = lm_as_in_run(sources, model, lm, named_here)
    server = server_of(model, lm)
    for source, how in measured:
        if (how.model, how.server or server) != (model, server):
            verb = "names" if source.prompt is None else "was measured with"
            origin += f"; {source.path} {verb} {_place(how.model, how.server)}"
    notes = dict.fromkeys(calibration_note(source.prompt, model, lm) for source in sources)
    return ModelChoice(model, server, origin, lm, "; ".join(filter(None, notes)))


def likelihood_note(model: str, lm: LMConfig) -> str:
    """Say by which likelihood a local model scores labels; empty for others, and for llama.cpp if it is the usual."""
    from psopt.models import scores_labels

    if not scores_labels(model) or (not model.startswith("hf/") and lm.hf_likelihood == "mean"):
        return ""
    return f" (labels scored by {'mean' if lm.hf_likelihood == 'mean' else 'whole'} log-likelihood)"


def calibration_note(prompt: Prompt | None, model: str, lm: LMConfig) -> str:
    """Say what of a prompt's calibration a model can't use; empty if it uses all of it, or is told not to."""
    from psopt.models import calibrated_as, scores_labels

    if prompt is None or prompt.calibration is None or lm.calibration == "off":
        return ""
    if not (scores_labels(model) or lm.logprobs):
        return "it gives no label probabilities: the prompt is used without its calibration"
    calibrated_for = calibrated_as(model, lm.hf_likelihood if scores_labels(model) else "mean")
    calibration = prompt.calibration.of(calibrated_for)
    if calibration.label_map and calibration.model != calibrated_for:
        return f"the prompt's label map is for {calibration.model} and is left out"
    return ""


def _place(model: str, server: str | None) -> str:
    return f"{model} at {server}" if server else model


@contextmanager
def reading_bar() -> Iterator[OnProgress]:
    """Show how many texts a model has read; yields the callback for `on_progress`. Says how to go on after a limit."""
    from psopt.api import reading

    with reading(None, progress=False if is_silent() else None) as on_progress:
        try:
            yield on_progress
        except BudgetReachedError as error:
            say_how_to_go_on(error, "answers are kept: the same command with a higher limit goes on from there")
            raise
