"""What a search would take, phase by phase, before anything is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.evaluation import Grid
from psopt.models import PRIOR_TEXTS, calibrates
from psopt.models.chat import Need, TokenRange, asks_in_chat, grid_price, price_of, tokens_of_text
from psopt.proposals import EXAMPLE_LAYERS, N_OPEN_EXAMPLES, OPEN_NOTES
from psopt.proposals.llm import MOST_SLICES
from psopt.runs._cost_estimate import (
    BASELINE,
    BASELINE_TEST,
    CANDIDATES,
    DIAGNOSES,
    FIRST_DIAGNOSIS,
    FRONT_TEST,
    LAST_DIAGNOSIS,
    LEFT_OUT,
    PRIORS,
    CostEstimate,
    Pace,
    Phase,
    Span,
    whole_grids,
)
from psopt.runs._writing_estimate import drafting_phases, judging_phases, rephrasing_phases
from psopt.search import DIAGNOSED_WORDINGS
from psopt.search.racing import races
from psopt.search_spaces import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.evaluation import Evaluator, Split
    from psopt.models.chat import LMConfig, Price
    from psopt.runs._settings import RunSettings
    from psopt.runs.planning._sizes import Sizes
    from psopt.search_spaces import Prompt, SearchRestriction
    from psopt.tasks import Sample, Task

# Least, middle and most of a search, from 27 searches on five data sets with 30 and 10 trials, in which a hash of the
# prompt or a simulated model answered. Growth is a share of what all edits of the first round add.
# Of candidates, on average, from so many trials on; fewer than 10 have none for shorter prompts.
_GROWTH = {20: Span(0.36, 0.58, 0.82), 10: Span(0.27, 0.42, 0.8), 0: Span(0.3, 0.55, 0.95)}
_GROWTH_OF_FRONT = Span(0.0, 0.3, 1.0)
# All edits of a first round: on the five built-in data sets, this gives .87 to 1.19 times the tokens of the edits that
# the rules propose for a simulated model.
_ENOUGH_SAMPLES = 200  # for the length of examples
_SHOWN = 0.75  # the share of texts that may be examples: the longest are not
_FILLED = 0.75  # the share of examples that are found: not every label has one of each kind
_MOST_SUBCLASSES = 10  # as many as are defined
_NOTE = 25  # tokens of the notes on a label
_SPREAD = 1.5  # how many times more or fewer there may be; next for open answers
_SPREAD_OF_OPEN = 3.0
# Tokens of an edit that a model drafts: from ten words to the most that it may have, at 1.3 tokens per word
_DRAFT = TokenRange(13, 50)
_WORDINGS_OF_STOPPED = 2  # the first rungs of a race (psopt.search.racing)
_FRONT = (0, 3, 8)  # prompts besides the original prompt; with fewer samples, more tie
_SPLITS: tuple[Split, ...] = ("val", "train", "test")


@dataclass(frozen=True, slots=True)
class SearchBasis:
    """What a search's estimate is based on."""

    task: Task
    baseline: Prompt  # the original prompt, which the grids are for
    grids: Mapping[Split, Grid]
    shapes: Mapping[Split, tuple[int, int]]  # samples and wordings
    growth: TokenRange  # by how much all edits of a first round lengthen it; unused if tokens are not counted
    price: Price | None  # of the model that answers
    single_price: Price | None  # the same, if it is asked call by call rather than in batches
    races: bool  # whether candidates race
    pace: Pace | None = None  # how fast the model that is asked most will answer; unknown for batches
    prior_texts: int = 0  # on how many texts label priors are measured under each wording; 0 for no calibration
    labelled_texts: int = 0  # from how many labelled texts a label map is learnt, once
    model: str = ""  # which of several models this is for; empty if there is one
    others: tuple[SearchBasis, ...] = ()  # for further models that are asked the same

    @classmethod
    def of(
        cls,
        task: Task,
        settings: RunSettings,
        evaluator: Evaluator,
        *,
        ignoring_cache: bool = False,
        growth: TokenRange | None = None,
    ) -> SearchBasis:
        """Count it on what prompts are compared on; nothing is sent. The growth takes longest: pass it if you know it.

        If a model writes the rephrasings, the evaluator has rule-made ones in their place.
        """
        model, baseline = evaluator.model, settings.baseline(task)

        def grid(split: Split) -> Grid:
            prompts, texts = evaluator.rephrased(baseline, split), evaluator.texts(split)
            return Grid.of(model, prompts, texts, ignoring_cache=ignoring_cache)

        def of_other(other: Evaluator) -> SearchBasis:
            without_races = replace(settings, search=replace(settings.search, race="off"))  # several models don't race
            grows_alike = asks_in_chat(other.model) == asks_in_chat(model)
            shared = growth if grows_alike else None
            return cls.of(task, without_races, other, ignoring_cache=ignoring_cache, growth=shared)

        basis = cls(
            task,
            baseline,
            {split: grid(split) for split in _SPLITS},
            {split: (len(evaluator.samples[split]), len(evaluator.rephrasings.on(split)[0])) for split in _SPLITS},
            _growth(task, settings, evaluator) if growth is None else growth,
            grid_price(model.name, in_batches=settings.lm.batch),
            price_of(model.name),
            races(settings.search.race, evaluator),
            _pace(evaluator, settings.lm),
            others=tuple(map(of_other, evaluator.others)),
        )
        if calibrates(model):
            prior_texts = PRIOR_TEXTS if model.can_measure else 0
            basis = replace(basis, prior_texts=prior_texts, labelled_texts=model.n_labelled)
        if settings.models[1:]:
            basis = replace(basis, model=model.name)
        return basis

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
        answering = [replace(phase, model=self.model) for phase in self._answering(settings, n_done, n_more)]
        judging = judging_phases(self.task, answering, self.shapes["val"][1], self.single_price)
        phases = (*self._written_before(settings), *answering, *judging)
        spread = self.grids["val"].spread(self.price)
        return CostEstimate(phases, self.price, spread, self.pace, n_more)

    def _written_before(self, settings: RunSettings) -> list[Phase]:
        """Rephrasings and drafts of edits, if models write them."""
        n_texts = self.shapes["val"][1] + self.shapes["test"][1] - 1
        rounds = min(settings.search.rounds, settings.search.trials - 1)
        return [
            *rephrasing_phases(self.baseline, settings.rephrasing, n_texts, self.single_price),
            *drafting_phases(self.task, settings.writer, rounds, self.single_price),
        ]

    def _answering(self, settings: RunSettings, n_done: int, n_more: int) -> list[Phase]:
        """What the model itself is asked."""
        trials = settings.search.trials
        rounds = min(settings.search.rounds, n_more)
        front = Span(*(min(size, trials - 1) for size in _FRONT))
        diagnosed, why_candidates = 1.0, "one a trial"  # the share of train's grid
        if self.races:
            diagnosed = min(1.0, DIAGNOSED_WORDINGS / self.shapes["train"][1])
            why_candidates = f"{n_more}; those that are clearly beaten are cut short"
        phases = []
        if not n_done:
            phases.append(Phase.of(BASELINE, self.grids["val"], self.price))
        if rounds:
            phases.append(self._first_diagnosis(diagnosed))
        if rounds > 1:
            further = Span(0.0, diagnosed * (rounds - 1) / 2, diagnosed * (rounds - 1))
            why = "one a round, none where the best prompt stays the same"
            phases.append(self._of_unknown_prompts(DIAGNOSES, "train", further, why))
        if n_more:
            times = self._candidate_grids(n_more)
            growth = next(growth for least, growth in _GROWTH.items() if trials >= least)
            phases.append(self._of_unknown_prompts(CANDIDATES, "val", times, why_candidates, growth))
        phases.append(Phase.of(BASELINE_TEST, self.grids["test"], self.price))
        why = f"once for each prompt of the front: {front.expected} are counted here"
        phases.append(self._of_unknown_prompts(FRONT_TEST, "test", front, why))
        shown = Span(0, diagnosed, diagnosed)
        phases.append(self._of_unknown_prompts(LAST_DIAGNOSIS, "train", shown, "for the report"))
        if settings.leave_one_out:
            times = Span(*[settings.leave_one_out + len(KINDS)] * 3)
            phases.append(self._of_unknown_prompts(LEFT_OUT, "val", times, "at most"))
        if self.prior_texts:
            phases.append(self._priors(n_more, front))
        return phases

    def _candidate_grids(self, n_more: int) -> Span:
        """How many whole grids the candidates amount to."""
        if not self.races:
            return Span(n_more, n_more, n_more)
        return whole_grids(n_more, *self.shapes["val"])

    def _first_diagnosis(self, share: float) -> Phase:
        grid = self.grids["train"]
        calls = round(grid.calls * share)
        cached = min(calls, grid.cached)
        need = grid.need(self.price, (calls - cached) / max(1, grid.sent))
        return Phase(FIRST_DIAGNOSIS, need, need, need, cached=cached)

    def _of_unknown_prompts(
        self, phase_name: str, split: Split, times: Span, why: str, share: Span = _GROWTH_OF_FRONT
    ) -> Phase:
        """A phase whose prompts are not known: there are `times` of them, each with a `share` of all edits."""
        grid, growth = self.grids[split], self.growth
        by = growth.middle * share.expected
        too_low = too_high = 0.0  # by what share the growth may be wrong
        if by:  # how long all edits are, and what share of them a prompt holds, err independently
            too_low = math.hypot(share.least / share.expected - 1, growth.low / growth.middle - 1)
            too_high = math.hypot(share.most / share.expected - 1, growth.high / growth.middle - 1)
        least = grid.grown(by * max(0.0, 1 - too_low)).need(self.price, times.least)
        mean = grid.grown(by).need(self.price, times.expected)
        most = grid.grown(by * (1 + too_high)).need(self.price, times.most)
        return Phase(phase_name, least, mean, most, why)

    def _priors(self, n_more: int, front: Span) -> Phase:
        """What measuring label priors takes, under each wording of val that a candidate is asked under, and of test."""
        n_least = n_val = self.shapes["val"][1]
        n_test = self.shapes["test"][1]
        if self.races:
            n_least = min(n_val, _WORDINGS_OF_STOPPED)
        least, expected, most = (
            Need(self.labelled_texts + self.prior_texts * (n_more * wordings + n_test * int(n_tested)))
            for wordings, n_tested in zip((n_least, (n_least + n_val) // 2, n_val), front, strict=True)
        )
        return Phase(PRIORS, least, expected, most, "one a wording of each candidate")


def _pace(evaluator: Evaluator, lm: LMConfig) -> Pace | None:
    if lm.batch or not asks_in_chat(evaluator.model):
        return None
    return Pace.of(evaluator.model.engine.rate, lm)


def _growth(task: Task, settings: RunSettings, evaluator: Evaluator) -> TokenRange:
    """By how many tokens all edits of a first round lengthen the original prompt, if they are counted."""
    if not asks_in_chat(evaluator.model):
        return TokenRange()
    drafts = TokenRange()
    if settings.writer is not None and not task.spec.is_open:
        most = min(MOST_SLICES, len(task.labels))
        drafts = TokenRange(_DRAFT.low * most, _DRAFT.high * (most + MOST_SLICES))
    return tokens_of_rule_edits(task, evaluator.samples["train"], settings.search.parts) + drafts


def tokens_of_rule_edits(task: Task, train: Sequence[Sample], parts: SearchRestriction) -> TokenRange:
    """About how many tokens the edits by rule have that a first round proposes."""
    lengths = sorted(
        tokens_of_text(f"{sample.text} {sample.label}").middle for sample in task.subset(train, _ENOUGH_SAMPLES, seed=0)
    )
    shown = lengths[: math.ceil(_SHOWN * len(lengths))]
    of_subclasses = [f"{label}: {text}" for label, of in task.subclasses.items() for text in of.values()]
    definitions = [f"{label}: {text}" for label, text in task.definitions.items()] + of_subclasses[:_MOST_SUBCLASSES]
    n_examples, notes = _FILLED * len(EXAMPLE_LAYERS) * len(task.labels), float(_NOTE * len(task.labels))
    spread = _SPREAD
    if task.spec.is_open:
        n_examples, notes, spread = N_OPEN_EXAMPLES, tokens_of_text(" ".join(OPEN_NOTES)).middle / 2, _SPREAD_OF_OPEN
    tokens = {
        "example": 0.0 if parts.no_verbatim else n_examples * sum(shown) / max(1, len(shown)),
        "definition": sum(tokens_of_text(text).middle for text in definitions),
        "note": notes,
    }
    total = sum(tokens[kind] for kind in parts.kinds)
    return TokenRange(total / spread, total * spread)
