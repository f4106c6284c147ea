"""What other models than the answering one would take: to write rephrasings, draft edits, and judge answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.evaluation import Span
from psopt.models.chat import Need, price_of, tokens_of_text
from psopt.proposals.llm import MOST_SLICES
from psopt.rephrasings import N_SHOWN, passages_of
from psopt.runs._cost_estimate import Phase
from psopt.tasks import JUDGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models.chat import Price
    from psopt.rephrasings import RephrasingOptions
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

WRITTEN = (_REPHRASED, _PARAPHRASED, _DRAFTED) = ("rephrasings, written", "texts, paraphrased", "drafts of edits")
"""The phases in which another model than the answering one writes."""

_OFTEN_REFUSED = "more where texts are refused"
_TOKENS_OF_A_DRAFT = 1100
_ASKED_AGAIN = 1.3  # a draft that is refused is asked for once more
# Calls per answer. Each is rated in both orders; equal answers are rated once, and how many are equal is not known
# beforehand. A rating that can't be read is asked for again.
_RATINGS = Span(0.4, 2, 2.2)
_CLASSES_TRIED = 1.5  # an answer is compared with one of every class so far, usually about two classes
_SAMPLES_READ = 100  # for the length of texts; more would hardly change it
_TOKENS_OF_A_QUESTION = 170  # a judge's instructions, without the texts


def rephrasing_phases(
    prompt: Prompt | str, options: RephrasingOptions, n_texts: int, price: Price | None = None
) -> list[Phase]:
    """What writing `n_texts` rephrasings takes, not counting the original; a refused text is asked for again.

    `prompt` is what is rephrased, or a bare description; for a template, each passage is asked for by itself. `price`
    is that of the answering model, for writing models whose own price is not known.
    """
    if not options.is_written:
        return []
    passages = passages_of(prompt)
    length = max(1.0, _mean_tokens(passages))
    calls = _about(n_texts * len(passages))
    phases = [_written(_REPHRASED, calls, length * (N_SHOWN + 3), options.rephraser, price, _OFTEN_REFUSED)]
    if options.judge is not None:
        judged = "rephrasings, judged"
        phases.append(_written(judged, calls, length * 3 + 80, options.judge, price, _OFTEN_REFUSED))
    return phases


def text_phases(texts: Sequence[str], n_times: int, options: RephrasingOptions, price: Price | None) -> list[Phase]:
    """What writing `n_times` paraphrases of each text takes; what is read besides a text is as long as the text."""
    if n_times < 1:
        return []
    tokens = 3 * _mean_tokens(texts) + 60
    return [_written(_PARAPHRASED, _about(n_times * len(texts)), tokens, options.rephraser, price)]


def drafting_phases(task: Task, proposer: str | None, rounds: int, price: Price | None) -> list[Phase]:
    """What drafting edits takes in this many rounds, of which at least the first drafts some."""
    if proposer is None:
        return []
    a_round = _about(_ASKED_AGAIN * (1 + MOST_SLICES + min(MOST_SLICES, len(task.labels))))
    calls = Span(a_round.least / 2, rounds * a_round.expected, rounds * a_round.most)
    return [_written(_DRAFTED, calls, _TOKENS_OF_A_DRAFT, proposer, price, "fewer where fewer groups are weak")]


def judging_phases(task: Task, answering: Sequence[Phase], n_wordings: int, price: Price | None) -> list[Phase]:
    """What judges take for the free answers that these phases ask for under `n_wordings` wordings; empty for others."""
    spec = task.spec
    if not spec.is_assessed:
        return []
    n_answers = [sum(getattr(phase, end).calls for phase in answering) for end in Span._fields]
    samples = (task.val or task.train)[:_SAMPLES_READ]
    tokens = _mean_tokens([sample.text for sample in samples]) + _TOKENS_OF_A_QUESTION
    tokens += 2 * _mean_tokens([str(sample.label) for sample in samples])
    phases = []
    if spec.equivalence.kind == JUDGE and n_wordings > 1:
        # in both orders; if no answer is like another, each is compared with all before it
        expected = 2 * _CLASSES_TRIED * (n_wordings - 1) / n_wordings
        calls = Span(*_times(n_answers, (expected / 5, expected, max(expected, n_wordings - 1))))
        judge, why = spec.equivalence.name, "more where they differ"
        phases.append(_written("answers, compared", calls, tokens, judge, price, why))
    if spec.rating.kind == JUDGE:
        judge, why = spec.rating.name, "fewer where they are equal"
        phases.append(_written("answers, rated", Span(*_times(n_answers, _RATINGS)), tokens, judge, price, why))
    return phases


def _times(numbers: Sequence[float], factors: Sequence[float]) -> list[float]:
    return [number * factor for number, factor in zip(numbers, factors, strict=True)]


def _mean_tokens(texts: Sequence[str]) -> float:
    return sum(tokens_of_text(text).middle for text in texts) / max(1, len(texts))


def _about(n: float) -> Span:
    """A number of texts whose writing may take half or twice as many calls."""
    return Span(n / 2, n, 2 * n)


def _written(
    phase_name: str, calls: Span, tokens: float, model: str | None, price: Price | None, why: str = ""
) -> Phase:
    """A phase in which a model writes, at this price unless its own is known; a tenth of the tokens are its own."""
    price = price_of(model or "") or price
    cost = price.of(0.9 * tokens, 0.1 * tokens) if price else 0.0
    least, expected, most = (Need(round(n), round(n * tokens), n * cost) for n in calls)
    return Phase(phase_name, least, expected, most, why)
