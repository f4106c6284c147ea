"""What a search works on, all of it known before its study is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from psopt.models import calibrates, can, capabilities_of, longest_of
from psopt.proposals import NoVerbatim, ProposalChecks, propose_edits
from psopt.search._prompt_limits import PromptLimits, tokens_around
from psopt.search_spaces import CALIBRATE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.diagnosis import Diagnosis
    from psopt.evaluation import Evaluator, Predictions
    from psopt.models.chat import Budget
    from psopt.proposals.llm import LLMProposer
    from psopt.search._front import Candidate
    from psopt.search.distributed import StoredStudy
    from psopt.search.racing import StoppedCandidate
    from psopt.search_spaces import Edit, Prompt
    from psopt.settings import SearchOptions
    from psopt.tasks import Task


Propose = Callable[["Task", "Prompt", "Predictions", "Diagnosis", "Sequence[Edit]", ProposalChecks, bool], "list[Edit]"]
"""Takes a task, a prompt, its predictions on train, their diagnosis, the pool and the checks; returns edits."""


class Observer:
    """Watches a search; every method does nothing here, and may be overridden."""

    # Set from the beginning of the search on
    budget: Budget | None = None  # what it may spend and has spent
    study: StoredStudy | None = None

    def started(self, task: Task, folder: Path) -> None:
        """All arguments are usable, and the run directory is ready."""

    def phase(self, text: str) -> None:
        """A new part of the work begins, in a few words; timing a local model comes before the run has `started`."""

    def answers(self, done: int, total: int) -> None:
        """A long evaluation continues: `done` of `total` new texts have been read."""

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        """Evaluation of a candidate begins in this process; if it fails, no other method is called for it."""

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """A candidate has been evaluated."""

    def stopped(self, candidate: StoppedCandidate, n_done: int, n_total: int) -> None:
        """A candidate has stopped in its race: others are clearly better."""


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What a search works on."""

    task: Task
    baseline_prompt: Prompt  # what edits are applied to, and what candidates are compared with
    evaluator: Evaluator
    options: SearchOptions
    observer: Observer = field(default_factory=Observer)
    proposer: LLMProposer | None = None  # a language model that proposes edits in addition to those of `propose`
    propose: Propose = propose_edits  # proposes edits by rule

    @cached_property
    def limits(self) -> PromptLimits:
        """How large a recommended prompt may be."""
        return PromptLimits.of(self.baseline_prompt, tokens_around(self.evaluator), self.options.parts)

    def can_read(self, prompt: Prompt) -> bool:
        """Whether every model can read a prompt completely, even with the longest texts and the longest rephrasing."""
        description, texts = self._longest
        models = [evaluator.model for evaluator in self.evaluator.each]
        worded = prompt.described_as(description)
        return all(model.can_read(worded, texts) for model in models if can(model, "has_longest"))

    @cached_property
    def _longest(self) -> tuple[str, list[str]]:
        """The longest rephrasing, and the longest texts."""
        evaluator, rephrasings = self.evaluator, self.evaluator.rephrasings
        texts = longest_of((*evaluator.texts("train"), *evaluator.texts("val"), *evaluator.texts("test")))
        return max((*rephrasings.on("train")[0], *rephrasings.on("test")[0]), key=len), texts

    @cached_property
    def checks(self) -> ProposalChecks:
        """What every edit must satisfy. They read all samples, so all rounds share them."""
        return ProposalChecks.of(self.task, self.baseline_prompt, self.options.parts.hold_back)

    @cached_property
    def no_verbatim(self) -> NoVerbatim | None:
        """The check that keeps text of samples out of prompts, if that is asked for."""
        return NoVerbatim(self.task, self.baseline_prompt) if self.options.parts.no_verbatim else None

    @property
    def first_edits(self) -> tuple[Edit, ...]:
        """The edits in a search's pool before any diagnosis, which are tried first: calibration, if it is possible."""
        models = [evaluator.model for evaluator in self.evaluator.each if calibrates(evaluator.model)]
        is_open = any(model.can_measure and not model.calibrates(self.baseline_prompt) for model in models)
        return (CALIBRATE,) if is_open else ()

    @property
    def reads_order(self) -> bool:
        """Whether the order of examples can make a difference to any of the models; otherwise it is not searched."""
        return any(capabilities_of(evaluator.model).reads_order for evaluator in self.evaluator.each)
