"""Which prompt a run recommends: what the gate says of the nominees, from their answers on test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.runs import NOTHING_COMPARED, CallPrice, Recommendation, n_looks, samples_needed
from psopt.search import MeasuredGain, gate, tokens_around, untested

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.evaluation import Evaluator
    from psopt.runs import RunRecorder
    from psopt.search import Candidate, Verdict
    from psopt.tasks import Sample


def recommend(
    recorder: RunRecorder,
    evaluator: Evaluator,
    baseline: Candidate,
    nominated: Sequence[Candidate],
    *,
    has_compared: bool = True,
) -> Recommendation:
    """Put the nominees that are scored on test through the gate; all that it looks at is at hand.

    `has_compared` tells whether any prompt beside the baseline was scored on all of val.
    """
    settings = recorder.settings
    tested = {candidate.id: candidate for candidate in nominated if candidate.test is not None}
    if nominated and not tested:
        why = "the limit did not pay for a test of what was found"
        verdict = untested(settings.gate, settings.gate_margin, why)
    elif not has_compared:
        verdict = untested(settings.gate, settings.gate_margin, NOTHING_COMPARED)
    else:
        n_val = len(evaluator.samples["val"])
        verdict = gate(
            evaluator.predictions(baseline.prompt, "test"),
            {name: evaluator.predictions(candidate.prompt, "test") for name, candidate in tested.items()},
            mode=settings.gate,
            margin=settings.gate_margin,
            pinned=pinned_in_test(evaluator.samples["test"], settings.pinned),
            on_val={
                name: MeasuredGain.between(baseline.val, candidate.val, n_val) for name, candidate in tested.items()
            },
        )
    prompt = tested[verdict.id] if verdict.id else baseline
    needed = _samples_needed(evaluator, baseline, tested.values(), verdict) if verdict.verdict == "keep" else None
    around = tokens_around(evaluator)
    calls = [CallPrice.of(candidate.prompt, settings.model, around) for candidate in (baseline, prompt)]
    return Recommendation(prompt, verdict, needed, n_looks(recorder.before, verdict), *calls)


def pinned_in_test(samples: Iterable[Sample], pinned: Iterable[str]) -> set[str]:
    """The ids of the samples that must stay right: those that are named, and those that the data pin."""
    return {*pinned, *(sample.id for sample in samples if sample.pinned)}


def _samples_needed(
    evaluator: Evaluator, baseline: Candidate, tested: Iterable[Candidate], verdict: Verdict
) -> int | None:
    """What it would take to be sure of the first nominee, where the gate was to be."""
    if verdict.mode != "sure" or not verdict.tests:
        return None
    first = next(iter(tested))
    before, after = (evaluator.predictions(candidate.prompt, "test") for candidate in (baseline, first))
    return samples_needed(before, after, verdict.tests[0], verdict.margin)
