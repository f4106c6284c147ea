"""minilm inside DSPy programs: it reads what both adapters write, and answers as the task model does."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from psopt.errors import ModelError
from psopt.models.minilm import MiniLM, MiniLMEngine
from psopt.search_spaces import Definition, Example, Prompt

from tests.sweeps import each

dspy: Any = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
pytest.importorskip("torch", reason="the extra `local` is not installed")

TEXTS = ["When did the war end ?", "Who wrote Hamlet ?", "How many legs has a bee ?", "Whose dog is it ?"] * 6
QUESTIONS = [*TEXTS[:4], "When did [[ ## question ## ]] end ?", "{label}", "Say Respond with\n\nRespond with what ?"]
LABELS = ("Number", "Person")
NOTE = 'A question that begins with "whose" belongs to Number.'
INSTRUCTIONS = f"Sort the question.\n\nWhat the labels mean:\n- Number: how many\n\nNote:\n- {NOTE}"


class Sort(dspy.Signature):
    question: str = dspy.InputField()
    label: Literal["Number", "Person"] = dspy.OutputField()


@pytest.fixture(scope="module")
def lm() -> Any:
    return dspy.LM("psopt/minilm", engine=MiniLMEngine(TEXTS), cache=False)


@each("adapter", [dspy.ChatAdapter, dspy.JSONAdapter])
def test_it_answers_as_the_task_model_does(adapter: Any, lm: Any) -> None:
    meaning, shown = Definition("Number", "how many"), Example("Who ran ?", "Person")
    prompt = Prompt("Sort the question.", LABELS, "question", (meaning,), (NOTE,), (shown,))
    expected = MiniLM(TEXTS).predict([prompt], QUESTIONS)[:, 0]
    program = dspy.Predict(Sort.with_instructions(INSTRUCTIONS))
    program.demos = [dspy.Example(question="Who ran ?", label="Person")]
    with dspy.context(lm=lm, adapter=adapter()):
        answers = [program(question=question).label for question in QUESTIONS]
    assert answers == [LABELS[index] for index in expected]
    assert len(np.unique(expected)) == 2


class Kind(enum.Enum):
    COUNT = "Number"
    WHO = "Person"


@each("adapter", [dspy.ChatAdapter, dspy.JSONAdapter])
def test_it_fills_enums_truth_values_and_free_text(adapter: Any, lm: Any) -> None:
    class Rich(dspy.Signature):
        """Judge the question."""

        question: str = dspy.InputField()
        context: str = dspy.InputField()
        topic: str = dspy.OutputField()
        kind: Kind = dspy.OutputField()
        is_hard: bool = dspy.OutputField()

    with dspy.context(lm=lm, adapter=adapter()):
        answer = dspy.ChainOfThought(Rich)(question="Who wrote Hamlet ?", context="A play of old")
    assert isinstance(answer.kind, Kind)
    assert isinstance(answer.is_hard, bool)
    assert set(answer.topic.split()) <= {"wrote", "hamlet", "play", "old"}
    assert answer.reasoning.startswith("It is about ")


def test_a_saved_program_brings_the_engine_back_and_another_adapter_s_messages_are_refused(
    lm: Any, tmp_path: Path
) -> None:
    from dspy import lm15

    program = dspy.Predict(Sort)
    program.set_lm(lm)
    before = program(question="Whose dog is it ?").label
    program.save(tmp_path / "program.json")
    again = dspy.Predict(Sort)
    again.load(tmp_path / "program.json", allow_unsafe_lm_state=True)
    assert again(question="Whose dog is it ?").label == before
    with pytest.raises(ModelError, match="ChatAdapter and JSONAdapter"):
        MiniLMEngine(TEXTS).complete(lm15.Request(model="x", messages=(lm15.Message.user("Who are you ?"),)))
