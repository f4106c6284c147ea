"""Answers to parts of a grid are those of the whole grid, for every model, and nothing else is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra import numpy as arrays
from psopt.errors import NoLabelsError, UnansweredError
from psopt.models import NOT_ASKED, AnswerCache, load_model, predict_cells, predict_proba_cells
from psopt.models.chat import LMConfig, chat_model
from psopt.search_spaces import Prompt

from tests.conftest import KeywordModel
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.tasks import Task

LABELS = ("Number", "Person")
PROMPTS = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Say the class.", "Classify it.")]
TEXTS = [f"{opening} thing {i} ?" for i in range(8) for opening in ("when did", "whose is", "who saw")]
SHAPE = (len(TEXTS), len(PROMPTS))
CELLS = np.add.outer(np.arange(len(TEXTS)), np.arange(len(PROMPTS))) % 3 != 0
masks = arrays.arrays(np.bool_, SHAPE)


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")


def chat(server: FakeServer, **options: Any) -> Any:
    return chat_model("openai", "test", AnswerCache(None), LMConfig(api_base=server.url, **options))


def assert_part(part: Any, whole: Any, cells: Any, empty: Any) -> None:
    np.testing.assert_array_equal(part[cells], whole[cells])
    np.testing.assert_array_equal(part[~cells], np.full_like(part[~cells], empty))


@given(cells=masks)
@settings(max_examples=20)
def test_a_model_that_knows_whole_grids_only_answers_parts_alike(cells: Any) -> None:
    model = KeywordModel()
    assert_part(predict_cells(model, PROMPTS, TEXTS, cells), model.predict(PROMPTS, TEXTS), cells, NOT_ASKED)


def test_prompts_with_the_same_texts_are_one_grid(keyword_model: KeywordModel) -> None:
    cells = np.zeros(SHAPE, dtype=np.bool_)
    cells[:5, [0, 2]] = True
    predict_cells(keyword_model, PROMPTS, TEXTS, cells)
    predict_cells(keyword_model, PROMPTS, TEXTS, np.ones(SHAPE, dtype=np.bool_))
    assert keyword_model.n_grids == 2


@given(cells=masks)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_simulated_model_answers_parts_alike(task: Task, cells: Any) -> None:
    model: Any = load_model("sim/wobble=0.8,na=0.2", task)
    assert_part(predict_cells(model, PROMPTS, TEXTS, cells), model.predict(PROMPTS, TEXTS), cells, NOT_ASKED)
    probabilities = model.predict_proba(PROMPTS, TEXTS)
    assert_part(predict_proba_cells(model, PROMPTS, TEXTS, cells), probabilities, cells, np.nan)


def test_a_chat_model_is_asked_for_these_cells_alone_prompt_by_prompt(server: FakeServer) -> None:
    model = chat(server, concurrency=1)
    whole = chat(server).predict(PROMPTS, TEXTS)
    server.reset()
    part = predict_cells(model, PROMPTS, TEXTS, CELLS)
    assert_part(part, whole, CELLS, NOT_ASKED)
    assert server.counts()["requests"] == model.engine.budget.usage.made == CELLS.sum()
    asked = model.queries(PROMPTS, TEXTS, CELLS)
    whole_order = iter(model.queries(PROMPTS, TEXTS))
    assert all(query in whole_order for query in asked)  # a part of it, in its order


def test_a_chat_model_s_probabilities_of_parts_are_those_of_the_whole(server: FakeServer) -> None:
    options = {"logprobs": True}
    part = predict_proba_cells(chat(server, **options), PROMPTS, TEXTS, CELLS)
    assert_part(part, chat(server, **options).predict_proba(PROMPTS, TEXTS), CELLS, np.nan)


def test_the_first_twenty_answers_of_a_part_are_looked_at() -> None:
    with FakeServer(answer="fixed:no idea") as server:
        model = chat(server)
        with pytest.raises(NoLabelsError, match="none of the first 20 answers"):
            predict_cells(model, PROMPTS, TEXTS, CELLS)
        assert server.counts()["requests"] == 20


def test_refused_texts_are_held_against_the_whole_grid() -> None:
    with FakeServer(unanswerable="whose is thing 0 :vllm_context") as server:
        few = np.zeros(SHAPE, dtype=np.bool_)
        few[:4, :2] = True
        assert (predict_cells(chat(server), PROMPTS, TEXTS, few)[1, :2] == len(LABELS)).all()
        with pytest.raises(UnansweredError, match=r"2 context length.* \(72 in all\)"):
            predict_cells(chat(server, max_unanswered=0.02), PROMPTS, TEXTS, few)


def test_progress_is_that_of_the_cells(keyword_model: Any, task: Task) -> None:
    calls: list[tuple[int, int]] = []
    model: Any = load_model("sim/", task)
    predict_cells(model, PROMPTS, TEXTS, CELLS, lambda done, total: calls.append((done, total)))
    assert calls == [(16, 48), (32, 48), (48, 48)]
