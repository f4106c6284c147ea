"""A DSPy program as a task model: prompts become programs, and their answers become classes."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.dspy_programs._contents import digest
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._fingerprint import fingerprint
from psopt.dspy_programs._lm import lm_of, server_of
from psopt.dspy_programs._outcome import MeantOutcome
from psopt.dspy_programs._runner import name_of
from psopt.dspy_programs._saving import copy_of
from psopt.models import NOT_ASKED, Assessor, Capabilities
from psopt.rephrasings import Checks, closeness, rephrase_by_rules, write_rephrasings
from psopt.search_spaces import render_additions
from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._runner import ProgramRunner
    from psopt.evaluation import Predictions
    from psopt.models import Assessment, OnProgress
    from psopt.rephrasings import RephrasingSet
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task


_NO_INSTRUCTIONS = "."  # DSPy would replace empty ones with its own


@dataclass(frozen=True)
class InstructionVariants:
    """One variant has one rephrasing of every step's instructions."""

    rephrasings: RephrasingSet  # of the outcome's step; its texts name the variants
    instructions: Mapping[str, Mapping[str, str]]  # each variant's instructions per step

    @property
    def original(self) -> Mapping[str, str]:
        """The program's own instructions."""
        return self.instructions[self.rephrasings.search[0]]


def rephrase_instructions(program: Any, outcome_step: str, task: Task, compilation: Compilation) -> InstructionVariants:
    """Rephrase the instructions of each step of a program, by rule or by a writing model, whose texts are checked.

    Labels belong to the step that gives the outcome, and so do wordings from another source, if there are any: under
    these the other steps keep their instructions.

    Raises InputError if there are not enough rephrasings.
    """
    settings, models = compilation.settings, compilation.models
    writer = near = judge = None
    if compilation.rephraser is not None:
        writer, near = models.writer(compilation.rephraser), closeness(models)
        judge = models.judge(compilation.judge) if compilation.judge is not None else None
    own: dict[str, str] = {}
    sets: dict[str, RephrasingSet] = {}
    for step, predictor in program.named_predictors():
        own[step] = text = predictor.signature.instructions
        if writer is not None:
            checks = Checks(" ".join(text.split()), task.labels, settings.rephrasing.keep_labels, near, judge=judge)
            sets[step] = write_rephrasings(writer, checks, settings.rephrasings, settings.heldout)
        else:
            noun = next(iter(predictor.signature.input_fields), task.noun).replace("_", " ")
            sizes = settings.rephrasings, settings.heldout, settings.seed
            labels = task.classes if step == outcome_step else ()
            sets[step] = rephrase_by_rules(text, noun, *sizes, protect=task.labels, labels=labels)
    instructions = {text: {**own, outcome_step: text} for text in settings.heldout_from}
    texts = {step: (*of_step.search, *of_step.heldout) for step, of_step in sets.items()}
    for number, text in enumerate(texts[outcome_step]):
        instructions[text] = {step: of_step[number] for step, of_step in texts.items()}
    instructions[texts[outcome_step][0]] = own  # with their line breaks: a rephrasing is one paragraph
    return InstructionVariants(sets[outcome_step], instructions)


