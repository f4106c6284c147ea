"""A prompt's grid is asked for in parts, each answer once, and ends as the grid that is asked for in one go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from psopt.errors import BudgetReachedError
from psopt.evaluation import Evaluator
from psopt.models import AnswerCache, load_model
from psopt.models.chat import Budget, LMConfig, chat_model
from psopt.rephrasings import RephrasingSet
from psopt.search_spaces import seed_prompt
from psopt.tasks import Task

from tests.fake_server import FakeServer
from tests.sweeps import each

DESCRIPTION = "Sort the question by what it asks for."
SET = RephrasingSet(
    DESCRIPTION, (DESCRIPTION, "Sort it by what it asks.", "Say what is asked."), ("Do sort.",), "rules"
)
SHAPE = (40, 3)
HALF = np.add.outer(np.arange(40), np.arange(3)) % 2 == 0


def evaluator_of(model: Any, task: Task, **options: Any) -> Evaluator:
    return Evaluator(model, SET, {"train": task.train, "val": task.val, "test": task.test}, **options)


def assert_same(predictions: Any, expected: Any) -> None:
    np.testing.assert_array_equal(predictions.array, expected.array)
    for name in ("probabilities", "metric_scores"):
        np.testing.assert_array_equal(getattr(predictions, name), getattr(expected, name))
    for name in ("samples", "labels", "families", "rephrasings", "no_labels"):
        assert getattr(predictions, name) == getattr(expected, name)


@given(masks=st.lists(arrays.arrays(np.bool_, SHAPE), min_size=1, max_size=4), from_probabilities=st.booleans())
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_parts_each_answer_is_asked_once(task: Task, masks: list[Any], from_probabilities: bool) -> None:
    prompt = seed_prompt(task)
    model = load_model("sim/wobble=0.8,na=0.3", task)
    whole, in_parts = (evaluator_of(model, task, from_probabilities=from_probabilities) for _ in range(2))
    expected = whole.predictions(prompt, "val")
    asked = np.zeros(SHAPE, dtype=np.bool_)
    for cells in masks:
        answers = in_parts.answers(prompt, "val", cells)
        asked |= cells
        np.testing.assert_array_equal(answers, np.where(asked, expected.array, -1))
        assert in_parts.budget.usage.made == asked.sum()
    assert in_parts.knows(prompt.id, "val") == asked.all()
    assert_same(in_parts.predictions(prompt, "val"), expected)
    assert in_parts.budget.usage.made == 120
    assert in_parts.budget.usage.cached == 0
    np.testing.assert_array_equal(in_parts.answers(prompt, "val", HALF), expected.array)
    assert in_parts.budget.usage.made == 120


def test_answers_are_a_copy_of_one_split_s_and_cells_of_another_grid_are_refused(
    task: Task, keyword_model: Any
) -> None:
    prompt = seed_prompt(task)
    evaluator = evaluator_of(keyword_model, task)
    evaluator.answers(prompt, "val", HALF)[:] = 7
    assert (evaluator.answers(prompt, "val", HALF) < 3).all()
    assert not evaluator.partial_answers(prompt, "train").is_answered.any()
    with pytest.raises(ValueError, match=r"\(40, 1\) cells are not of a grid of \(40, 3\)"):
        evaluator.answers(prompt, "val", HALF[:, :1])


@each("from_probabilities", [False, True])
def test_a_part_that_is_remembered_is_not_asked_for(from_probabilities: bool, task: Task) -> None:
    prompt = seed_prompt(task)
    first, second, expected = (
        evaluator_of(load_model("sim/na=0.3", task), task, from_probabilities=from_probabilities) for _ in range(3)
    )
    first.answers(prompt, "val", HALF)
    partial = first.partial_answers(prompt, "val")
    second.remember(prompt, "val", partial.array, partial.probabilities)
    assert not second.knows(prompt.id, "val")
    assert (second.budget.usage.made, second.budget.usage.cached) == (0, 0)
    np.testing.assert_array_equal(second.answers(prompt, "val", HALF), partial.array)
    assert (second.budget.usage.made, second.budget.usage.cached) == (0, 60)
    assert_same(second.predictions(prompt, "val"), expected.predictions(prompt, "val"))
    assert (second.budget.usage.made, second.budget.usage.cached) == (60, 60)


def test_a_chat_model_is_asked_once_for_each_cell_and_explains_the_whole(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    prompt = seed_prompt(task)
    with FakeServer(unanswerable="thing 107 :vllm_context") as server:

        def evaluator(**limits: Any) -> Evaluator:
            options = LMConfig(api_base=server.url, **limits)
            budget = Budget.of(options)
            return evaluator_of(chat_model("openai", "test", AnswerCache(None), options, budget), task, budget=budget)

        expected = evaluator().predictions(prompt, "val")
        assert len(expected.no_labels) == 3
        server.reset()
        in_parts = evaluator()
        in_parts.answers(prompt, "val", HALF)
        assert server.counts()["requests"] == in_parts.budget.usage.made == 60
        assert_same(in_parts.predictions(prompt, "val"), expected)
        assert server.counts()["requests"] == in_parts.budget.usage.made == 120
        assert in_parts.budget.usage.cached == 0
        limited = evaluator(max_calls=80)
        limited.budget.in_whole = True
        limited.answers(prompt, "val", HALF)
        with pytest.raises(BudgetReachedError):
            limited.predictions(prompt, "val")
        assert limited.budget.usage.made == 60
        np.testing.assert_array_equal(limited.partial_answers(prompt, "val").is_answered, HALF)
