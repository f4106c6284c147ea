"""Which prompt is recommended: a nominee that has passed, otherwise the baseline."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.errors import InputError, nearest
from psopt.evaluation import holm, why_worthless
from psopt.search.gating._nominee_test import ALPHA, BOTH, F1_ALONE, NomineeTest, compare_nominee, with_every_model
from psopt.settings import GATE_MARGIN, GateMode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from psopt.evaluation import Predictions
    from psopt.search.gating._nominee_test import MeasuredGain
    from psopt.tasks import Sample


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's verdict."""

    # ``better``: a nominee has passed; ``keep``: none has, so the baseline stays; ``untested``: nobody asked for a test
    # (``--gate off``)
    verdict: Literal["better", "keep", "untested"]
    id: str | None  # the prompt's; None stands for the baseline
    mode: GateMode
    tests: tuple[NomineeTest, ...] = ()  # one per nominee, in their order
    margin: float = GATE_MARGIN
    alpha: float = ALPHA
    reason: str = ""  # why nothing was tested, or only F1; empty if nominees were tested in F1 and in S
    n_samples: int = 0  # that it was tested on
    n_wordings: int = 0

    def __repr__(self) -> str:
        extent = self.reason
        if self.tests:
            extent = f"of {self.n_samples} samples x {self.n_wordings} wordings"
        prompt = self.id or "the baseline"
        return f"<Verdict {self.verdict} {prompt}: gate {self.mode}, {len(self.tests)} tests, {extent}>"

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "tests": [test.to_dict() for test in self.tests]}


def gate(
    baseline: Predictions,
    nominees: Mapping[str, Predictions],
    *,
    mode: GateMode = "sure",
    margin: float = GATE_MARGIN,
    pinned: Collection[str] = (),
    on_val: Mapping[str, Mapping[str, MeasuredGain]] | None = None,
) -> Verdict:
    """Decide from answers on test, under held-out wordings, which of several prompts is recommended.

    A nominee passes ``sure`` if one-sided tests show that it is not worse than the baseline by the margin in F1, nor by
    .01 in S, and that it is better in one of them (`NomineeTest.p_value`). If several pass, the first in their order is
    recommended. Holm's levels keep the chance of recommending a prompt that is truly worse by more than that at 5 % at
    most, whatever the order and the number of nominees. A second nominee costs power with few samples and pays off with
    many: in simulations (`make promise`, small effects, Q = 10, 1,000 runs each) the knee alone kept 20, 44, 71 and
    92 % of the true gain with 50, 100, 200 and 500 samples of val and of test, with the shortest 17, 43, 71 and 94 %.

    A nominee also fails if a class is surely worse, by a one-sided test at Holm's level over the classes with five test
    samples or more, or if macro-F1 is lower by the margin: F1 over all samples can rise although no sample of a rare
    class is found any more.

    If the baseline answers one label to nearly everything (`psopt.evaluation.AnswerShares`), or has no higher F1 than a
    constant answer, its S and C mean nothing. A nominee then passes ``sure`` if its F1 is better: one test at 5 %. Of
    the models' mean, S and C are those of the other models.

    A nominee passes ``likely`` if its F1 is no lower and F1 - S + C is higher, by an estimate from test and, if given,
    from val (`on_val`, as of `MeasuredGain.of_each`), whose samples count half. That is not a test.

    With several models, a nominee must be no worse with each, and better with one. For the models' mean there is one
    test, of the mean difference (`psopt.evaluation.mean_of`).

    `nominees` are in order of preference, chosen without using these samples; ``off`` recommends the first untested.
    The `pinned` samples are those that a nominee must answer correctly wherever the baseline does.
    """
    of_val = on_val or {}
    reason = _f1_alone(baseline, mode)

    def compare(name: str, ours: Predictions, theirs: Predictions) -> NomineeTest:
        if ours.others and ours.over != "mean":
            pairs = zip(ours.each, theirs.each, strict=True)
            return with_every_model({of_ours.model: compare(name, of_ours, of_theirs) for of_ours, of_theirs in pairs})
        decisive, by_estimate = _decisive(ours, mode), mode == "likely"
        gain = (of_val.get(name) or {}).get("" if ours.others else ours.model)
        test = compare_nominee(name, ours, theirs, margin, pinned, gain, decisive, by_estimate=by_estimate)
        steady = [pair for pair in zip(ours.each, theirs.each, strict=True) if not why_worthless(pair[0])]
        if not 0 < len(steady) < len(ours.each):
            return test
        before, after = map(_together, zip(*steady, strict=True))
        return test.with_steadiness_of(compare_nominee(name, before, after, margin))

    tests = [compare(name, baseline, answers) for name, answers in nominees.items()]
    if mode == "sure":  # one that is barred does not pass, but still counts in Holm's levels
        judged = _at_levels(tests, [test.p_value for test in tests])
    else:
        judged = tuple(replace(test, passed=test.is_likely) for test in tests)
    verdict = Verdict("keep", None, mode, judged, margin, ALPHA, reason, len(baseline.samples), baseline.n_rephrasings)
    if not judged:
        return replace(verdict, reason="nothing on val was better without losing a point of F1 or S")
    if mode == "off":
        return replace(verdict, verdict="untested", id=judged[0].id)
    first = next((test for test in judged if test.passed), None)
    return replace(verdict, verdict="better", id=first.id) if first else verdict


