"""What models say that they can do is what they can do; of a model that says nothing it is found out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from psopt.dspy_programs._model import ProgramModel
from psopt.models import Capabilities, capabilities_of
from psopt.models.chat import ChatModel
from psopt.models.hf import HFModel
from psopt.models.minilm import MiniLM
from psopt.models.sim import SimulatedModel

if TYPE_CHECKING:
    from tests.conftest import KeywordModel

MODELS = (ChatModel, HFModel, MiniLM, ProgramModel, SimulatedModel)
METHODS = {
    "has_probabilities": "predict_proba",
    "has_metric_scores": "metric_scores",
    "has_explanations": "no_labels",
    "asks_in_chat": "queries",
    "has_cells": "predict_cells",
    "has_confidences": "confidences",
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
@pytest.mark.parametrize(("capability", "method"), METHODS.items())
def test_a_model_can_what_it_says_and_says_what_it_can(model: Any, capability: str, method: str) -> None:
    assert getattr(model.capabilities, capability) == hasattr(model, method)


def test_only_what_a_metric_judges_does_not_race() -> None:
    assert [model for model in MODELS if not model.capabilities.can_race] == [ProgramModel]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_parts_of_a_grid_come_with_probabilities_where_the_whole_does(model: Any) -> None:
    both = model.capabilities.has_cells and model.capabilities.has_probabilities
    assert both == hasattr(model, "predict_proba_cells")


def test_a_model_of_the_user_s_own_need_not_say_anything(keyword_model: KeywordModel) -> None:
    assert capabilities_of(keyword_model) == Capabilities()


def test_what_a_model_says_by_attributes_is_understood() -> None:
    model: Any = SimpleNamespace(is_free=True, reads_order=False, predict_proba=lambda *_: None)
    assert capabilities_of(model) == Capabilities(is_free=True, reads_order=False, has_probabilities=True)
