"""What a search is about, all of it known before its study is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from psopt.models import calibrates, can, capabilities_of
from psopt.proposals import NoVerbatim, propose_edits
from psopt.search._prompt_limits import PromptLimits
from psopt.search_spaces import CALIBRATE, ORDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from psopt.diagnosis import Diagnosis
    from psopt.evaluation import Evaluator, Predictions
    from psopt.models.chat import Budget
    from psopt.proposals.llm import LLMProposer
    from psopt.search._front import Candidate
    from psopt.search.distributed import StoredStudy
    from psopt.search.racing import StoppedCandidate
    from psopt.search_spaces import Edit, Prompt
    from psopt.settings import HoldBack, SearchOptions
    from psopt.tasks import Task


_LONGEST_TEXTS = 5  # of which the one with most tokens is: characters and tokens rarely differ more

Propose = Callable[["Task", "Prompt", "Predictions", "Diagnosis", "Sequence[Edit]", "HoldBack"], "list[Edit]"]
"""From a task, a prompt, its predictions on train, their diagnosis, the pool and what is held back to edits."""


class Observer:
    """Watch a search; every method may be overridden, and does nothing here."""

    # From the beginning of the search on
    budget: Budget | None = None  # what it may spend and has spent
    study: StoredStudy | None = None

    def started(self, task: Task, folder: Path) -> None:
        """All that was given can be used, and the run directory is ready."""

    def phase(self, what: str) -> None:
        """A new part of the work begins, said in a few words; a local model is timed before the run has `started`."""

    def answers(self, done: int, total: int) -> None:
        """A long evaluation goes on: so many of so many new texts read."""

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        """A candidate is about to be evaluated here; it may fail, and then nothing more is said of it."""

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """A candidate has been evaluated."""

    def stopped(self, candidate: StoppedCandidate, n_done: int, n_total: int) -> None:
        """A candidate has stopped in its race: others are clearly better."""


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What a search is about."""

    task: Task
    baseline_prompt: Prompt  # what edits are applied to, and what candidates are compared with
    evaluator: Evaluator
    options: SearchOptions
    observer: Observer = field(default_factory=Observer)
    proposer: LLMProposer | None = None  # a language model that proposes edits besides those of `propose`
    propose: Propose = propose_edits  # proposes edits by rule
    artifacts: Path | None = None  # where the dashboard finds the predictions of trials

    @cached_property
    def limits(self) -> PromptLimits:
        """How large a prompt may be that is handed back."""
        return PromptLimits.in_search(self.baseline_prompt, self.evaluator, self.options.parts)

    def can_read(self, prompt: Prompt) -> bool:
        """Whether every model reads a prompt to its end, with the longest texts and the longest rephrasing."""
        worded = prompt.described_as(max(self._descriptions, key=len))
        models = [evaluator.model for evaluator in self.evaluator.each]
        return all(model.can_read(worded, self._longest_texts) for model in models if can(model, "has_longest"))

    @cached_property
    def _descriptions(self) -> list[str]:
        return [text for split in ("train", "test") for text in self.evaluator.rephrasings.on(split)[0]]

    @cached_property
    def _longest_texts(self) -> list[str]:
        texts = [text for split in ("train", "val", "test") for text in self.evaluator.texts(split)]
        return sorted(texts, key=len)[-_LONGEST_TEXTS:]

    @cached_property
    def no_verbatim(self) -> NoVerbatim | None:
        """What keeps text of samples out of prompts, where that is asked for."""
        return NoVerbatim(self.task, self.baseline_prompt) if self.options.parts.no_verbatim else None

    @property
    def first_edits(self) -> tuple[Edit, ...]:
        """What a search has in its pool before anything is diagnosed, and tries first: calibration, where it can be."""
        models = [evaluator.model for evaluator in self.evaluator.each if calibrates(evaluator.model)]
        is_open = any(model.can_measure and not model.calibrates(self.baseline_prompt) for model in models)
        return (CALIBRATE,) if is_open else ()

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders of examples that are searched: one, for a model to which they are all the same."""
        reads_order = any(capabilities_of(evaluator.model).reads_order for evaluator in self.evaluator.each)
        return ORDERS if reads_order else ORDERS[:1]

    def order_parameter(self, edits: Iterable[Edit], order: str) -> str | None:
        """Return the order of examples that a queued trial names; None without examples, or where none is searched."""
        is_searched = len(self.orders) > 1 and any(edit.kind == "example" for edit in edits)
        return order if is_searched else None
