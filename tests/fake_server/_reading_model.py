"""What psopt's own minilm or simulated model says to chat messages, whatever their form."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from tests.fake_server._conversation import Conversation, KnownText, as_prompt, read_conversation
from tests.fake_server._prompt_reading import listed_labels, read_prompt, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

    LabelShares = tuple[str, dict[str, float]]
    Question = tuple[Prompt, str]

NO_ANSWER = "I can't tell."
# Seconds in which requests are waited for, to be read together: far less than the network takes to read one.
_GATHER = 0.004
_SHARPNESS = 10.0  # of the probabilities; they only need to follow the scores


class ReadingModel:
    """A model of psopt's behind chat messages: those that come together are read together, in a thread.

    Of its task, which is looked for without network, minilm takes its unlabelled texts, and the simulated model what is
    true; both know a text of it wherever it stands.
    """

    def __init__(self, name: str, task: str, columns: Mapping[str, Any]) -> None:
        self._name = name
        self._source = task
        self._columns = dict(columns)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reading")
        self._model: Any = None
        self._task: Task | None = None
        self._known: list[KnownText] = []
        self._waiting: list[tuple[Question, asyncio.Future[LabelShares]]] = []
        self._reading: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Load data, weights and network, once."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its task."""
        return self._task.labels if self._task else ()

    def conversation(self, messages: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Conversation:
        """Take chat messages apart by the texts of its task."""
        return read_conversation(messages, labels, self._known)

    async def label(self, messages: Sequence[Mapping[str, Any]], labels: tuple[str, ...]) -> LabelShares:
        """Return the model's label for chat messages, and a share for every label.

        A text for which it has no label gets an answer that names none.
        """
        future: asyncio.Future[LabelShares] = asyncio.get_running_loop().create_future()
        self._waiting.append((self._question(messages, labels), future))
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_all())
        return await future

    def _question(self, messages: Sequence[Mapping[str, Any]], labels: tuple[str, ...]) -> Question:
        asked = next((text_of(turn) for turn in messages if turn.get("role") == "user"), "")
        if listed_labels(asked):
            return read_prompt(messages, labels)
        conversation = self.conversation(messages, labels)
        return as_prompt(conversation, labels), conversation.text

    async def _read_all(self) -> None:
        await asyncio.sleep(_GATHER)
        while self._waiting:
            together = self._waiting
            self._waiting = []
            questions = [question for question, _ in together]
            answers: Sequence[LabelShares | Exception]
            try:
                answers = await asyncio.get_running_loop().run_in_executor(self._thread, self._classify, questions)
            except Exception as error:  # noqa: BLE001  # whoever waits must hear of it
                answers = [error] * len(questions)
            for (_, future), answer in zip(together, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
        self._reading = None

    def _load(self) -> None:
        if self._model is None:
            os.environ.setdefault("PSOPT_OFFLINE", "1")
            # Read as torch loads: two processes whose idle threads spin on two cores take ten times as long.
            os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
            from psopt.models import load_model
            from psopt.search_spaces import Prompt
            from psopt.tasks import fields_of, load_task

            task = load_task(self._source, **self._columns)
            samples = (*task.train, *task.val, *task.test)
            model = load_model(self._name, task)
            model.predict([Prompt(task.description, task.labels, task.noun)], ["Warm ?"])
            self._known = [KnownText.of(sample.text, fields_of(sample.text)) for sample in samples]
            self._task = task
            self._model = model

    def _classify(self, questions: list[Question]) -> list[LabelShares]:
        by_prompt: dict[Prompt, dict[str, LabelShares]] = {}
        for prompt, text in questions:
            by_prompt.setdefault(prompt, {})[text] = (NO_ANSWER, {})
        for prompt, answers in by_prompt.items():
            texts = list(answers)
            predictions = self._model.predict([prompt], texts)[:, 0]
            for text, index, row in zip(texts, predictions, self._shares(prompt, texts), strict=True):
                label = (*prompt.labels, NO_ANSWER)[index]
                shares = dict(zip(prompt.labels, row, strict=False))
                answers[text] = label, shares if shares.get(label) else {label: 1.0}
        return [by_prompt[prompt][text] for prompt, text in questions]

    def _shares(self, prompt: Prompt, texts: list[str]) -> list[list[float]]:
        """Probabilities of the labels: (n_texts, n_labels), or with N/A as one more."""
        import numpy as np

        if self._name.startswith("sim"):
            rows: list[list[float]] = self._model.predict_proba([prompt], texts)[:, 0].tolist()
            return rows
        scores = np.exp(_SHARPNESS * self._model.scores(prompt, texts).astype(float))
        shares: list[list[float]] = (scores / scores.sum(axis=1, keepdims=True)).tolist()
        return shares
