"""About what a command takes: calls, exact if its prompts are known, tokens and money.

Other models than the answering one may write rephrasings, draft edits and judge answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from psopt.models.chat import (
    Need,
    Query,
    TokenRange,
    asks_in_chat,
    price_of,
    tokens_of_answer,
    tokens_of_query,
    tokens_of_text,
)
from psopt.proposals.llm import MOST_SLICES
from psopt.rephrasings import N_SHOWN, passages_of
from psopt.search_spaces import render
from psopt.tasks import JUDGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.models.chat import AnswerRate, LMConfig, Price
    from psopt.rephrasings import RephrasingOptions
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

WRITTEN = (_REPHRASED, _PARAPHRASED, _DRAFTED) = ("rephrasings, written", "texts, paraphrased", "drafts of edits")
"""The phases in which another model than the answering one writes."""

_TOKENS_OF_A_DRAFT = 1100
_ASKED_AGAIN = 1.3  # a draft that is refused is asked for once more
# Calls per answer: each is rated in both orders, and equal answers are rated once. A rating that can't be read is asked
# for again.
_RATINGS = 2
_CLASSES_TRIED = 1.5  # an answer is compared with one of every class so far, usually about two classes
_SAMPLES_READ = 100  # for the length of texts; more would hardly change it
_TOKENS_OF_A_QUESTION = 170  # a judge's instructions, without the texts


@dataclass(frozen=True, slots=True)
class Grid:
    """Requests for prompts on some texts."""

    calls: int  # how many requests there are
    cached: int  # how many of their answers are in the cache
    tokens: float  # about how many all messages that would be sent have
    answer: float  # about how many one answer has
    # The share of the messages' tokens that the server has read before, judging by its counts so far
    cached_share: float = 0.0

    @classmethod
    def of(cls, model: Any, prompts: Sequence[Prompt], texts: Sequence[str], *, ignoring_cache: bool = False) -> Grid:
        """Count what a model would be asked; `ignoring_cache`: as if nothing had been asked yet."""
        if not asks_in_chat(model):
            distinct = _distinct(Query(render(prompt, text)) for text, prompt in product(texts, prompts))
            return cls(len(distinct), 0, _total(distinct).middle, tokens_of_answer(prompts[0]).middle)
        queries = model.queries(prompts, texts)
        distinct = _distinct(queries)
        missing = distinct if ignoring_cache else model.engine.missing(queries)
        meter = model.engine.meter
        answer = meter.tokens_out if meter.n else tokens_of_answer(prompts[0])
        n_cached = len(distinct) - len(missing)
        tokens = meter.tokens_in(_total(missing)).middle
        return cls(len(distinct), n_cached, tokens, answer.middle, meter.cached_share)

    def sized(self, calls: int) -> Grid:
        """The same for this many calls, none of them cached."""
        return replace(self, calls=calls, cached=0, tokens=self.tokens * calls / max(1, self.sent))

    @property
    def sent(self) -> int:
        return self.calls - self.cached

    def need(self, price: Price | None, times: float = 1, longer: float = 0) -> Need:
        """What is expected to be sent, so many `times`, with each prompt `longer` by some tokens."""
        read = (self.tokens + longer * self.sent) * times
        written = self.answer * self.sent * times
        cost = price.of(read, written, read * self.cached_share) if price else 0.0
        return Need(round(self.sent * times), round(read + written), cost)


def _distinct(queries: Iterable[Query]) -> list[Query]:
    return list({(str(query.messages), query.asking): query for query in queries}.values())


def _total(queries: Iterable[Query]) -> TokenRange:
    return sum(map(tokens_of_query, queries), TokenRange())


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run."""

    what: str
    expected: Need  # about what will be sent for it
    times: str = ""  # why the phase may come several times, or not at all; empty if it comes once
    cached: int = 0  # how many further answers are in the cache, as far as their prompts are known already
    model: str = ""  # which of several models is asked; empty if there is only one

    @property
    def calls(self) -> int:
        """Requests, including those whose answers are in the cache."""
        return self.expected.calls + self.cached

    def to_dict(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "calls": self.calls,
            "cached": self.cached,
            "tokens": self.expected.tokens,
            "times": self.times,
            "cost": self.expected.cost,
            "model": self.model,
        }


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast calls are expected to be answered."""

    per_minute: float
    # When that was measured; empty if only a limit on requests per minute is known, which is then the fastest pace
    day: str = ""

    @classmethod
    def of(cls, rate: AnswerRate | None, lm: LMConfig) -> Pace | None:
        """The measured pace, no faster than requests may start; None if neither is known."""
        if rate is None:
            return cls(lm.requests_per_minute) if lm.requests_per_minute else None
        return cls(min(rate.with_places(lm.concurrency), lm.requests_per_minute or math.inf), rate.day)

    @classmethod
    def of_several(cls, paces: Sequence[Pace | None], n_free: int = 0) -> Pace | None:
        """The pace of models, and `n_free` others, asked equally much in turn; None if one is not known."""
        known_paces = [pace for pace in paces if pace is not None]
        if not known_paces or len(known_paces) < len(paces):
            return None
        return cls((len(known_paces) + n_free) / sum(1 / pace.per_minute for pace in known_paces), known_paces[0].day)


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """About what a command takes; how far off that may be is measured in `make bench-estimates`."""

    phases: tuple[Phase, ...]
    price: Price | None  # of the model that is asked most
    pace: Pace | None = None  # how fast calls will be answered, if that is known
    candidates: int = 0  # how many will be evaluated, not counting the original prompt

    @classmethod
    def of_several(cls, estimates: Sequence[CostEstimate]) -> CostEstimate:
        """What several models that are asked the same take together."""
        return replace(
            estimates[0],
            phases=tuple(chain.from_iterable(estimate.phases for estimate in estimates)),
            price=estimates[0].price if all(estimate.price for estimate in estimates) else None,
            pace=Pace.of_several([estimate.pace for estimate in estimates]),
        )

    @property
    def expected(self) -> Need:
        """About what must be sent: what is in the cache need not be."""
        return sum((phase.expected for phase in self.phases), Need())

    @property
    def calls(self) -> int:
        """About how many requests, including those whose answers are in the cache."""
        return sum(phase.calls for phase in self.phases)

    @property
    def tokens(self) -> int:
        """About how many tokens, in total."""
        return self.expected.tokens

    @property
    def cost(self) -> float | None:
        """About how many US dollars; None without a price."""
        return None if self.price is None else self.expected.cost

    @property
    def minutes(self) -> float | None:
        """About how many minutes of asking; None if it is not known how fast calls are answered."""
        return None if self.pace is None else self.expected.calls / self.pace.per_minute

    def to_dict(self) -> dict[str, Any]:
        return {
            "phases": [phase.to_dict() for phase in self.phases],
            "calls": self.calls,
            "tokens": self.tokens,
            "cost_usd": self.cost,
            "minutes": self.minutes,
        }


def rephrasing_phases(
    prompt: Prompt | str, options: RephrasingOptions, n_texts: int, price: Price | None = None
) -> list[Phase]:
    """What writing `n_texts` rephrasings of a prompt, or of a bare description, takes, not counting the original.

    For a template, each passage is asked for by itself. `price` is that of the answering model, for writing models
    whose own price is not known.
    """
    if not options.is_written:
        return []
    passages = passages_of(prompt)
    length = max(1.0, _mean_tokens(passages))
    calls, why = n_texts * len(passages), "more where texts are refused"
    phases = [_written(_REPHRASED, calls, length * (N_SHOWN + 3), options.rephraser, price, why)]
    if options.judge is not None:
        phases.append(_written("rephrasings, judged", calls, length * 3 + 80, options.judge, price, why))
    return phases


def text_phases(texts: Sequence[str], n_times: int, options: RephrasingOptions, price: Price | None) -> list[Phase]:
    """What writing `n_times` paraphrases of each text takes; what is read besides a text is as long as the text."""
    if n_times < 1:
        return []
    tokens = 3 * _mean_tokens(texts) + 60
    return [_written(_PARAPHRASED, n_times * len(texts), tokens, options.rephraser, price)]


def drafting_phases(task: Task, proposer: str | None, rounds: int, price: Price | None) -> list[Phase]:
    """What drafting edits takes in this many rounds, of which at least the first drafts some."""
    if proposer is None:
        return []
    calls = rounds * _ASKED_AGAIN * (1 + MOST_SLICES + min(MOST_SLICES, len(task.labels)))
    return [_written(_DRAFTED, calls, _TOKENS_OF_A_DRAFT, proposer, price, "fewer where fewer groups are weak")]


def judging_phases(task: Task, answering: Sequence[Phase], n_wordings: int, price: Price | None) -> list[Phase]:
    """What judges take for the free answers that these phases ask for under `n_wordings` wordings; empty for others."""
    spec = task.spec
    if not spec.is_assessed:
        return []
    n_answers = sum(phase.calls for phase in answering)
    samples = (task.val or task.train)[:_SAMPLES_READ]
    tokens = _mean_tokens([sample.text for sample in samples]) + _TOKENS_OF_A_QUESTION
    tokens += 2 * _mean_tokens([str(sample.label) for sample in samples])
    phases = []
    if spec.equivalence.kind == JUDGE and n_wordings > 1:
        calls = n_answers * 2 * _CLASSES_TRIED * (n_wordings - 1) / n_wordings  # in both orders
        judge, why = spec.equivalence.name, "more where they differ"
        phases.append(_written("answers, compared", calls, tokens, judge, price, why))
    if spec.rating.kind == JUDGE:
        judge, why = spec.rating.name, "fewer where they are equal"
        phases.append(_written("answers, rated", n_answers * _RATINGS, tokens, judge, price, why))
    return phases


def _mean_tokens(texts: Sequence[str]) -> float:
    return sum(tokens_of_text(text).middle for text in texts) / max(1, len(texts))


def _written(
    phase_name: str, calls: float, tokens: float, model: str | None, price: Price | None, why: str = ""
) -> Phase:
    """A phase in which a model writes, at this price unless its own is known; a tenth of the tokens are its own."""
    price = price_of(model or "") or price
    cost = price.of(0.9 * tokens, 0.1 * tokens) if price else 0.0
    return Phase(phase_name, Need(round(calls), round(calls * tokens), calls * cost), why)
