"""From chat messages back to a psopt prompt, and to what psopt's own minilm says to it."""

from __future__ import annotations

import ast
import asyncio
import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search_spaces import Prompt

    LabelShares = tuple[str, dict[str, float]]

ASK = "Answer with exactly one of these labels and nothing else: "
NO_ANSWER = "I can't tell."
_LABELS = re.compile(rf"^{re.escape(ASK)}(.*)$", re.MULTILINE)
_DSPY_FIELD = re.compile(r"starting with the field `\[\[ ## (\w+) ## \]\]`")
_DSPY_LABELS = re.compile(r"\(must be formatted as a valid Python Literal(\[.*?\])\)")
_SECTION = re.compile(r"\n\n(What the labels mean:|Note:)\n(- .*?)(?=\n\n)", re.DOTALL)
# Seconds in which requests are waited for, to be read together: far less than the network takes to read one.
_GATHER = 0.004
_SHARPNESS = 10.0  # of the probabilities; they only need to follow the scores


def listed_labels(message: str) -> list[str]:
    """The labels that a rendered prompt lists, or that a DSPy program's signature allows."""
    if line := _LABELS.search(message):
        return line.group(1).split(", ")
    literal = _DSPY_LABELS.search(message)
    return list(ast.literal_eval(literal.group(1))) if literal else []


def dspy_field(message: str) -> str | None:
    """The output field that a DSPy program asks for."""
    field = _DSPY_FIELD.search(message)
    return field.group(1) if field else None


def read_prompt(message: str, labels: tuple[str, ...] = ()) -> tuple[Prompt, str]:
    r"""Take a rendered user message apart into the prompt and the text: `search_spaces.render` undone.

    Parameters
    ----------
    message : str
        What `render` made; texts and notes may have several lines.
    labels : tuple of str
        The labels where they are known: the line that lists them does not tell about commas in them.

    >>> prompt, text = read_prompt(f"Judge it.\n{ASK}good, bad\n\nNote:\n- Dull is bad\n\nReview: So\n\nlong!\nLabel:")
    >>> prompt.description, prompt.notes, prompt.noun, text
    ('Judge it.', ('Dull is bad',), 'review', 'So\n\nlong!')
    """
    from psopt.search_spaces import Definition, Example, Prompt

    label_line = _LABELS.search(message)
    if label_line is None:
        raise ValueError("the message lists no labels")
    labels = labels or tuple(listed_labels(message))
    rest = message[label_line.end() :]
    items: dict[str, list[str]] = {}
    while section := _SECTION.match(rest):
        items[section.group(1)] = section.group(2).removeprefix("- ").split("\n- ")
        rest = rest[section.end() :]
    meanings = [line.partition(": ") for line in items.get("What the labels mean:", [])]
    noun, examples, text = _read_questions(rest, labels)
    prompt = Prompt(
        description=message[: label_line.start()].removesuffix("\n"),
        labels=labels,
        noun=noun.lower(),
        definitions=tuple(Definition(label, meaning) for label, _, meaning in meanings),
        notes=tuple(items.get("Note:", [])),
        examples=tuple(Example(example, label) for example, label in examples),
    )
    return prompt, text


def _read_questions(rest: str, labels: tuple[str, ...]) -> tuple[str, list[tuple[str, str]], str]:
    """Read the noun, the examples as (text, label) pairs, and the text to classify."""
    rest = rest.removeprefix("\n\n")
    heading = "Examples:\n"
    has_examples = rest.startswith(heading)
    rest = rest.removeprefix(heading)
    noun = rest.partition(": ")[0]
    examples = []
    name = re.escape(noun)
    answer = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    example = re.compile(rf"{name}: (.*?)\nLabel: ({answer})(\n\n?)(?={name}: )", re.DOTALL)
    while has_examples and (match := example.match(rest)):
        examples.append((match.group(1), match.group(2)))
        rest = rest[match.end() :]
        has_examples = match.group(3) == "\n"
    return noun, examples, rest.removeprefix(f"{noun}: ").removesuffix("\nLabel:")


class PromptReader:
    """psopt's minilm behind chat messages: those that come together are read together, in a thread.

    Parameters
    ----------
    task : str
        What `psopt.load_task` takes; looked for without network, the bundled sample at the worst.
    """

    def __init__(self, task: str) -> None:
        self._task = task
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="minilm")
        self._model: Any = None
        self._waiting: list[tuple[tuple[Prompt, str], asyncio.Future[LabelShares]]] = []
        self._reading: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Load weights and network, once."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def label(self, message: str, labels: tuple[str, ...]) -> LabelShares:
        """Return minilm's label for a rendered user message, and a share for every label.

        A text for which minilm has no label gets an answer that names none.
        """
        future: asyncio.Future[LabelShares] = asyncio.get_running_loop().create_future()
        self._waiting.append((read_prompt(message, labels), future))
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_all())
        return await future

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
            from psopt.tasks import load_task

            task = load_task(self._task)
            self._model = load_model("minilm", task)
            self._model.predict([Prompt(task.description, task.labels, task.noun)], ["Warm ?"])

    def _classify(self, questions: list[tuple[Prompt, str]]) -> list[LabelShares]:
        import numpy as np

        by_prompt: dict[Prompt, dict[str, LabelShares]] = {}
        for prompt, text in questions:
            by_prompt.setdefault(prompt, {})[text] = (NO_ANSWER, {})
        for prompt, answers in by_prompt.items():
            texts = list(answers)
            predictions = self._model.predict([prompt], texts)[:, 0]
            scores = np.exp(_SHARPNESS * self._model.scores(prompt, texts).astype(float))
            for text, index, row in zip(texts, predictions, scores / scores.sum(axis=1, keepdims=True), strict=True):
                label = (*prompt.labels, NO_ANSWER)[index]
                shares = dict(zip(prompt.labels, row.tolist(), strict=True))
                answers[text] = label, shares if label in shares else {NO_ANSWER: 1.0}
        return [by_prompt[prompt][text] for prompt, text in questions]
