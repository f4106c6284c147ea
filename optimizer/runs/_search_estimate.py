"""What a search would take, phase by phase, before anything is asked."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.models import PRIOR_TEXTS, REWORDED_TEXTS, calibrates
from psopt.models.chat import asks_in_chat, grid_price, tokens_of_text
from psopt.proposals import (
    EXAMPLE_LAYERS,
    MOST_EXAMPLE_CHARACTERS,
    MOST_FURTHER_CHARACTERS,
    N_OPEN_EXAMPLES,
    OPEN_NOTES,
)
from psopt.proposals.llm import MOST_SLICES
from psopt.runs._cost_estimate import (
    CostEstimate,
    Grid,
    Pace,
    Phase,
    drafting_phases,
    judging_phases,
    rephrasing_phases,
)
from psopt.search import DIAGNOSED_WORDINGS
from psopt.search.racing import FEWEST_SAMPLES, Schedule, races
from psopt.search_spaces import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.evaluation import Evaluator, Split
    from psopt.models.chat import Price
    from psopt.runs._settings import RunSettings
    from psopt.runs.planning._sizes import Sizes
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task

# By what share of all edits of the first round a prompt is longer than the original one: candidates, and the front's
# prompts. 20 runs in which a simulated server knew most labels, or answered by a hash of the prompt, took .4 to 3.3
# times the tokens expected (`make bench-estimates`, and larger ones): it depends on which candidates are good.
_GROWTH, _GROWTH_OF_FRONT = 0.5, 0.3
_FILLED = 0.75  # the share of examples that are found: not every label has one of each kind
_MOST_SUBCLASSES = 10  # as many as are defined
_SENTENCE = 25  # tokens of a note, or of a draft by a model
_WORDINGS_OF_STOPPED = 2  # the first rungs of a race (psopt.search.racing)
_FRONT = 3  # prompts besides the original prompt; with fewer samples, more tie
_SPLITS: tuple[Split, ...] = ("val", "train", "test")


def whole_grids(n_candidates: int, n_samples: int, n_wordings: int) -> float:
    """About how many whole grids the answers to racing candidates amount to; a front's worth is asked completely."""
    if n_samples < FEWEST_SAMPLES or n_wordings < 2:
        return n_candidates
    schedule = Schedule(np.zeros(n_samples, dtype=np.int64), n_wordings, 0)
    ends = (schedule.rungs[0], schedule.held_at)
    first, held = (rung.samples * rung.wordings / (n_samples * n_wordings) for rung in ends)
    n_whole = min(_FRONT, n_candidates)
    return n_whole + (n_candidates - n_whole) * (first + held) / 2


