"""A DSPy program as a task model: prompts become programs, and what these answer becomes classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.dspy_programs._applying import apply_prompt
from psopt.dspy_programs._demonstrations import Demonstrator
from psopt.dspy_programs._lm import lm_of, server_of, without_cache
from psopt.dspy_programs._records import Records
from psopt.dspy_programs._runner import ProgramRunner, name_of
from psopt.models import Assessor, Capabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.dspy_programs._failures import Failures
    from psopt.dspy_programs._instruction_variants import InstructionVariants
    from psopt.dspy_programs._metric import Metric
    from psopt.dspy_programs._outcome import Outcome
    from psopt.models import Assessment, OnProgress
    from psopt.models.chat import Budget
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample


class ProgramModel:
    """Runs a program under prompts; what it answered once, is kept in the run directory and not asked again.

    A prompt's description names a variant of all steps' instructions (see `InstructionVariants`); for the rest of it
    see `apply_prompt`.

    Parameters
    ----------
    program : dspy.Module
    outcome : Outcome
    examples : mapping of text to dspy.Example
    variants : InstructionVariants
    folder : path
        Where answers are kept once it exists.
    budget : Budget
    metric : callable, optional
    teacher : dspy.Module, optional
        Gives the demonstrations, in the program's place.
    n_threads : int
    assessor : Assessor, optional
        Compares or rates free answers.
    as_asked : callable, optional
        Makes of a step's own language model the one that is asked; by default the same without DSPy's cache.
    max_errors : int
        On how many texts the program, or the metric, may fail.
    """

    capabilities = Capabilities(counts_calls=True, has_metric_scores=True)

    def __init__(
        self,
        program: Any,
        outcome: Outcome,
        examples: Mapping[str, Any],
        variants: InstructionVariants,
        folder: Path,
        budget: Budget,
        *,
        metric: Metric | None = None,
        teacher: Any = None,
        n_threads: int = 8,
        assessor: Assessor | None = None,
        as_asked: Callable[[Any], Any] = without_cache,
        max_errors: int = 0,
    ) -> None:
        self.program = program
        self.outcome = outcome
        self.variants = variants
        self.steps = tuple(step for step, _ in program.named_predictors())
        self.capabilities = replace(self.capabilities, is_assessed=assessor is not None)
        self._has_metric = metric is not None
        self._assessor = assessor or Assessor()
        self._runner = ProgramRunner(
            outcome,
            examples,
            Records(folder),
            budget,
            metric=metric,
            n_threads=n_threads,
            as_asked=as_asked,
            max_errors=max_errors,
        )
        self._demonstrator = Demonstrator(program, teacher, self._runner)

    @property
    def name(self) -> str:
        """``program/`` and the name of its class, with that of the language model."""
        return name_of(self.program)

    @property
    def server(self) -> str | None:
        """The address that the program's model is asked at, where that is known."""
        return server_of(lm_of(self.program))

    @property
    def needs_traces(self) -> bool:
        """Whether examples alone don't hold what demonstrations show."""
        return self._demonstrator.needs_traces

    def demonstration(self, step: str, text: str) -> Any:
        """A dspy.Example for a step; None where the program does not get to the right outcome by itself."""
        return self._demonstrator.demonstration(step, text)

    def predict(
        self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> NDArray[np.int64]:
        """Run the program on every text under every prompt (see `Model.predict`); what can't be parsed is N/A.

        Raises
        ------
        ModelError
            If the program fails otherwise: an outage is no answer.
        """
        return self._classes(self._programs(prompts), texts, prompts[0].labels, on_progress)

    def metric_scores(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> NDArray[np.float64] | None:
        """What the metric says of each answer (see `MetricScoredModel.metric_scores`)."""
        if not self._has_metric:
            return None
        rows = self._runner.records_of(self._programs(prompts), texts)
        return np.array([[record["merit"] for record in row] for row in rows])

    def remarks(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> dict[str, str]:
        """What the metric says in words of the answers to each text: of the worst one, where it says anything."""
        remarks = {}
        for text, row in zip(texts, self._runner.records_of(self._programs(prompts), texts), strict=True):
            worst = min(row, key=lambda record: record["merit"] or 0.0)
            if said := worst.get("feedback"):
                remarks[text] = said
        return remarks

    @property
    def failures(self) -> Failures:
        """The runs that failed."""
        return self._runner.failures

    def assess(self, array: NDArray[np.int64], samples: Sequence[Sample]) -> Assessment:
        """What is said of free answers (see `AssessedModel.assess`)."""
        return self._assessor.assess(array, samples)

    def predict_steps(
        self, prompt: Prompt, instructions: Sequence[Mapping[str, str]], texts: Sequence[str]
    ) -> NDArray[np.int64]:
        """Run a prompt under any instructions of the steps: (n_texts, n_instructions) classes."""
        programs = [self.apply(prompt, of_steps) for of_steps in instructions]
        return self._classes(programs, texts, prompt.labels)

    def apply(self, prompt: Prompt, instructions: Mapping[str, str]) -> Any:
        """Return a copy of the program with a prompt in it, its steps told by these instructions."""
        return apply_prompt(self.program, prompt, instructions, self.outcome.step, self.demonstration)

    def _programs(self, prompts: Sequence[Prompt]) -> list[Any]:
        return [self.apply(prompt, self.variants.instructions[prompt.description]) for prompt in prompts]

    def _classes(
        self,
        programs: Sequence[Any],
        texts: Sequence[str],
        labels: Sequence[str],
        on_progress: OnProgress | None = None,
    ) -> NDArray[np.int64]:
        rows = self._runner.records_of(programs, texts, on_progress)
        examples = [self._runner.examples[text] for text in texts]
        return np.array(
            [
                self.outcome.class_indices([record["outcome"] for record in row], example, labels)
                for row, example in zip(rows, examples, strict=True)
            ]
        )
