"""Answers to parts of a grid are those of the whole grid, for every model, and nothing else is asked.

A grid whose columns have texts of their own is answered as each text alone would be.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra import numpy as arrays
from psopt.dspy_programs import ProgramModel
from psopt.errors import InputError, UnansweredError
from psopt.models import (
    NOT_ASKED,
    Capabilities,
    ChangedTextsModel,
    capabilities_of,
    load_model,
    predict_cells,
    predict_proba_cells,
)
from psopt.models.chat import ChatModel
from psopt.models.hf import HFModel
from psopt.models.minilm import MiniLM
from psopt.models.sim import SimulatedModel
from psopt.search_spaces import Prompt
from psopt.tasks import Task

from tests.conftest import KeywordModel
from tests.fake_server import FakeServer
from tests.models.conftest import model_at

LABELS = ("Number", "Person")
PROMPTS = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Say the class.", "Classify it.")]
TEXTS = [f"{opening} thing {i} ?" for i in range(8) for opening in ("when did", "whose is", "who saw")]
SHAPE = (len(TEXTS), len(PROMPTS))
CELLS = np.add.outer(np.arange(len(TEXTS)), np.arange(len(PROMPTS))) % 3 != 0
masks = arrays.arrays(np.bool_, SHAPE)


def assert_part(part: Any, whole: Any, cells: Any, empty: Any) -> None:
    np.testing.assert_array_equal(part[cells], whole[cells])
    np.testing.assert_array_equal(part[~cells], np.full_like(part[~cells], empty))


@given(cells=masks)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_models_that_know_whole_grids_only_answer_parts_alike(task: Task, cells: Any) -> None:
    model: Any
    for model in (KeywordModel(), load_model("sim/wobble=0.8,na=0.2", task)):
        assert_part(predict_cells(model, PROMPTS, TEXTS, cells), model.predict(PROMPTS, TEXTS), cells, NOT_ASKED)
    probabilities = model.predict_proba(PROMPTS, TEXTS)
    assert_part(predict_proba_cells(model, PROMPTS, TEXTS, cells), probabilities, cells, np.nan)


@pytest.mark.usefixtures("quick")
def test_a_chat_model_is_asked_for_these_cells_alone_prompt_by_prompt(server: FakeServer) -> None:
    model = model_at(server, concurrency=1)
    whole = model_at(server).predict(PROMPTS, TEXTS)
    server.reset()
    assert_part(predict_cells(model, PROMPTS, TEXTS, CELLS), whole, CELLS, NOT_ASKED)
    assert server.counts()["requests"] == model.engine.budget.usage.made == CELLS.sum()
    whole_order = iter(model.queries(PROMPTS, TEXTS))
    assert all(query in whole_order for query in model.queries(PROMPTS, TEXTS, CELLS))  # a part of it, in its order
    part = predict_proba_cells(model_at(server, logprobs=True), PROMPTS, TEXTS, CELLS)
    assert_part(part, model_at(server, logprobs=True).predict_proba(PROMPTS, TEXTS), CELLS, np.nan)


@pytest.mark.usefixtures("quick")
def test_refused_texts_are_held_against_the_whole_grid(server: FakeServer) -> None:
    server.change(unanswerable="whose is thing 0 :vllm_context")
    few = np.zeros(SHAPE, dtype=np.bool_)
    few[:4, :2] = True
    assert (predict_cells(model_at(server), PROMPTS, TEXTS, few)[1, :2] == len(LABELS)).all()
    with pytest.raises(UnansweredError, match=r"2 context length.* \(72 in all\)"):
        predict_cells(model_at(server, max_unanswered=0.02), PROMPTS, TEXTS, few)


# Columns with texts of their own

ALIKE = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Classify it.", "Classify it.")]
SMALL = [f"what is {i} ?" for i in range(6)]
COLUMNS = [SMALL, SMALL, [f"WHAT IS {i} ?" for i in "aabbcc"]]
ASKED = np.ones((6, 3), dtype=np.bool_)
ASKED[2, 1] = False


@pytest.mark.usefixtures("quick")
def test_of_a_chat_model_each_request_is_sent_once_and_na_stands_at_its_place(server: FakeServer) -> None:
    inner = model_at(server)
    found = ChangedTextsModel(inner, COLUMNS).predict_cells(ALIKE, COLUMNS[0], ASKED)
    assert len(ChangedTextsModel(inner, COLUMNS).queries(ALIKE, COLUMNS[0], ASKED)) == 6 + 5 + 3
    assert inner.engine.budget.usage.made == 14
    columns = [inner.predict([prompt], texts)[:, 0] for prompt, texts in zip(ALIKE, COLUMNS, strict=True)]
    np.testing.assert_array_equal(found, np.where(ASKED, np.stack(columns, axis=1), NOT_ASKED))
    server.change(answer="fixed:no idea")
    others = [[f"{text} now" for text in column] for column in COLUMNS]
    inner.few_may_fail = True
    model = ChangedTextsModel(inner, others)
    array = model.predict_cells(ALIKE, others[0], ASKED)
    missed = model.no_labels(ALIKE, others[0], array)
    assert sorted([no.sample, no.rephrasing] for no in missed) == np.argwhere(array == 2).tolist()
    assert len(missed) == 17
    assert {no.said for no in missed} == {"no idea"}


def test_what_reads_its_examples_alone_is_refused() -> None:
    program: Any = SimpleNamespace(name="dspy/program", capabilities=Capabilities(has_metric_scores=True))
    with pytest.raises(InputError, match="asked about its examples as they are"):
        ChangedTextsModel(program, COLUMNS)


# What models say that they can do is what they can do; of a model that says nothing it is found out.

MODELS: tuple[Any, ...] = (ChatModel, HFModel, MiniLM, ProgramModel, SimulatedModel)
METHODS = {
    "has_probabilities": "predict_proba",
    "has_metric_scores": "metric_scores",
    "has_explanations": "no_labels",
    "asks_in_chat": "queries",
    "has_cells": "predict_cells",
    "has_confidences": "confidences",
}


def test_a_model_can_what_it_says_and_says_what_it_can() -> None:
    for model in MODELS:
        says = {name: getattr(model.capabilities, name) for name in METHODS}
        assert says == {name: hasattr(model, method) for name, method in METHODS.items()}, model
        # Parts of a grid come with probabilities where the whole does.
        assert (says["has_cells"] and says["has_probabilities"]) == hasattr(model, "predict_proba_cells"), model
        assert model.capabilities.can_race == (model is not ProgramModel)  # what a metric judges does not race


def test_a_model_of_the_user_s_own_need_not_say_anything_and_is_understood_by_attributes() -> None:
    assert capabilities_of(KeywordModel()) == Capabilities()
    model: Any = SimpleNamespace(is_free=True, reads_order=False, predict_proba=lambda *_: None)
    assert capabilities_of(model) == Capabilities(is_free=True, reads_order=False, has_probabilities=True)