def stand_ins(before: Predictions, after: Mapping[str, Predictions], margin: float) -> tuple[NomineeTest, ...]:
    """Test which prompts, on their own model, can stand in for another prompt on another model.

    Unlike in the `gate`, a prompt need not be better in anything. Holm's levels hold even if the prompt to use is
    chosen by these samples. All answers are to the same samples under the same wordings.
    """
    decisive = _decisive(before, "sure")
    tests = [compare_nominee(name, before, answers, margin, decisive=decisive) for name, answers in after.items()]
    return _at_levels(tests, [test.p_not_worse for test in tests])


def untested(mode: GateMode, margin: float, reason: str) -> Verdict:
    """Return the verdict if no nominee has answers on test: the baseline stays."""
    return Verdict("keep", None, mode, (), margin, reason=reason)


def check_pinned(pinned: Collection[str], samples: Collection[Sample], which: str = "test samples") -> None:
    """Refuse a pinned sample that is not among these; the gate uses those of test alone."""
    ids = {sample.id for sample in samples}
    for name in pinned:
        if name not in ids:
            hint = nearest(name, ids) or f": their ids are such as {', '.join(sorted(ids)[:3])}"
            raise InputError(f"the pinned sample {name!r} is none of the {len(ids)} {which}{hint}")


def _decisive(baseline: Predictions, mode: GateMode) -> tuple[str, ...]:
    are_worthless = mode != "off" and all(why_worthless(answers) for answers in baseline.each)
    return F1_ALONE if are_worthless else BOTH


def _together(of_models: Sequence[Predictions]) -> Predictions:
    """The answers of several models as one value, again."""
    return replace(of_models[0], others=tuple(of_models[1:]))


def _f1_alone(baseline: Predictions, mode: GateMode) -> str:
    """Why F1 alone decides; empty if S does too."""
    if mode == "off":
        return ""
    only = "only F1 was tested" if mode == "sure" else "only F1 counted"
    for answers in baseline.each:
        if phrase := why_worthless(answers):
            if answers.model:
                phrase, only = f"{phrase} with {answers.model}", f"there {only}"
            return f"The original prompt {phrase}, so its S and C say nothing: {only}"
    return ""


def _at_levels(tests: Sequence[NomineeTest], p_values: Sequence[float]) -> tuple[NomineeTest, ...]:
    """The tests, each passed or not at Holm's level."""
    judged = holm([1.0 if test.is_barred else p for test, p in zip(tests, p_values, strict=True)], ALPHA)
    outcomes = zip(tests, judged, strict=True)
    return tuple(replace(test, passed=passed, level=level) for test, (passed, level) in outcomes)
