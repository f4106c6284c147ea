"""A Python function as a model: messages in, a text out, sync or async, counted and limited as any chat model."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.errors import AnswersMissingError, BudgetReachedError, InputError, ModelError
from psopt.models import load_model, name_of_model
from psopt.models.chat import LMConfig
from psopt.search_spaces import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psopt.tasks import Task

    from tests.conftest import KeywordModel

PROMPTS = [Prompt(description, ("Number", "Person"), "question") for description in ("Sort it.", "Classify it.")]
TEXTS = [f"{'When' if i % 2 else 'Who'} is thing {i} ?" for i in range(24)]
EXPECTED = [[int("Who" in text)] * 2 for text in TEXTS]


def by_first_word(messages: list[dict[str, str]]) -> str:
    return "Person" if "Who" in messages[-1]["content"] else "Number"


async def later(messages: list[dict[str, str]]) -> str:
    await asyncio.sleep(0)
    return by_first_word(messages)


class Answerer:
    def __call__(self, messages: list[dict[str, str]]) -> str:
        return by_first_word(messages)


class LaterAnswerer:
    async def __call__(self, messages: list[dict[str, str]]) -> str:
        return await later(messages)


def with_prefix(prefix: str, messages: list[dict[str, str]]) -> str:
    return prefix + by_first_word(messages)


FUNCTIONS: dict[str, Callable[[list[dict[str, str]]], Any]] = {
    "function/by_first_word": by_first_word,
    "function/later": later,
    "function/Answerer": Answerer(),
    "function/LaterAnswerer": LaterAnswerer(),
    "function/with_prefix": functools.partial(with_prefix, ""),
    "function/lambda": lambda messages: later(messages),  # what it returns is awaited
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whatever_can_be_called_answers(name: str, task: Task, tmp_path: Path) -> None:
    model: Any = load_model(FUNCTIONS[name], task, cache_dir=tmp_path)
    assert model.predict(PROMPTS, TEXTS).tolist() == EXPECTED
    assert model.name == name_of_model(FUNCTIONS[name]) == name
    assert model.engine.budget.usage.made == len(TEXTS) * len(PROMPTS)


def test_functions_that_block_run_side_by_side_up_to_the_concurrency(task: Task, tmp_path: Path) -> None:
    together = threading.Barrier(4, timeout=20)

    def waits_for_three_others(messages: list[dict[str, str]]) -> str:
        if "Sort it." in messages[-1]["content"]:  # 24 texts; the first of all is asked alone
            return by_first_word(messages)
        together.wait()
        return by_first_word(messages)

    model = load_model(waits_for_three_others, task, cache_dir=tmp_path, options=LMConfig(concurrency=4))
    model.predict(PROMPTS[:1], TEXTS)
    assert model.predict(PROMPTS[1:], TEXTS).ravel().tolist() == [row[0] for row in EXPECTED]


def test_a_coroutine_function_is_never_called_more_often_at_once_than_allowed(task: Task, tmp_path: Path) -> None:
    now = most = 0

    async def counting(messages: list[dict[str, str]]) -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return by_first_word(messages)

    load_model(counting, task, cache_dir=tmp_path, options=LMConfig(concurrency=3)).predict(PROMPTS, TEXTS)
    assert 1 <= most <= 3


def test_answers_are_kept_between_runs_only_if_the_function_says_what_they_depend_on(
    task: Task, tmp_path: Path
) -> None:
    calls: list[str] = []

    def silent(messages: list[dict[str, str]]) -> str:
        calls.append("silent")
        return by_first_word(messages)

    def keyed(messages: list[dict[str, str]]) -> str:
        calls.append("keyed")
        return by_first_word(messages)

    keyed.cache_key = "rules of May"  # type: ignore[attr-defined]
    for function in (silent, silent, keyed, keyed):
        load_model(function, task, cache_dir=tmp_path).predict(PROMPTS, TEXTS)
    n = len(PROMPTS) * len(TEXTS)
    assert (calls.count("silent"), calls.count("keyed")) == (2 * n, n)
    keyed.cache_key = "rules of June"  # type: ignore[attr-defined]
    load_model(keyed, task, cache_dir=tmp_path).predict(PROMPTS, TEXTS)
    assert calls.count("keyed") == 2 * n


def test_a_function_that_was_written_anew_is_another_one(task: Task, tmp_path: Path) -> None:
    def answer(messages: list[dict[str, str]]) -> str:
        return "Number"

    first = answer

    def answer(messages: list[dict[str, str]]) -> str:  # type: ignore[no-redef]
        return "Person"

    for function in (first, answer):
        function.cache_key = "1"  # type: ignore[attr-defined]
    for label, function in enumerate((first, answer)):
        assert (load_model(function, task, cache_dir=tmp_path).predict(PROMPTS, TEXTS) == label).all()


def test_what_it_raises_ends_the_work_in_a_line_that_names_it(task: Task, tmp_path: Path) -> None:
    def broken(messages: list[dict[str, str]]) -> str:
        raise KeyError("no\nsuch key")

    with pytest.raises(ModelError, match=r"^function/broken raised KeyError: ") as caught:
        load_model(broken, task, cache_dir=tmp_path).predict(PROMPTS, TEXTS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("error", [StopIteration(), SystemExit(3)])
def test_an_exit_in_it_hangs_nothing(error: BaseException, task: Task, tmp_path: Path) -> None:
    def leaves(messages: list[dict[str, str]]) -> str:
        raise error

    with pytest.raises(ModelError, match="function/leaves raised"):
        load_model(leaves, task, cache_dir=tmp_path).predict(PROMPTS, TEXTS)
    assert load_model(by_first_word, task, cache_dir=tmp_path).predict(PROMPTS, TEXTS).tolist() == EXPECTED


@pytest.mark.parametrize(("value", "shown"), [(1, "1"), (None, "None"), ({"label": "Number"}, "{'label': 'Number'}")])
def test_what_is_no_text_is_refused(value: Any, shown: str, task: Task, tmp_path: Path) -> None:
    def other(messages: list[dict[str, str]]) -> Any:
        return value

    with pytest.raises(ModelError, match=f"function/other returned {shown}: a function that is a model takes"):
        load_model(other, task, cache_dir=tmp_path).predict(PROMPTS, TEXTS)


class BusyError(Exception):
    status_code = 503


@pytest.mark.parametrize("error", [ConnectionResetError("cut"), TimeoutError(), BusyError()])
def test_what_passes_is_asked_again(
    error: Exception, task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psopt.models.chat._request_scheduler._FIRST_WAIT", 0.01)
    failed: set[str] = set()

    def shaky(messages: list[dict[str, str]]) -> str:
        if messages[-1]["content"] not in failed:
            failed.add(messages[-1]["content"])
            raise error
        return by_first_word(messages)

    model: Any = load_model(shaky, task, cache_dir=tmp_path)
    assert model.predict(PROMPTS, TEXTS).tolist() == EXPECTED
    assert model.engine.budget.usage.failed == len(failed)

    def gone(messages: list[dict[str, str]]) -> str:
        raise error

    with pytest.raises(AnswersMissingError, match="function/gone: a call failed 2 times"):
        load_model(gone, task, cache_dir=tmp_path, options=LMConfig(retries=1)).predict(PROMPTS, TEXTS)


def test_its_calls_are_limited(task: Task, tmp_path: Path) -> None:
    calls: list[int] = []

    def counting(messages: list[dict[str, str]]) -> str:
        calls.append(1)
        return by_first_word(messages)

    with pytest.raises(BudgetReachedError, match="10"):
        load_model(counting, task, cache_dir=tmp_path, options=LMConfig(max_calls=10)).predict(PROMPTS, TEXTS)
    assert len(calls) <= 10


def test_what_it_changes_in_its_messages_changes_nothing(task: Task, tmp_path: Path) -> None:
    def greedy(messages: list[dict[str, str]]) -> str:
        said = by_first_word(messages)
        messages[-1]["content"] = ""
        messages.clear()
        return said

    assert load_model(greedy, task, cache_dir=tmp_path).predict(PROMPTS, TEXTS).tolist() == EXPECTED


@pytest.mark.parametrize("given", [Answerer, 3, object()])
def test_what_can_be_no_model_is_refused(given: Any, task: Task, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a function from messages to a text"):
        load_model(given, task, cache_dir=tmp_path)


def test_a_cache_key_is_a_text(task: Task, tmp_path: Path) -> None:
    def keyed(messages: list[dict[str, str]]) -> str:
        return "Number"

    keyed.cache_key = 3  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="cache_key must be a text"):
        load_model(keyed, task, cache_dir=tmp_path)


def test_every_verb_takes_a_function(task: Task, keyword_model: KeywordModel, tmp_path: Path) -> None:
    small: dict[str, Any] = {"rephrasings": 3, "samples": 12, "cache_dir": tmp_path / "cache"}
    measured = psopt.measure(task, model=by_first_word, **small)
    assert measured.array.shape == (len(measured.samples), 3)
    assert psopt.diagnose(task, model=later, **small).scores is not None
    assert psopt.check(task, model=by_first_word, max_sensitivity=1.0, **small).met
    compared = psopt.compare(task, models=[by_first_word, keyword_model], **small)
    assert [result.model for result in compared] == ["function/by_first_word", keyword_model.name]
    prompt = Prompt("Sort it.", task.labels, "question")
    said = psopt.classify(["Who is it ?"], prompt, model=by_first_word, cache_dir=tmp_path / "cache")
    assert said[0].label == "Person"


def test_a_run_with_a_function_is_resumed_with_it(task: Task, tmp_path: Path) -> None:
    options: dict[str, Any] = {"rephrasings": 3, "heldout": 3, "rounds": 1, "cache_dir": tmp_path / "cache"}
    run = psopt.optimize(task, model=by_first_word, trials=2, out=tmp_path / "run", **options)
    assert run.baseline.test is not None
    with pytest.raises(InputError, match=r"psopt\.optimize\(task, model=\.\., out="):
        psopt.resume(tmp_path / "run")
    again = psopt.optimize(task, model=by_first_word, trials=3, out=tmp_path / "run", resume=True, **options)
    assert again.baseline.id == run.baseline.id
