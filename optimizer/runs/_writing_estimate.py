"""What other models than the answering one would take: to write rephrasings, draft edits, and judge answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

_TOKENS_OF_A_DRAFT = (500, 1100, 2200)
_ASKED_AGAIN = 1.3  # a draft that is refused is asked for once more
# Per answer, in both orders. Equal answers are rated once, and a rating that can't be read is asked for again; how many
# are equal is not known beforehand.
_RATINGS = 2
_RATED = (0.2, 1, 1.1)
# Per pair of answers, in both orders; each is compared with one of every class so far, usually about two classes.
_COMPARISONS = 2
_CLASSES_TRIED = 1.5
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
    n_texts *= len(passages)
    why = "more where texts are refused"
    phases = [_written(_REPHRASED, n_texts, length * (N_SHOWN + 3), (0.5, 1, 2), options.rephraser, price, why)]
    if options.judge is not None:
        judged = "rephrasings, judged"
        phases.append(_written(judged, n_texts, length * 3 + 80, (0.8, 1, 1.6), options.judge, price, why))
    return phases


def text_phases(texts: Sequence[str], n_times: int, options: RephrasingOptions, price: Price | None) -> list[Phase]:
    """What writing `n_times` paraphrases of each text takes; what is read besides a text is as long as the text."""
    if n_times < 1:
        return []
    tokens = 3 * _mean_tokens(texts) + 60
    return [_written(_PARAPHRASED, n_times * len(texts), tokens, (0.8, 1, 1.5), options.rephraser, price)]


def drafting_phases(task: Task, proposer: str | None, rounds: int, price: Price | None) -> list[Phase]:
    """What drafting edits takes in this many rounds."""
    if proposer is None:
        return []
    n_drafts = round(_ASKED_AGAIN * rounds * (1 + MOST_SLICES + min(MOST_SLICES, len(task.labels))))
    few, middle, many = _TOKENS_OF_A_DRAFT
    span = (few / middle / max(1, rounds) / 2, 1, many / middle)
    return [_written(_DRAFTED, n_drafts, middle, span, proposer, price, "fewer where fewer groups are weak")]


def judging_phases(task: Task, answering: Sequence[Phase], n_wordings: int, price: Price | None) -> list[Phase]:
    """What judges take for the free answers that these phases ask for under `n_wordings` wordings; empty for others."""
    spec = task.spec
    if not spec.is_assessed:
        return []
    n_answers = sum(phase.expected.calls for phase in answering)
    least = sum(phase.least.calls for phase in answering) / max(1, n_answers)
    most = sum(phase.most.calls for phase in answering) / max(1, n_answers)
    samples = (task.val or task.train)[:_SAMPLES_READ]
    answer = _mean_tokens([str(sample.label) for sample in samples])
    tokens = _mean_tokens([sample.text for sample in samples]) + 2 * answer + _TOKENS_OF_A_QUESTION
    phases = []
    if spec.equivalence.kind == JUDGE and n_wordings > 1:
        pairs = _CLASSES_TRIED * (n_wordings - 1) / n_wordings  # per answer
        span = (_RATED[0] * least, 1, max(1.0, most * n_wordings / 2 / _CLASSES_TRIED))
        calls = round(_COMPARISONS * pairs * n_answers)
        judge, why = spec.equivalence.name, "more where they differ"
        phases.append(_written("answers, compared", calls, tokens, span, judge, price, why))
    if spec.rating.kind == JUDGE:
        span = (_RATED[0] * least, _RATED[1], max(_RATED[1], _RATED[2] * most))
        judge, why = spec.rating.name, "fewer where they are equal"
        phases.append(_written("answers, rated", _RATINGS * n_answers, tokens, span, judge, price, why))
    return phases


def _mean_tokens(texts: Sequence[str]) -> float:
    return sum(tokens_of_text(text).middle for text in texts) / max(1, len(texts))


def _written(
    phase_name: str,
    calls: int,
    tokens: float,
    span: tuple[float, float, float],
    model: str | None,
    price: Price | None,
    why: str = "",
) -> Phase:
    """A phase in which a model writes, at this price unless its own is known; a tenth of the tokens are its own."""
    price = price_of(model or "") or price

    def need(times: float) -> Need:
        total = calls * tokens * times
        cost = price.of(0.9 * total, 0.1 * total) if price else 0.0
        return Need(round(calls * times), round(total), cost)

    least, expected, most = map(need, span)
    return Phase(phase_name, least, expected, most, why)
