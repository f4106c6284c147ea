"""A Python function as a model: messages in, a text out, sync or async, counted and limited as any chat model."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import psopt
import pytest
from psopt.errors import AnswersMissingError, BudgetReachedError, InputError, ModelError
from psopt.models import load_model, name_of_model
from psopt.models.chat import LMConfig
from psopt.search_spaces import Prompt
from psopt.tasks import Task

from tests.sweeps import each

PROMPTS = [Prompt(description, ("Number", "Person"), "question") for description in ("Sort it.", "Classify it.")]
TEXTS = [f"{'When' if i % 2 else 'Who'} is thing {i} ?" for i in range(24)]
EXPECTED = [[int("Who" in text)] * 2 for text in TEXTS]


def by_first_word(messages: list[dict[str, str]]) -> str:
    return "Person" if "Who" in messages[-1]["content"] else "Number"


async def later(messages: list[dict[str, str]]) -> str:
    await asyncio.sleep(0)
    return by_first_word(messages)


class Answerer:
    async def __call__(self, messages: list[dict[str, str]]) -> str:
        return await later(messages)


@pytest.fixture
def load(task: Task, tmp_path: Path) -> Any:
    return functools.partial(load_model, task=task, cache_dir=tmp_path)


@each(
    "name, function",
    [
        ("function/by_first_word", by_first_word),
        ("function/later", later),
        ("function/Answerer", Answerer()),
        ("function/by_first_word", functools.partial(by_first_word)),
        ("function/lambda", lambda messages: later(messages)),  # what it returns is awaited
    ],
)
def test_whatever_can_be_called_answers(name: str, function: Any, load: Any) -> None:
    model = load(function)
    assert model.predict(PROMPTS, TEXTS).tolist() == EXPECTED
    assert model.name == name_of_model(function) == name
    assert model.engine.budget.usage.made == len(TEXTS) * len(PROMPTS)


def test_as_many_calls_run_at_once_as_are_allowed_and_no_more(load: Any) -> None:
    together = threading.Barrier(4, timeout=20)
    now = most = 0

    def waits_for_three_others(messages: list[dict[str, str]]) -> str:
        if "Sort it." not in messages[-1]["content"]:  # 24 texts; the first of all is asked alone
            together.wait()
        return by_first_word(messages)

    async def counting(messages: list[dict[str, str]]) -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return by_first_word(messages)

    model = load(waits_for_three_others, options=LMConfig(concurrency=4))
    model.predict(PROMPTS[:1], TEXTS)
    assert model.predict(PROMPTS[1:], TEXTS).ravel().tolist() == [row[0] for row in EXPECTED]
    load(counting, options=LMConfig(concurrency=3)).predict(PROMPTS, TEXTS)
    assert 1 <= most <= 3


def test_answers_are_kept_between_runs_for_what_the_function_says_they_depend_on_and_its_source(load: Any) -> None:
    calls: list[str] = []

    def silent(messages: list[dict[str, str]]) -> str:
        calls.append("silent")
        return by_first_word(messages)

    def keyed(messages: list[dict[str, str]]) -> str:
        calls.append("keyed")
        return by_first_word(messages)

    first: Any = keyed

    def keyed(messages: list[dict[str, str]]) -> str:  # type: ignore[no-redef]
        calls.append("anew")
        return "Person"

    anew: Any = keyed
    first.cache_key = anew.cache_key = "rules of May"
    for function in (silent, silent, first, first, anew):
        load(function).predict(PROMPTS, TEXTS)
    n = len(PROMPTS) * len(TEXTS)
    assert Counter(calls) == {"silent": 2 * n, "keyed": n, "anew": n}
    first.cache_key = "rules of June"
    load(first).predict(PROMPTS, TEXTS)
    assert calls.count("keyed") == 2 * n
    first.cache_key = 3
    with pytest.raises(InputError, match="cache_key must be a text"):
        load(first)


@each(
    "what, said",
    [
        (KeyError("no\nsuch key"), "^function/other raised KeyError: "),
        (SystemExit(3), "function/other raised"),
        (KeyboardInterrupt(), "function/other raised RuntimeError: KeyboardInterrupt"),
        (asyncio.CancelledError(), "function/other raised RuntimeError: CancelledError"),
        (1, "function/other returned 1: a function that is a model takes"),
        ({"label": "Number"}, "function/other returned {'label': 'Number'}: a function that is a model takes"),
    ],
)
def test_what_it_raises_and_what_is_no_text_ends_the_work_in_a_line_and_hangs_nothing(
    what: Any, said: str, load: Any
) -> None:
    def other(messages: list[dict[str, str]]) -> Any:
        if isinstance(what, BaseException):
            raise what
        return what

    async def awaited(messages: list[dict[str, str]]) -> Any:
        return other(messages)

    awaited.__name__ = "other"
    for function in (other, awaited):
        with pytest.raises(ModelError, match=said) as caught:
            load(function).predict(PROMPTS, TEXTS)
        assert "\n" not in str(caught.value)
    assert load(by_first_word).predict(PROMPTS, TEXTS).tolist() == EXPECTED


class BusyError(Exception):
    status_code = 503


@each("error", [TimeoutError(), BusyError()])
def test_what_passes_is_asked_again(error: Exception, load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psopt.models.chat._request_scheduler._FIRST_WAIT", 0.01)
    failed: set[str] = set()

    def shaky(messages: list[dict[str, str]]) -> str:
        if messages[-1]["content"] not in failed:
            failed.add(messages[-1]["content"])
            raise error
        return by_first_word(messages)

    model = load(shaky)
    assert model.predict(PROMPTS, TEXTS).tolist() == EXPECTED
    assert model.engine.budget.usage.failed == len(failed) == len(PROMPTS) * len(TEXTS)

    def gone(messages: list[dict[str, str]]) -> str:
        raise error

    with pytest.raises(AnswersMissingError, match="function/gone: a call failed 2 times"):
        load(gone, options=LMConfig(retries=1)).predict(PROMPTS, TEXTS)


@each("given", [Answerer, 3, object()])
def test_what_can_be_no_model_is_refused(given: Any, load: Any) -> None:
    with pytest.raises(InputError, match="a function from messages to a text"):
        load(given)


def test_a_run_of_a_function_is_resumed_with_it(task: Task, tmp_path: Path) -> None:
    small: dict[str, Any] = {"rephrasings": 2, "heldout": 2, "rounds": 1, "samples": 8, "cache_dir": tmp_path / "cache"}
    run = psopt.optimize(task, model=by_first_word, trials=2, out=tmp_path / "run", **small)
    with pytest.raises(InputError, match=r"psopt\.optimize\(task, model=\.\., out="):
        psopt.resume(tmp_path / "run")
    again = psopt.optimize(task, model=by_first_word, trials=3, resume=True, out=tmp_path / "run", **small)
    assert again.baseline.id == run.baseline.id
    with pytest.raises(InputError, match=r"has been tested, and answers of function/.*load_run"):  # they'd be lost
        psopt.optimize(task, model=by_first_word, trials=3, resume=True, out=run.path, max_calls=400, **small)
    assert psopt.load_run(run.path).baseline.test is not None
    with pytest.raises(BudgetReachedError, match="max_calls=2 is reached"):
        psopt.classify(["who ?", "when ?", "where ?"], run.baseline.prompt, model=by_first_word, max_calls=2)
