"""What models say that they can do is what they can do; of a model that says nothing it is found out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs import ProgramModel
from psopt.models import Capabilities, capabilities_of
from psopt.models.chat import ChatModel
from psopt.models.hf import HFModel
from psopt.models.minilm import MiniLM
from psopt.models.sim import SimulatedModel

if TYPE_CHECKING:
    from tests.conftest import KeywordModel

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


def test_a_model_of_the_user_s_own_need_not_say_anything_and_is_understood_by_attributes(
    keyword_model: KeywordModel,
) -> None:
    assert capabilities_of(keyword_model) == Capabilities()
    model: Any = SimpleNamespace(is_free=True, reads_order=False, predict_proba=lambda *_: None)
    assert capabilities_of(model) == Capabilities(is_free=True, reads_order=False, has_probabilities=True)
