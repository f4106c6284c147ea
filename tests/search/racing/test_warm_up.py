"""Where answers come in batches, the coming candidates are asked about together, and evaluated as if they were not."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.errors import AnswersMissingError, BudgetReachedError
from psopt.models import AnswerCache
from psopt.models.chat import Budget, LMConfig, chat_model
from psopt.models.chat.batches import BatchRunner
from psopt.search import Search, SearchOptions, SearchProblem, _warm_up, open_study, score_on_test, scoring_order
from psopt.search.racing import run_in_lockstep
from psopt.search_spaces import seed_prompt

from tests.fake_server import FakeServer
from tests.search.racing.test_racing_search import OF_ANY_SIZE, SET, make_evaluator, make_search, make_task

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.evaluation import Evaluator

N_VAL = 24
TRIALS = 7


def batched_search(folder: Path, server: FakeServer, budget: Budget, *, trials: int = TRIALS) -> Any:
    options = LMConfig(api_base=server.url, batch=True, batch_tick=0.002)
    model = chat_model("openai", "test", AnswerCache(folder / "cache"), options, budget)
    task = make_task(N_VAL)
    study = open_study(f"sqlite:///{folder / 'study.db'}", "toy", "random", 1, resume=True)
    settings = SearchOptions(trials=trials, rounds=1, sampler="random", seed=1, race="on", parts=OF_ANY_SIZE)
    evaluator = make_evaluator(task, model, SET.search[:3])
    evaluator.budget = budget
    return Search.resume(study, SearchProblem(task, seed_prompt(task), evaluator, settings))


def interrupt_at(n_batches: int, server: FakeServer, patched: pytest.MonkeyPatch) -> None:
    """Ctrl-C as soon as so many batches have been opened at a server; the last one stays open."""
    state = BatchRunner._state
    opened: set[str] = set()
    is_done = False

    async def watched(self: Any, batch: Any) -> Any:
        nonlocal is_done
        opened.add(batch.id)
        if len(opened) == n_batches and not is_done:  # it is looked at again: a second one would end the test's process
            is_done = True
            server.change(batch_ms=1e6)
            os.kill(os.getpid(), signal.SIGINT)
        return await state(self, batch)

    patched.setattr(BatchRunner, "_state", watched)


def test_candidates_share_their_batches_and_so_does_the_final_test_whatever_interrupts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    fronts: dict[str, Any] = {}
    n_batches = {}
    with FakeServer(batch_ms=1.0) as server:
        for way in ("alone", "together"):
            (tmp_path / way).mkdir()
            server.reset()
            before = len(server.batches())
            budget = Budget()
            search = batched_search(tmp_path / way, server, budget)
            with monkeypatch.context() as patched:
                if way == "alone":
                    patched.setattr(_warm_up, "asks_in_batches", lambda _: False)
                    search.run()
                else:
                    interrupt_at(5, server, patched)
                    with pytest.raises(KeyboardInterrupt):
                        search.run()
                assert budget.usage.cached == 0  # what was asked ahead is no answer of an earlier run
                if way == "together":
                    patched.undo()
                    server.change(batch_ms=1.0)
                    search = batched_search(tmp_path / way, server, Budget())
                    search.run()
                scored, _ = score_on_test(search, scoring_order(search.baseline, search.front), 1)
            fronts[way] = {candidate.id: candidate.val for candidate in search.front}
            assert len(scored) == len(search.front) + (search.baseline.id not in fronts[way])
            assert server.counts()["answered_twice"] == 0
            n_batches[way] = len(server.batches()) - before
    assert fronts["together"] == fronts["alone"]
    assert n_batches["alone"] > 1.5 * n_batches["together"]


def watch(evaluator: Evaluator) -> Any:
    """Note what is asked for: of how many prompts together, 0 where not ahead, and how many cells that are new."""
    requests: list[tuple[int, int]] = []
    ask, ask_ahead = evaluator._ask, evaluator.ask_ahead

    def watched(prompt: Any, split: Any, cells: Any) -> Any:
        ahead = evaluator._asked_ahead.get((prompt.id, split), np.zeros_like(cells))
        requests.append((0, int((cells & ~ahead).sum())))
        return ask(prompt, split, cells)

    def watched_ahead(prompts: Any, split: Any, cells: Any) -> Any:
        requests.append((len(prompts), int(sum(wanted.sum() for wanted in cells))))
        return ask_ahead(prompts, split, cells)

    evaluator._ask, evaluator.ask_ahead = watched, watched_ahead  # type: ignore[method-assign]
    return requests


def test_each_candidate_finds_its_answers_and_decides_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    small: dict[str, Any] = {"trials": 7}
    evaluator = make_evaluator(make_task(), wordings=SET.search[:3])
    requests = watch(evaluator)
    plain = make_search(alone, evaluator, **small)
    plain.run()
    assert all(n_prompts == 0 for n_prompts, _ in requests)  # where answers come call by call
    monkeypatch.setattr(_warm_up, "asks_in_batches", lambda _: True)
    evaluator = make_evaluator(make_task(), wordings=SET.search[:3])
    requests = watch(evaluator)
    warm = make_search(together, evaluator, **small)
    warm.run()
    assert warm.n_done == plain.n_done
    assert {candidate.id for candidate in warm.front} == {candidate.id for candidate in plain.front}
    alone_for = [n for n_prompts, n in requests if n_prompts == 0 and n]
    # The seed prompt on val, train as its diagnosis grows, and what rivals of a later hour make a difference to.
    assert len(alone_for) <= 6
    assert max(n_prompts for n_prompts, _ in requests) >= 3


def test_a_limit_is_not_passed_and_failures_wait_for_their_candidate() -> None:
    asked: list[int] = []

    def refuse(prompts: Any) -> None:
        asked.append(len(prompts))
        if len(prompts) > 3:
            raise BudgetReachedError("--max-calls 5 is reached")

    _warm_up._as_far_as_paid([object()] * 13, refuse)
    assert asked == [13, 6, 3]

    def fail(prompts: Any) -> None:
        asked.append(len(prompts))
        raise AnswersMissingError("a text was refused")

    _warm_up._as_far_as_paid([object()] * 13, fail)
    assert asked == [13, 6, 3, 13]


def test_races_in_lockstep_ask_once_a_rung_for_all_that_are_left() -> None:
    first = np.array([[True, False], [True, False]])
    asked: list[dict[str, int]] = []

    def run(ask: Any, siblings: Any, *, goes_on: bool) -> None:
        ask(first)
        if goes_on:
            ask(first | ~first)
        assert all(answers[first].min() >= 0 for answers in siblings.values())

    def ask_all(cells: Any) -> Any:
        asked.append({name: int(wanted.sum()) for name, wanted in cells.items()})
        return {name: np.where(wanted, 1, -1) for name, wanted in cells.items()}

    runners: Any = {name: lambda ask, others, n=name: run(ask, others, goes_on=n != "b") for name in "abc"}
    assert run_in_lockstep(runners, (2, 2), ask_all) == 2
    assert asked == [{"a": 2, "b": 2, "c": 2}, {"a": 4, "c": 4}]