@dataclass(frozen=True, slots=True)
class SearchBasis:
    """What a search's estimate is based on."""

    task: Task
    baseline: Prompt  # the original prompt, which the grids are for
    grids: Mapping[Split, Grid]
    shapes: Mapping[Split, tuple[int, int]]  # samples and wordings
    growth: float  # about how many tokens all edits of a first round have; unused if tokens are not counted
    price: Price | None  # of the model that answers
    races: bool  # whether candidates race
    pace: Pace | None = None  # how fast the model that is asked most will answer; unknown for batches
    prior_texts: int = 0  # on how many texts a prompt's label prior is measured; 0 for no calibration
    is_always_calibrated: bool = False  # whether the original prompt is calibrated too
    labelled_texts: int = 0  # from how many labelled texts a label map is learnt, once
    model: str = ""  # which of several models this is for; empty if there is one
    others: tuple[SearchBasis, ...] = ()  # for further models that are asked the same

    @classmethod
    def of(
        cls, task: Task, settings: RunSettings, evaluator: Evaluator, *, ignoring_cache: bool = False
    ) -> SearchBasis:
        """Count it on what prompts are compared on, with rule-made rephrasings for written ones; nothing is sent."""
        model, baseline = evaluator.model, settings.baseline(task)

        def grid(split: Split) -> Grid:
            prompts, texts = evaluator.rephrased(baseline, split), evaluator.texts(split)
            return Grid.of(model, prompts, texts, ignoring_cache=ignoring_cache)

        without_races = replace(settings, search=replace(settings.search, race="off"))  # several models don't race
        others = (cls.of(task, without_races, other, ignoring_cache=ignoring_cache) for other in evaluator.others)
        basis = cls(
            task,
            baseline,
            {split: grid(split) for split in _SPLITS},
            {split: (len(evaluator.samples[split]), len(evaluator.rephrasings.on(split)[0])) for split in _SPLITS},
            _tokens_of_edits(task, settings, evaluator.samples["train"]) if asks_in_chat(model) else 0.0,
            grid_price(model.name, in_batches=settings.lm.batch),
            races(settings.search.race, evaluator),
            Pace.of(model.engine.rate, settings.lm) if asks_in_chat(model) and not settings.lm.batch else None,
            model=model.name if settings.models[1:] else "",
            others=tuple(others),
        )
        if not calibrates(model):
            return basis
        prior_texts, is_always = PRIOR_TEXTS if model.can_measure else 0, model.calibrates(baseline)
        return replace(basis, prior_texts=prior_texts, labelled_texts=model.n_labelled, is_always_calibrated=is_always)

    def sized(self, sizes: Sizes) -> SearchBasis:
        """The same for other numbers of samples and wordings, with nothing in the cache."""
        shapes: dict[Split, tuple[int, int]] = {
            "train": (sizes.train, sizes.rephrasings),
            "val": (sizes.val, sizes.rephrasings),
            "test": (sizes.test, sizes.heldout),
        }
        grids = {split: self.grids[split].sized(samples * wordings) for split, (samples, wordings) in shapes.items()}
        return replace(self, grids=grids, shapes=shapes, others=tuple(basis.sized(sizes) for basis in self.others))

    def estimate(self, settings: RunSettings, n_done: int = 0) -> CostEstimate:
        """Count what a run that has scored `n_done` candidates would still ask, on the basis's samples and wordings."""
        own = self._of_one_model(settings, n_done)
        if not self.others:
            return own
        # texts are written only once, whichever model writes them
        asking = replace(settings, proposer="rules", rephrasing=settings.rephrasing.by_rule())
        return CostEstimate.of_several([own, *(basis._of_one_model(asking, n_done) for basis in self.others)])

    def _of_one_model(self, settings: RunSettings, n_done: int) -> CostEstimate:
        n_more = max(0, settings.search.trials - max(1, n_done))
        n_texts = self.shapes["val"][1] + self.shapes["test"][1] - 1
        rounds = min(settings.search.rounds, settings.search.trials - 1)
        answering = [replace(phase, model=self.model) for phase in self._answering(settings, n_done, n_more)]
        phases = (
            *rephrasing_phases(self.baseline, settings.rephrasing, n_texts, self.price),
            *drafting_phases(self.task, settings.writer, rounds, self.price),
            *answering,
            *judging_phases(self.task, answering, self.shapes["val"][1], self.price),
        )
        return CostEstimate(phases, self.price, self.pace, n_more)

    def _answering(self, settings: RunSettings, n_done: int, n_more: int) -> list[Phase]:
        """What the model itself is asked."""
        rounds = min(settings.search.rounds, n_more)
        front = min(_FRONT, settings.search.trials - 1)
        grids, why_grids = float(n_more), "one a trial"
        diagnosed = 1.0  # the share of train's grid
        if self.races:
            grids = whole_grids(n_more, *self.shapes["val"])
            why_grids = f"{n_more}; those that are clearly beaten are cut short"
            diagnosed = min(1.0, DIAGNOSED_WORDINGS / self.shapes["train"][1])
        phases = []
        if not n_done:
            phases.append(self._of_original("original prompt on val", "val"))
        if rounds:
            phases.append(self._of_original("first diagnosis on train", "train", diagnosed))
        if rounds > 1:
            why = "one a round, none where the best prompt stays the same"
            phases.append(self._of_others("diagnoses on train", "train", diagnosed * (rounds - 1) / 2, why))
        if n_more:
            phases.append(self._of_others("candidates on val", "val", grids, why_grids, _GROWTH))
        phases.append(self._of_original("original prompt on test", "test"))
        why = f"once for each prompt of the front: {front} are counted here"
        phases.append(self._of_others("front on test", "test", front, why))
        phases.append(self._of_others("chosen prompt on train", "train", diagnosed, "for the report"))
        if settings.leave_one_out:
            n_left_out = settings.leave_one_out + len(KINDS)
            phases.append(self._of_others("edits left out, on val", "val", n_left_out, "at most"))
        if self.prior_texts:
            phases.append(self._priors(n_more, front))
        return phases

    def _of_original(self, phase_name: str, split: Split, share: float = 1.0) -> Phase:
        """A phase that asks this share of a split's grid under the original prompt."""
        grid = self.grids[split]
        n_calls = round(grid.calls * share)
        n_cached = min(n_calls, grid.cached)
        share_sent = (n_calls - n_cached) / max(1, grid.sent)
        return Phase(phase_name, grid.need(self.price, share_sent), cached=n_cached)

    def _of_others(
        self, phase_name: str, split: Split, times: float, why: str, growth: float = _GROWTH_OF_FRONT
    ) -> Phase:
        """A phase whose prompts are not known: there are `times` of them, each with a share of all edits."""
        grid = self.grids[split].sized(self.grids[split].calls)
        return Phase(phase_name, grid.need(self.price, times, growth * self.growth), why)

    def _priors(self, n_more: int, front: int) -> Phase:
        """What measuring label priors takes, under each wording of val that a candidate is asked under, and of test."""
        n_val, n_test = self.shapes["val"][1], self.shapes["test"][1]
        n_least = min(n_val, _WORDINGS_OF_STOPPED) if self.races else n_val
        # The first wording of val is the prompt's own.
        n_own, n_reworded = n_more, n_more * ((n_least + n_val) // 2 - 1) + n_test * front
        if self.is_always_calibrated:
            n_own, n_reworded = n_own + 1, n_reworded + n_val - 1 + n_test
        n_texts = self.prior_texts * n_own + min(self.prior_texts, REWORDED_TEXTS) * n_reworded
        times = (self.labelled_texts + n_texts) / self.grids["val"].calls
        return self._of_others("label priors of calibrated prompts", "val", times, "one a wording of each candidate")


def _tokens_of_edits(task: Task, settings: RunSettings, train: Sequence[Sample]) -> float:
    """About how many tokens all edits of a first round have: examples, definitions and notes."""
    parts, n_labels = settings.search.parts, len(task.labels)
    of_subclasses = [f"{label}: {text}" for label, of in task.subclasses.items() for text in of.values()]
    definitions = [f"{label}: {text}" for label, text in task.definitions.items()] + of_subclasses[:_MOST_SUBCLASSES]
    n_examples, notes = _FILLED * len(EXAMPLE_LAYERS) * n_labels, float(_SENTENCE * n_labels)
    if task.spec.is_open:
        n_examples, notes = N_OPEN_EXAMPLES, tokens_of_text(" ".join(OPEN_NOTES)).middle / 2
    elif settings.writer is not None:
        notes += _SENTENCE * (MOST_SLICES + min(MOST_SLICES, n_labels)) / 2
    lengths = [tokens_of_text(f"{sample.text} {sample.label}").middle for sample in train]
    length = statistics.median(lengths or [0.0])
    most = max(tokens_of_text("x" * MOST_EXAMPLE_CHARACTERS).middle, length * n_labels)
    examples = min(n_examples * length, most)
    most_more = tokens_of_text("x" * MOST_FURTHER_CHARACTERS).middle - examples
    more_examples = 0.0 if task.spec.is_open else min(examples, max(0.0, most_more))
    tokens = {
        "example": 0.0 if parts.no_verbatim else examples + more_examples,
        "definition": sum(tokens_of_text(text).middle for text in definitions),
        "note": notes,
    }
    return sum(tokens[kind] for kind in parts.kinds)
