"""The part of a budget that is held back so that a search can finish, and which limits can't pay for that."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.models import capabilities_of, keeps_answers
from psopt.models.chat import Need, TokenRange, asks_in_chat, most_tokens_in, tokens_of_query
from psopt.search._final_test import scoring_order
from psopt.search._front import knee
from psopt.search_spaces import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Evaluator, Split
    from psopt.search._search import Search
    from psopt.search_spaces import Prompt

_FAILURES_TO_COME = 1.5  # a margin: times the share of attempts that have failed so far; each failure counts as a call
# Test samples for a candidate that is better on val. With the 20 of the smallest runs, the gate kept most original
# prompts that were truly worse by 13 points of F1 and more (docs/decisions.md, "Limits leave room for the end").
ENOUGH_TESTED = 40


@dataclass(frozen=True, slots=True)
class PromptNeed:
    """What a model still has to be asked for a prompt on a split."""

    calls: int  # answers that are not in the cache
    expected: TokenRange  # tokens of their messages, estimated from their script alone
    most: Need  # the upper bound of the largest of them

    @classmethod
    def of(cls, evaluator: Evaluator, prompt: Prompt, split: Split, *, ignoring_cache: bool = False) -> PromptNeed:
        """Count it for the whole grid, without label priors, which depend on what was measured before.

        Only chat models take tokens. `ignoring_cache` counts it for another prompt of the same length.
        """
        model = evaluator.model
        if not asks_in_chat(model):
            unasked = ~evaluator.partial_answers(prompt, split).is_answered
            n_new = unasked.size if ignoring_cache else evaluator.n_unkept(prompt, split, unasked)
            return cls(n_new, TokenRange(), Need())
        queries = model.queries(evaluator.rephrased(prompt, split), evaluator.texts(split))
        if not ignoring_cache:
            queries = model.engine.missing(queries)
        most = model.engine.most(max(queries, key=most_tokens_in)) if queries else Need()
        return cls(len(queries), sum(map(tokens_of_query, queries), TokenRange()), most)

    def asking(self, n_calls: int) -> PromptNeed:
        """What another number of calls takes, each as large as these are on average."""
        return replace(self, calls=n_calls, expected=self.expected.times(n_calls / max(1, self.calls)))


class Reserve:
    """Holds back what scoring on test will take, from the limits of the process that does the scoring.

    It is renewed before each evaluation: the candidate about to be evaluated may be the one that is recommended. With
    several models, each has a reserve of its own, and their sum is held back.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        n_left_out: int = 0,
        n_other_wordings: int = 0,
        n_probes: int = 0,
        most_tested: int = 0,
    ) -> None:
        self._evaluator = evaluator
        n_tested = min(most_tested, ENOUGH_TESTED)
        self._models = [_ModelReserve(own, n_left_out, n_other_wordings, n_probes, n_tested) for own in evaluator.each]

    @property
    def is_needed(self) -> bool:
        """Whether there is a limit, and the model that answers test costs money or time."""
        able = [capabilities_of(evaluator.model) for evaluator in self._evaluator.each]
        return self._evaluator.budget.is_limited and any(can.asks_in_chat or can.costs_time for can in able)

    def watch(self, search: Search) -> None:
        """From now on hold back what this search needs; nothing while test itself is evaluated, which it is for."""

        def renew(prompt: Prompt, split: Split) -> None:
            if split != "test":
                held = [model.held(search, prompt, split) for model in self._models]
                self._evaluator.budget.held_back = sum(held, Need())

        if self.is_needed:
            self._evaluator.budget.in_whole = True
            self._evaluator.announce(renew)

    def end(self) -> None:
        """Release what was held back, since the work that it was for begins now."""
        self._evaluator.announce(None)
        self._evaluator.budget.held_back = Need()

    def further_test_samples(self, prompts: Sequence[Prompt], n_besides: int) -> int:
        """How many more test samples the limits pay for these prompts, besides `n_besides` answers of other kinds."""
        needs = [model.on_test(prompts, n_besides) for model in self._models]
        planned, each = (sum(of_models, Need()) for of_models in zip(*needs, strict=True))
        return self._evaluator.budget.times(each, planned)

    def least(self, prompt: Prompt, splits: Sequence[Split]) -> Need:
        """What the limits must allow to evaluate a prompt on these splits and nothing else."""
        return sum([model.least(prompt, splits) for model in self._models], Need())


