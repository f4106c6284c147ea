"""A grid whose columns have texts of their own is answered as each text alone would be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.errors import InputError
from psopt.models import NOT_ASKED, AnswerCache, Capabilities, ChangedTextsModel, load_model
from psopt.models.chat import LMConfig, chat_model
from psopt.search_spaces import Prompt
from psopt.tasks import Row

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from psopt.tasks import Task

LABELS = ("Number", "Person")
PROMPTS = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Classify it.", "Classify it.")]
COLUMNS = [
    [f"what is {i} ?" for i in range(6)],
    [f"what is {i} ?" for i in range(6)],
    [f"WHAT IS {i} ?" for i in "aabbcc"],
]
CELLS = np.ones((6, 3), dtype=np.bool_)
CELLS[2, 1] = False


def each_alone(model: Any) -> Any:
    columns = [model.predict([prompt], texts)[:, 0] for prompt, texts in zip(PROMPTS, COLUMNS, strict=True)]
    return np.where(CELLS, np.stack(columns, axis=1), NOT_ASKED)


def test_of_a_model_that_answers_whole_grids(task: Task) -> None:
    model = load_model("sim/accuracy=0.6,wobble=0.4", task)
    prompts = [Prompt(prompt.description, task.labels, "question") for prompt in PROMPTS]
    found = ChangedTextsModel(model, COLUMNS).predict_cells(prompts, COLUMNS[0], CELLS)
    columns = [model.predict([prompt], texts)[:, 0] for prompt, texts in zip(prompts, COLUMNS, strict=True)]
    np.testing.assert_array_equal(found, np.where(CELLS, np.stack(columns, axis=1), NOT_ASKED))


def test_of_a_chat_model_each_request_is_sent_once_and_na_stands_at_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    with FakeServer() as server:
        inner = chat_model("openai", "test", AnswerCache(None), LMConfig(api_base=server.url))
        found = ChangedTextsModel(inner, COLUMNS).predict_cells(PROMPTS, COLUMNS[0], CELLS)
        assert len(ChangedTextsModel(inner, COLUMNS).queries(PROMPTS, COLUMNS[0], CELLS)) == 6 + 5 + 3
        assert inner.engine.budget.usage.made == 14
        np.testing.assert_array_equal(found, each_alone(inner))
        server.change(answer="fixed:no idea")
        others = [[f"{text} now" for text in column] for column in COLUMNS]
        inner.few_may_fail = True
        model = ChangedTextsModel(inner, others)
        array = model.predict_cells(PROMPTS, others[0], CELLS)
        missed = model.no_labels(PROMPTS, others[0], array)
        assert sorted([no.sample, no.rephrasing] for no in missed) == np.argwhere(array == 2).tolist()
        assert len(missed) == 17
        assert {no.said for no in missed} == {"no idea"}


def test_equal_texts_of_different_rows_are_two() -> None:
    rows = [Row.of({"text": "hi", "place": place}, ("text",)) for place in ("north", "south")]
    assert len(ChangedTextsModel(load_nothing(), [rows])._texts) == 2


def test_a_model_that_is_asked_about_its_examples_alone_is_refused() -> None:
    model = load_nothing()
    model.capabilities = Capabilities(has_metric_scores=True)
    with pytest.raises(InputError, match="asked about its examples as they are"):
        ChangedTextsModel(model, COLUMNS)


def load_nothing() -> Any:
    class Nothing:
        name = "dspy/program"
        capabilities = Capabilities()

    return Nothing()