def _typed(values: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Values stored as JSON, converted back to their fields' types; unchanged if that fails."""
    typed: dict[str, Any] = {}
    for name, value in values.items():
        typed[name] = value
        if name in fields:
            with contextlib.suppress(ValueError, TypeError):
                typed[name] = TypeAdapter(fields[name].annotation).validate_python(value)
    return typed


class ProgramModel:
    """Runs a program under prompts; its answers are kept in the run directory and not requested again.

    A prompt's description selects a variant of all steps' instructions (see `InstructionVariants`); for the rest see
    `apply`. A `teacher` gives the demonstrations instead of the program; an `assessor` compares or rates free answers.
    """

    capabilities = Capabilities(counts_calls=True, has_cells=True, has_metric_scores=True)

    def __init__(
        self,
        program: Any,
        runner: ProgramRunner,
        variants: InstructionVariants,
        *,
        teacher: Any = None,
        assessor: Assessor | None = None,
    ) -> None:
        self.program = program
        self.runner = runner
        self.variants = variants
        self.outcome = runner.outcome
        self.steps = tuple(step for step, _ in program.named_predictors())
        # Answers with the same meaning are numbered within a row; part of a row would get other numbers.
        has_last_word = runner.metric is not None or isinstance(runner.outcome, MeantOutcome)
        self.capabilities = replace(
            self.capabilities,
            is_assessed=assessor is not None,
            has_metric_scores=has_last_word,
            frame=_frame_of(program),
        )
        self._assessor = assessor or Assessor()
        self._teacher = teacher or program
        self._code = "" if teacher is None else digest(teacher)
        self._taught: dict[str, Mapping[str, Any]] = {}  # what each step read and answered, by text

    @property
    def name(self) -> str:
        """``program/`` and the name of its class, with that of the language model."""
        return name_of(self.program)

    @property
    def server(self) -> str | None:
        """The address at which the program's model is asked, if known."""
        return server_of(lm_of(self.program))

    @property
    def identity(self) -> str:
        """What is asked, and how: the language model, its settings without secrets, its server, and the adapter."""
        parts = fingerprint(self.program)
        return " ".join([*parts["lm"], parts["adapter"]])

    def predict(
        self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> NDArray[np.int64]:
        """Run the program on every text under every prompt (see `Model.predict`); unparsable answers are N/A."""
        return self._class_array(self._programs(prompts), texts, prompts[0].labels, on_progress)

    def predict_cells(
        self,
        prompts: Sequence[Prompt],
        texts: Sequence[str],
        cells: NDArray[np.bool_],
        on_progress: OnProgress | None = None,
    ) -> NDArray[np.int64]:
        """Run the program where `cells` is True (see `AbleModel.predict_cells`)."""
        return self._class_array(self._programs(prompts), texts, prompts[0].labels, on_progress, cells)

    def calls_left(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> int:
        """How many calls the program's answers still take (see `ProgramRunner.calls_left`)."""
        return self.runner.calls_left(self._programs(prompts), texts)

    def metric_scores(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> NDArray[np.float64] | None:
        """The metric's score of each answer (see `MetricScoredModel.metric_scores`)."""
        if self.runner.metric is None:
            return None
        rows: Any = self.runner.records_of(self._programs(prompts), texts)
        return np.array([record["merit"] for record in rows.flat], dtype=np.float64).reshape(rows.shape)

    def remarks(self, prompt: Prompt, predictions: Predictions) -> dict[str, str]:
        """The metric's comment on the answers to each text: on the worst one, if there is a comment."""
        prompts = [replace(prompt, description=rephrasing) for rephrasing in predictions.rephrasings]
        texts = [sample.text for sample in predictions.samples]
        remarks = {}
        for text, row in zip(texts, self.runner.records_of(self._programs(prompts), texts), strict=True):
            worst = min(row, key=lambda record: record["merit"] or 0.0)
            if feedback := worst.get("feedback"):
                remarks[text] = feedback
        return remarks

    def assess(self, array: NDArray[np.int64], samples: Sequence[Sample]) -> Assessment:
        """The assessment of free answers (see `AssessedModel.assess`)."""
        return self._assessor.assess(array, samples)

    def predict_steps(
        self, prompt: Prompt, instructions: Sequence[Mapping[str, str]], texts: Sequence[str]
    ) -> NDArray[np.int64]:
        """Run a prompt under the given instructions of the steps: (n_texts, n_instructions) classes."""
        programs = [self.apply(prompt, of_steps) for of_steps in instructions]
        return self._class_array(programs, texts, prompt.labels)

    def apply(self, prompt: Prompt, instructions: Mapping[str, str]) -> Any:
        """Return a copy of the program with a prompt applied; its steps use these instructions, otherwise their own.

        The prompt's definitions and notes are added to the instructions of the step that gives the outcome; its
        examples become demonstrations of the step that they are for, or of all steps.
        """
        copy = copy_of(self.program)
        additions = render_additions(prompt)
        for step, predictor in copy.named_predictors():
            parts = [instructions.get(step, predictor.signature.instructions)]
            if step == self.outcome.step and additions:
                parts.append(additions)
            predictor.signature = predictor.signature.with_instructions("\n\n".join(parts))
            texts = [example.text for example in prompt.examples if example.step in {"", step}]
            demonstrations = [self.demonstration(step, text) for text in texts]
            predictor.demos = [*predictor.demos, *(demo for demo in demonstrations if demo is not None)]
        return copy

    def demonstration(self, step: str, text: str) -> Any:
        """An example as a demonstration of a step, completed with what the teacher, or the program, answered there.

        None if that does not reach the right outcome. Values have the types of the step's fields, as in DSPy's own
        demonstrations.
        """
        example, fields = self.runner.examples[text], self.runner.fields[step]
        if all(name in example for name in fields):
            return dspy.Example({name: example[name] for name in fields})
        if text not in self._taught:
            record = self.runner.records_of([copy_of(self._teacher)], [text], code=self._code)[0, 0]
            self._taught[text] = record.get("steps", {}) if self.runner.is_right(record, text) else {}
        if step not in self._taught[text]:
            return None
        return dspy.Example(augmented=True, **_typed(self._taught[text][step], fields))

    def _programs(self, prompts: Sequence[Prompt]) -> list[Any]:
        return [self.apply(prompt, self.variants.instructions[prompt.description]) for prompt in prompts]

    def _class_array(
        self,
        programs: Sequence[Any],
        texts: Sequence[str],
        labels: Sequence[str],
        on_progress: OnProgress | None = None,
        cells: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int64]:
        """Run programs, and return their outcomes as classes; `NOT_ASKED` where there is no record."""
        rows = self.runner.records_of(programs, texts, on_progress, cells)
        array = np.full(rows.shape, NOT_ASKED, dtype=np.int64)
        for place, (text, row) in enumerate(zip(texts, rows, strict=True)):
            is_asked = np.array([record is not None for record in row])
            outcomes = [record["outcome"] for record in row[is_asked].tolist()]
            array[place, is_asked] = self.outcome.class_indices(outcomes, self.runner.examples[text], labels)
        return array


def _frame_of(program: Any) -> str:
    """What an adapter adds to calls of a program's steps besides instructions and inputs: fields, demonstrations."""
    adapter = dspy.settings.adapter or dspy.ChatAdapter()
    parts: list[str] = []
    for _, predictor in program.named_predictors():
        bare = predictor.signature.with_instructions(_NO_INSTRUCTIONS)
        # a conversation has no words of its own here, and an empty text is not a conversation
        inputs = {name: "" for name, field in bare.input_fields.items() if field.annotation is not dspy.History}
        with contextlib.suppress(Exception):  # a user's adapter may want inputs of their types: its words don't count
            messages = adapter.format(bare, demos=predictor.demos, inputs=inputs)
            parts += [str(message["content"]) for message in messages]
    return "\n".join(parts)