@dataclass
class _ModelReserve:
    """What one model still has to be asked at the end."""

    _evaluator: Evaluator
    _n_left_out: int  # single edits of the knee that are left out at the end, in addition to each kind of edit
    # Under how many wordings of another source the original and the recommended prompt are tested, and how many of the
    # user's own texts they answer
    _n_other_wordings: int
    _n_probes: int
    _n_tested: int  # how many test samples are held back for a better candidate; fewer if fewer are planned
    _needs: dict[tuple[str, Split, bool], PromptNeed] = field(default_factory=dict)

    def least(self, prompt: Prompt, splits: Sequence[Split]) -> Need:
        needs = [self._of(prompt, split) for split in splits]
        return sum(map(self._priced, needs), Need()) + self._last([need for need in needs if need.calls])

    def held(self, search: Search, prompt: Prompt, split: Split) -> Need:
        """What the search must keep: to score the baseline and a nominee on test, and for what the user asked besides.

        Until the front is completed, it must also be able to complete one prompt's grid on val: otherwise it could only
        recommend the baseline.
        """
        baseline = search.problem.baseline_prompt
        leader = best = None
        if search.candidates:
            start, leaders = search.state.baseline, search.state.leaders
            order = scoring_order(start, leaders)
            leader = next((candidate.prompt for candidate in order if candidate.id != start.id), None)
            best = knee(leaders, start).prompt
        n_more = self._answers_of_a_larger_test(search) if leader else 0
        nominees = [self._of(leader, "test", besides=baseline, n_more=n_more)] if leader else []
        if split == "val" and prompt.id != baseline.id:
            nominees.append(self._of(prompt, "test", besides=baseline, n_more=n_more))
        # A calibrated prompt takes more answers; local models count no tokens, so only the calls show that.
        nominees.sort(key=lambda need: (need.expected.high, need.calls), reverse=True)
        both = [self._of(baseline, "test", n_more=n_more), *nominees[:1]]
        must = both + [self._under_other_wordings(need) for need in both]
        must += [need.asking(self._n_probes * self._test_shape[1]) for need in both]
        if leader and not search.is_completing:  # as estimated from its test
            left = int((~self._evaluator.partial_answers(leader, "val").is_answered).sum())
            must.append(self._of(leader, "test").asking(left + self._evaluator.prior_calls(leader, "val")))
        held = sum(map(self._priced, must), Need())
        if best is not None and self._n_left_out:  # users who ask for it want it as much as the test
            needs = [self._priced(self._of(of, "val", ignoring_cache=True)) for of in (best, prompt)]
            held += sum([max(needs, key=lambda need: need.tokens)] * (self._n_left_out + len(KINDS)), Need())
        return held + self._last(must)

    def _answers_of_a_larger_test(self, search: Search) -> int:
        """How many answers of one prompt the test of a better candidate should have in addition to the planned ones.

        None where the original prompt is near-constant: F1 alone is compared, which takes few. And none if only they
        stand in the way of the first whole grid on val, without which there is no candidate to test.
        """
        baseline, *others = search.candidates
        if baseline.val.is_one_answer or (search.is_completing and not others):
            return 0
        n_samples, n_wordings = self._test_shape
        return max(0, self._n_tested - n_samples) * n_wordings

    def _under_other_wordings(self, need: PromptNeed) -> PromptNeed:
        """What a prompt takes under other wordings, judging by its test; if it is calibrated, with a prior for each."""
        n_samples, n_own = self._test_shape
        return need.asking(self._n_other_wordings * max(n_samples, math.ceil(need.calls / n_own)))

    def on_test(self, prompts: Sequence[Prompt], n_besides: int) -> tuple[Need, Need]:
        """What prompts take on test, with `n_besides` answers of other kinds, and what each further sample takes."""
        baseline, *others = prompts
        own = self._of(baseline, "test")
        planned = [own, *(self._of(prompt, "test", besides=baseline) for prompt in others), own.asking(n_besides)]
        unanswered = [baseline, *(prompt for prompt in others if not self._has_answers_of(prompt, baseline))]
        each = [self._of(prompt, "test").asking(self._test_shape[1]) for prompt in unanswered]
        return sum(map(self._priced, planned), Need()), sum(map(self._priced, each), Need())

    @property
    def _test_shape(self) -> tuple[int, int]:
        return len(self._evaluator.samples["test"]), len(self._evaluator.rephrasings.on("test")[0])

    def _of(
        self,
        prompt: Prompt,
        split: Split,
        *,
        besides: Prompt | None = None,
        ignoring_cache: bool = False,
        n_more: int = 0,
    ) -> PromptNeed:
        """What a prompt takes on a split, with its label priors; these alone if one it is `besides` asks the same.

        `n_more` answers to further samples of the split come in addition.

        Its grid is counted only once, because test is not asked before the end; what priors take falls as they are
        measured, and with the label map that all prompts share.
        """
        key = (prompt.id, split, ignoring_cache)
        if key not in self._needs:
            self._needs[key] = PromptNeed.of(self._evaluator, prompt, split, ignoring_cache=ignoring_cache)
        grid = self._needs[key]
        n_calls = self._evaluator.prior_calls(prompt, split)
        if besides is None or not self._has_answers_of(prompt, besides):
            n_calls += grid.calls + n_more
        return grid.asking(n_calls)

    def _has_answers_of(self, prompt: Prompt, other: Prompt) -> bool:
        """Whether a prompt's answers are there once the other's are: it may only calibrate them, if they are kept."""
        are_kept = asks_in_chat(self._evaluator.model) or keeps_answers(self._evaluator.model)
        return are_kept and replace(prompt, calibration=None).id == replace(other, calibration=None).id

    def _priced(self, need: PromptNeed) -> Need:
        """What that comes to, judging by what the server has counted so far, including failures."""
        if not asks_in_chat(self._evaluator.model):
            return Need(need.calls)
        usage = self._evaluator.budget.usage
        most = self._evaluator.model.engine.meter.most_of(need.calls, need.expected)
        failing = _FAILURES_TO_COME * usage.failed / max(1, usage.made + usage.failed)
        return replace(most, calls=round(most.calls * (1 + failing)))

    @staticmethod
    def _last(needs: Sequence[PromptNeed]) -> Need:
        """The last request reserves the most that it may take, not what it is expected to take."""
        most = [Need(), *(need.most for need in needs)]
        return Need(0, max(of.tokens for of in most), max(of.cost for of in most))


