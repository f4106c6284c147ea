"""Where all models of a command come from: asked alike, under one budget, with their answers kept in one folder."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.models._answer_cache import AnswerCache
from psopt.models._assessors import assessor_for
from psopt.models._cache_folder import cache_folder
from psopt.models._calibrated import CalibratedModel, calibrates
from psopt.models._capabilities import capabilities_of
from psopt.models._registry import load_model
from psopt.models.chat import Budget, LMConfig, asks_in_chat, chat_engine, load_writer, same_meaning

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psopt.models._assessor import Assessor
    from psopt.models._base import Model
    from psopt.models._capabilities import ProbabilisticModel
    from psopt.models.chat import Engine, Writer
    from psopt.models.minilm import Encoder
    from psopt.tasks import AnswerSpec, Task
    from typing_extensions import TypeIs


class ModelProvider:
    """Makes the model that answers, the ones that write and judge, and the encoder.

    Parameters
    ----------
    cache_dir : path, optional
        Where answers and embeddings are kept; by default `cache_folder`.
    lm : LMConfig, optional
        How language models are asked.
    budget : Budget, optional
        What they may spend together; by default what `lm` allows.
    """

    def __init__(
        self, cache_dir: str | Path | None = None, lm: LMConfig | None = None, budget: Budget | None = None
    ) -> None:
        self.cache_dir = cache_folder(cache_dir)
        self.lm = lm or LMConfig()
        self.budget = budget or Budget.of(self.lm)

    def answering(self, model: Any, task: Task) -> Model:
        """Load a task model, by name or from an object (see `load_model`); calibrated, where that can be."""
        answering = load_model(model, task, cache_dir=self.cache_dir, options=self.lm, budget=self.budget)
        if calibrates(answering):  # loaded before, and given again: its priors would be measured twice
            return answering
        if task.spec.is_open or not self._has_label_prior(answering):
            if self.lm.calibration == "batch":
                raise InputError(
                    f"--calibration batch needs the probabilities of labels, and {answering.name} gives none: take "
                    "smollm2, gguf/ or hf/, or openai/ with --logprobs"
                )
            return answering
        if self.lm.calibration == "off":
            return answering
        texts = [sample.text for sample in (task.train or task.val)]
        return CalibratedModel(answering, texts, self.budget, is_always=self.lm.calibration == "batch")

    def _has_label_prior(self, model: Model) -> TypeIs[ProbabilisticModel]:
        return capabilities_of(model).has_label_prior or (asks_in_chat(model) and self.lm.logprobs)

    def assessor(self, spec: AnswerSpec) -> Assessor | None:
        """Make what compares or rates free answers (see `AnswerSpec.is_assessed`); None where nothing must be asked."""
        return assessor_for(spec, self.cache_dir, self.lm, self.budget)

    def writer(self, model: Any) -> Writer:
        """Load a model that writes, by name or from a `dspy.LM` (see `load_writer`)."""
        return load_writer(model, cache_dir=self.cache_dir, options=self.lm, budget=self.budget)

    def judge(self, model: Any) -> Callable[[str, str], bool]:
        """Load a model that says whether two descriptions of a task ask for the same."""
        return same_meaning(self.writer(model))

    def engine(self, kind: str, name: Any) -> Engine:
        """Make what asks a chat model, for those who ask in a way of their own (see `chat_engine`).

        Raises InputError if batches are asked for: whoever asks in a way of their own asks call by call.
        """
        if self.lm.batch:
            raise InputError(
                "--batch (LMConfig.batch) means nothing for a program, which asks call by call: leave it out"
            )
        return chat_engine(kind, name, AnswerCache(self.cache_dir), self.lm, self.budget)

    @cached_property
    def encoder(self) -> Encoder:
        """The embedded encoder.

        Raises MissingExtraError if what it needs is not installed.
        """
        from psopt.models.minilm import Encoder

        return Encoder(self.cache_dir)
