"""Programs that tests compile, and load in another process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import dspy


class Sort(dspy.Signature):
    """Sort the question by what it asks for."""

    question: str = dspy.InputField()
    label: Literal["Number", "Person"] = dspy.OutputField()


class Topic(dspy.Signature):
    """Say what the question is about."""

    question: str = dspy.InputField()
    topic: str = dspy.OutputField()


class SortByTopic(dspy.Signature):
    """Sort the topic by the kind of answer that is asked for."""

    topic: str = dspy.InputField()
    label: Literal["Number", "Person"] = dspy.OutputField()


class Sorter(dspy.Module):
    """A step in a module of one's own, whose `forward` tests put another in the place of."""

    def __init__(self) -> None:
        super().__init__()
        self.sort = dspy.Predict(Sort)

    def forward(self, question: str) -> Any:
        return self.sort(question=question)


class TwoSteps(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.find_topic = dspy.Predict(Topic)
        self.classify = dspy.Predict(SortByTopic)

    def forward(self, question: str) -> Any:
        topic = self.find_topic(question=question).topic
        return self.classify(topic=topic)


def predict() -> Any:
    return dspy.Predict(Sort)


def chain_of_thought() -> Any:
    return dspy.ChainOfThought(Sort)


def examples(first: Any, n: int) -> list[Any]:
    """Questions of four kinds, numbered from `first`."""
    kinds = (
        ("when did thing {} end ?", "Number"),
        ("who made thing {} ?", "Person"),
        ("how many are in box {} ?", "Number"),
        ("the name of man {} ?", "Person"),
    )
    found = [(text.format(number), label) for number in range(first, first + n) for text, label in kinds]
    return [dspy.Example(question=text, label=label).with_inputs("question") for text, label in found]


def answered(of: Any, field: str, answer: Callable[[Any], Any]) -> list[Any]:
    """The same questions with another answer."""
    return [dspy.Example(question=one.question, **{field: answer(one)}).with_inputs("question") for one in of]