def check_limits(evaluator: Evaluator, prompt: Prompt, *, has_val: bool = False, effort: str = "") -> None:
    """Refuse limits that are too low to score even the original prompt on val and test; cached answers cost nothing.

    Raises InputError, naming the limit and the smallest value that works: tokens are estimated at their maximum.
    `has_val` says whether val was answered in an earlier part of the run; `effort` names the effort whose number of
    calls is the limit, if the user has set none.
    """
    reserve = Reserve(evaluator)
    if not reserve.is_needed:
        return
    budget = evaluator.budget
    splits: tuple[Split, ...] = ("val", "test")
    purpose = "the original prompt on val and the final test"
    if has_val:
        splits, purpose = ("test",), "the original prompt's final test"
    least = budget.spent + reserve.least(prompt, splits)
    of_it = f", of which {budget.spent.calls:,} calls are made" if budget.spent.calls else ""
    limits = [
        ("--max-calls", budget.max_calls, least.calls, f"{least.calls}"),
        ("--max-tokens-total", budget.max_tokens, least.tokens, f"{rounded_up(least.tokens):.0f}"),
        ("--max-cost", budget.max_cost, least.cost, f"{rounded_up(least.cost):g} USD"),
    ]
    for flag, most, needed, shown in limits:
        if most is None or needed <= most:
            continue
        if flag == "--max-calls" and effort:
            raise InputError(
                f"effort {effort}, {most:,} calls, can't pay {purpose}, at least {shown}{of_it}: "
                f"give --max-calls {shown} or more, or a larger --effort"
            )
        raise InputError(f"{flag} {most:.15g} can't pay {purpose}: at least {shown}{of_it}")


def rounded_up(amount: float) -> float:
    """Round up to two significant digits.

    >>> rounded_up(0.30123), rounded_up(90), rounded_up(12345)
    (0.31, 90.0, 13000.0)
    """
    if amount <= 0:
        return 0.0
    digits = 1 - math.floor(math.log10(amount))
    return round(math.ceil(round(amount * 10.0**digits, 6)) / 10.0**digits, max(0, digits))
