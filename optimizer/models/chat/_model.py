"""A task model that is asked in chat messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import ModelError
from psopt.models._answers import read_answer
from psopt.models.chat._client import Query
from psopt.models.chat._logprobs import label_probabilities
from psopt.prompts import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.models._base import OnProgress
    from psopt.models.chat._client import Answer
    from psopt.models.chat._engine import Engine
    from psopt.prompts import Prompt


class ChatModel:
    """Classifies by asking a chat model, prompt by prompt, the text last, so that servers can keep common beginnings.

    Parameters
    ----------
    engine : Engine
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def name(self) -> str:
        """The client's name."""
        return self.engine.client.name

    def predict(
        self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> NDArray[np.int64]:
        """Classify every text under every prompt; see `Model.predict`."""
        answers = self._ask(prompts, texts, on_progress)
        labels = prompts[0].labels
        read = np.array([read_answer(answer.text, labels) for answer in answers], dtype=np.int64)
        return read.reshape(len(prompts), len(texts)).T

    def predict_proba(
        self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> NDArray[np.float64]:
        """Return the probability of each label, and of naming none: (n_texts, n_prompts, C) float, rows sum to 1.

        Raises
        ------
        ModelError
            If the server sends no probabilities.
        """
        answers = self._ask(prompts, texts, on_progress)
        labels = prompts[0].labels
        rows = np.array([self._probabilities(answer, labels) for answer in answers])
        return rows.reshape(len(prompts), len(texts), len(labels) + 1).swapaxes(0, 1)

    def queries(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> list[Query]:
        """What is asked, in the order in which it is asked."""
        return [Query(render(prompt, text), prompt.labels) for prompt in prompts for text in texts]

    def _ask(self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None) -> list[Answer]:
        answers = self.engine.answers(self.queries(prompts, texts), on_progress)
        if answers and all(answer.truncated and not (answer.text or "").strip() for answer in answers):
            raise ModelError(f"{self.name} used up its tokens before it answered: raise --max-tokens")
        return answers

    def _probabilities(self, answer: Answer, labels: Sequence[str]) -> list[float]:
        if answer.text is not None and answer.logprobs is None:
            raise ModelError(f"{self.name} sent no probabilities with its answers: leave --logprobs out")
        return label_probabilities(answer.logprobs or [], labels)
