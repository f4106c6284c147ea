"""What a run would take, before anything is sent: calls exactly, tokens and money as a range."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.api._limits import unwritten
from psopt.api._measure import grids
from psopt.api._optimize import N_HELDOUT, freeze_run_rephrasings, make_evaluator
from psopt.api._prompt_growth import tokens_of_all_edits
from psopt.models import ModelProvider, asks_in_chat
from psopt.models.chat import (
    CHAT_KINDS,
    Need,
    Price,
    Query,
    TokenRange,
    price_of,
    tokens_of_query,
    tokens_of_text,
)
from psopt.proposals.llm import MOST_SLICES, N_DRAFTS
from psopt.rephrasings import N_SHOWN
from psopt.runs import STUDY
from psopt.search_spaces import KINDS, render, seed_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from psopt.api._measure import MeasureOptions
    from psopt.evaluation import Evaluator, Split
    from psopt.models.chat import LMConfig
    from psopt.rephrasings import RephrasingOptions
    from psopt.runs import RunSettings
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

# Least, middle and most of a search, from 27 searches in which a hash of the prompt or a simulated model answered, on
# five data sets with 30 and 10 trials. Growth is in shares of what all edits
# of the first round add.
_GROWTH = (0.36, 0.58, 0.82)  # of candidates, on average
_GROWTH_OF_FEW = (0.27, 0.42, 0.8)  # the same with 10 trials
_GROWTH_UNSHORTENED = (0.3, 0.55, 0.95)  # the same with less, of which none is for shorter prompts
_MANY_TRIALS, _FEW_TRIALS = 20, 10
_GROWTH_OF_FRONT = (0.0, 0.3, 1.0)
_FRONT = (0, 3, 8)  # prompts beside the seed prompt; the fewer samples, the more tie
_TOKENS_OF_A_DRAFT = (700, 1500, 3000)
_JSON = 8  # tokens that structured output puts around a label, at most


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run.

    Attributes
    ----------
    what : str
    calls : int
        Requests; those whose answers are in the cache among them.
    cached : int
        How many of them need not be sent, as far as their prompts are known already.
    tokens : int
        About how many tokens are read and written.
    times : str
        Why the phase may come several times, or not at all; empty if it comes once.
    least, most : Need
        What it may take, if the tokens of a text are as expected.
    """

    what: str
    calls: int
    cached: int
    tokens: int
    times: str = ""
    least: Need = field(default_factory=Need)
    most: Need = field(default_factory=Need)
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a command would take.

    Attributes
    ----------
    phases : tuple of Phase
    price : Price or None
        Of the model that is asked most.
    spread : (float, float)
        By what share all tokens together may be fewer or more than expected: scripts and vocabularies differ.
    trials : int
        How many trials the phases are for; 0 for commands that don't search.
    """

    phases: tuple[Phase, ...]
    price: Price | None
    spread: tuple[float, float] = (0.0, 0.0)
    trials: int = 0

    @property
    def calls(self) -> int:
        """Requests in all, about."""
        return sum(phase.calls for phase in self.phases)

    @property
    def tokens(self) -> int:
        """Tokens in all, about."""
        return sum(phase.tokens for phase in self.phases)

    @property
    def cost(self) -> float | None:
        """US dollars, about; None without a price."""
        return sum(phase.cost for phase in self.phases) if self.price else None

    @property
    def calls_range(self) -> tuple[int, int]:
        """Requests that must be sent, least and most."""
        sent = [max(0, phase.calls - phase.cached) for phase in self.phases]
        low, high = self._range([float(n) for n in sent], lambda need: float(need.calls), (0.0, 0.0))
        return round(low), round(high)

    @property
    def tokens_range(self) -> tuple[int, int]:
        """Tokens, few and many."""
        low, high = self._range(
            [float(one.tokens) for one in self.phases], lambda need: float(need.tokens), self.spread
        )
        return round(low), round(high)

    @property
    def cost_range(self) -> tuple[float, float] | None:
        """US dollars, few and many; None without a price."""
        if self.price is None:
            return None
        return self._range([one.cost for one in self.phases], lambda need: need.cost, self.spread)

    def _range(
        self, expected: Sequence[float], amount: Callable[[Need], float], spread: tuple[float, float]
    ) -> tuple[float, float]:
        """What may be too much or too little in each phase is independent: squares add up."""
        total = sum(expected)
        below = [middle - amount(phase.least) for middle, phase in zip(expected, self.phases, strict=True)]
        above = [amount(phase.most) - middle for middle, phase in zip(expected, self.phases, strict=True)]
        low = total - math.hypot(total * spread[0], *below)
        return max(low, sum(amount(phase.least) for phase in self.phases) * (1 - spread[0])), total + math.hypot(
            total * spread[1], *above
        )

    def trials_within(self, lm: LMConfig) -> tuple[int, int] | None:
        """After how many trials a limit is reached, few and many; None if none is before the end."""
        limits = (
            (lm.max_calls, self.calls_range),
            (lm.max_tokens_total, self.tokens_range),
            (lm.max_cost, self.cost_range or (0.0, 0.0)),
        )
        found = [
            self._trials_for(limit / high if high else math.inf, limit / low if low else math.inf)
            for limit, (low, high) in limits
            if limit is not None and limit < high
        ]
        return min(found) if found and self.trials else None

    def _trials_for(self, share_low: float, share_high: float) -> tuple[int, int]:
        """By the share of all that a limit pays, what is not searching comes first."""
        searching = sum(phase.tokens for phase in self.phases if phase.what in _SEARCHING) / max(1, self.tokens)
        low, high = (
            1 + int(max(0.0, min(1.0, (share - 1 + searching) / searching)) * (self.trials - 1)) if searching else 1
            for share in (share_low, share_high)
        )
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "phases": [asdict(phase) for phase in self.phases],
            "calls": self.calls,
            "calls_range": self.calls_range,
            "tokens": self.tokens,
            "tokens_range": self.tokens_range,
            "cost_usd": self.cost,
            "cost_usd_range": self.cost_range,
        }


_CANDIDATES, _DIAGNOSES = "candidates on val", "diagnoses on train"
_SEARCHING = {_CANDIDATES, _DIAGNOSES}


@dataclass(frozen=True, slots=True)
class _Grid:
    """Requests for one prompt on some texts: how many, how many known, and the tokens of those to send."""

    calls: int
    cached: int
    tokens: TokenRange
    answer: TokenRange

    @property
    def sent(self) -> int:
        return self.calls - self.cached

    def grown(self, by: float) -> _Grid:
        """The same for an unknown prompt that is longer by so many tokens."""
        each = self.tokens.times(1 / max(1, self.sent)) if self.sent else TokenRange()
        added = TokenRange(by, by)
        return replace(self, cached=0, tokens=(each + added).times(self.calls))

    def need(self, price: Price | None, times: float = 1.0) -> Need:
        """What it takes, with tokens as expected."""
        read, written = _middle(self.tokens) * times, _middle(self.answer) * self.sent * times
        return Need(round(self.sent * times), round(read + written), price.of(read, written) if price else 0.0)


def estimate_run(
    task: Task, settings: RunSettings, cache_dir: str | Path | None = None, run: str | Path | None = None
) -> CostEstimate:
    """Count what a run, or what is left of the one in the folder `run`, would ask, phase by phase; nothing is sent."""
    n_done = n_evaluated(Path(run)) if run is not None else 0
    prompt = seed_prompt(task, settings.strategy, seed=settings.seed)
    models = ModelProvider(cache_dir, settings.lm)
    rephrasings = freeze_run_rephrasings(task, prompt, unwritten(settings), models, Path(run) if run else None)
    evaluator = make_evaluator(task, settings, models, rephrasings)
    price = price_of(evaluator.model.name)
    on_val, on_train, on_test = (_grid(evaluator, prompt, split) for split in ("val", "train", "test"))
    drafted = settings.proposer not in {None, "rules"}
    growth = TokenRange()
    if evaluator.model.name.partition("/")[0] in CHAT_KINDS:
        samples = evaluator.samples["train"]
        growth = tokens_of_all_edits(task, prompt, evaluator.rephrasings, samples, settings.parts, drafted=drafted)
    n_more = max(0, settings.trials - max(1, n_done))
    rounds = min(settings.rounds, n_more)
    of_candidates = _GROWTH if settings.trials >= _MANY_TRIALS else _GROWTH_OF_FEW
    if settings.trials < _FEW_TRIALS:
        of_candidates = _GROWTH_UNSHORTENED

    def phase(what: str, grid: _Grid, times: tuple[float, float, float], share: Sequence[float], why: str) -> Phase:
        middle = _middle(growth)
        ends = (growth.low, middle, growth.high)
        needs = [grid.grown(all_on * part) for all_on, part in zip((middle, middle, middle), share, strict=True)]
        # How much all edits are, and what share of them a prompt holds, err independently.
        few, many = (
            math.hypot(share[end] / share[1] - 1, ends[end] / middle - 1) if share[1] and middle else 0.0
            for end in (0, 2)
        )
        mean = needs[1].need(price, times[1])
        low = grid.grown(middle * share[1] * max(0.0, 1 - few)).need(price, times[0])
        high = grid.grown(middle * share[1] * (1 + many)).need(price, times[2])
        return Phase(what, round(grid.calls * times[1]), 0, mean.tokens, why, low, high, mean.cost)

    few, middle, many = (min(size, settings.trials - 1) for size in _FRONT)
    front = few, middle, many
    middle_rounds = (1 + rounds) / 2
    left_out = settings.leave_one_out or 0
    leaving_out = float(left_out + len(KINDS))
    phases = [
        *writing_phases(task, prompt.description, settings, price),
        _known("seed prompt on val", on_val, price) if not n_done else None,
        _known("first diagnosis on train", on_train, price) if rounds else None,
        phase(
            _DIAGNOSES,
            on_train,
            (0, middle_rounds - 1, rounds - 1),
            _GROWTH_OF_FRONT,
            "one a round, none where the best prompt stays the same",
        )
        if rounds > 1
        else None,
        phase(_CANDIDATES, on_val, (n_more,) * 3, of_candidates, "one a trial") if n_more else None,
        _known("seed prompt on test", on_test, price),
        phase(
            "front on test",
            on_test,
            front,
            _GROWTH_OF_FRONT,
            f"once for each prompt of the front: {front[1]} are counted here",
        ),
        phase("chosen prompt on train", on_train, (0, 1, 1), _GROWTH_OF_FRONT, "for the report"),
        phase("edits left out, on val", on_val, (leaving_out, leaving_out, leaving_out), _GROWTH_OF_FRONT, "at most")
        if left_out
        else None,
    ]
    return CostEstimate(tuple(one for one in phases if one is not None), price, _spread(on_val, price), settings.trials)


def n_evaluated(run: Path) -> int:
    """How many trials of a run in a folder are done; none where its study is elsewhere."""
    import optuna

    file = run / STUDY
    if not file.is_file():
        return 0
    studies = optuna.get_all_study_summaries(f"sqlite:///{file}")
    trials = [
        one
        for study in studies
        for one in optuna.load_study(study_name=study.study_name, storage=f"sqlite:///{file}").trials
    ]
    return sum(one.state == optuna.trial.TrialState.COMPLETE for one in trials)


def _known(what: str, grid: _Grid, price: Price | None) -> Phase:
    """A phase whose prompt is known."""
    need = grid.need(price)
    return Phase(what, grid.calls, grid.cached, need.tokens, "", need, need, need.cost)


def _middle(tokens: TokenRange) -> float:
    """Between few and many: half as many times more than few as less than many."""
    return math.sqrt(tokens.low * tokens.high)


def _spread(grid: _Grid, price: Price | None) -> tuple[float, float]:
    """By what share tokens may be fewer or more, over what is read and written."""
    weight_in, weight_out = (price.tokens_in, price.tokens_out) if price else (1.0, 1.0)
    read, written = grid.tokens, grid.answer.times(max(1, grid.sent))
    total = _middle(read) * weight_in + _middle(written) * weight_out
    if not grid.sent or not total:
        return 0.2, 0.25
    below = math.hypot((_middle(read) - read.low) * weight_in, (_middle(written) - written.low) * weight_out)
    above = math.hypot((read.high - _middle(read)) * weight_in, (written.high - _middle(written)) * weight_out)
    return below / total, above / total


def _grid(evaluator: Evaluator, prompt: Prompt, split: Split) -> _Grid:
    """Calls, cached ones and tokens of one prompt on a split."""
    return grid_of(evaluator.model, evaluator.rephrased(prompt, split), evaluator.texts(split))


def grid_of(model: Any, prompts: Sequence[Prompt], texts: Sequence[str]) -> _Grid:
    """Calls, cached ones and tokens of prompts on texts."""
    if asks_in_chat(model):
        queries = model.queries(prompts, texts)
        missing = model.engine.missing(queries)
        n_calls = len({str(query.messages) for query in queries})
        meter = model.engine.meter
        answer = meter.tokens_out if meter.n else _answer(prompts[0].labels)
        return _Grid(n_calls, n_calls - len(missing), meter.tokens_in(_total(missing)), answer)
    messages = {
        str(query.messages): query for query in (Query(render(prompt, text)) for prompt in prompts for text in texts)
    }
    return _Grid(len(messages), 0, _total(messages.values()), _answer(prompts[0].labels))


def _answer(labels: Sequence[str]) -> TokenRange:
    """Tokens of an answer: a bare label, or one in JSON."""
    each = [tokens_of_text(label) for label in labels]
    low, high = (sum(getattr(one, end) for one in each) / len(each) for end in ("low", "high"))
    return TokenRange(max(1.0, low), high + _JSON)


def _total(queries: Iterable[Query]) -> TokenRange:
    total = TokenRange()
    for query in queries:
        total += tokens_of_query(query)
    return total


def estimate_writing(task: Task, description: str, source: RephrasingOptions, n_texts: int) -> CostEstimate:
    """Count what `rephrase` would ask; nothing is sent."""
    price = price_of(source.rephraser or "")
    return CostEstimate(tuple(writing_phases(task, description, source, price, n_texts)), price, (0.2, 0.25))


def writing_phases(
    task: Task, description: str, settings: RunSettings | RephrasingOptions, price: Price | None, n_all: int = 0
) -> list[Phase]:
    """What models that write are asked; each text that is refused is asked for again."""
    phases = []
    length = max(1.0, _middle(tokens_of_text(description)))
    file = getattr(settings, "rephrasings_file", None) or getattr(settings, "file", None)
    if settings.rephraser not in {None, "rules"} and file is None:
        n_texts = (n_all or getattr(settings, "rephrasings", 10) + N_HELDOUT) - 1
        why = "more where texts are refused"
        own = price_of(settings.rephraser or "") or price
        phases.append(_written("rephrasings, written", n_texts, length * (N_SHOWN + 3), (0.5, 1, 2), why, own))
        if settings.judge is not None:
            judging = price_of(settings.judge) or price
            phases.append(_written("rephrasings, judged", n_texts, length * 3 + 80, (0.8, 1, 1.6), why, judging))
    proposer = getattr(settings, "proposer", None)
    if proposer not in {None, "rules"}:
        rounds = min(getattr(settings, "rounds", 1), getattr(settings, "trials", 2) - 1)
        n_drafts = rounds * N_DRAFTS * (MOST_SLICES + min(MOST_SLICES, len(task.labels)))
        few, middle, many = _TOKENS_OF_A_DRAFT
        span = (few / middle / rounds / 2 if rounds else 0.0, 1, many / middle)
        why = "fewer where fewer groups shake"
        phases.append(_written("drafts of edits", n_drafts, middle, span, why, price_of(proposer or "") or price))
    return phases


def _written(
    what: str, calls: int, tokens: float, span: tuple[float, float, float], why: str, price: Price | None
) -> Phase:
    """A phase in which a model writes; a tenth of the tokens are its own."""
    needs = [
        Need(
            round(calls * times),
            round(calls * tokens * times),
            price.of(0.9 * calls * tokens * times, 0.1 * calls * tokens * times) if price else 0.0,
        )
        for times in span
    ]
    return Phase(what, calls, 0, round(calls * tokens), why, needs[0], needs[2], needs[1].cost)


def estimate_measuring(
    task: Task, prompts: Mapping[str, Prompt], models: Sequence[Any], options: MeasureOptions
) -> CostEstimate:
    """Count what `diagnose`, `check` or `compare` would ask; nothing is sent."""
    phases, spreads, prices = [], [], []
    for name, prompt in prompts.items():
        price = price_of(models[0]) if isinstance(models[0], str) else None
        phases += writing_phases(task, prompt.description, options.words, price)
        for model, rephrased, texts in grids(task, prompt, models, options):
            grid, price = grid_of(model, rephrased, texts), price_of(model.name)
            what = " ".join([*([name] if len(prompts) > 1 else []), *([model.name] if len(models) > 1 else [])])
            phases.append(_known(what or "answers", grid, price))
            spreads.append(_spread(grid, price))
            prices.append(price)
    widest = max(spread[0] for spread in spreads), max(spread[1] for spread in spreads)
    known = None if any(price is None for price in prices) else prices[0]
    return CostEstimate(tuple(phases), known, widest)
