"""Programs of every shape that DSPy knows, and demonstrations that keep their types."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import dspy
import pydantic
import pytest
from psopt.errors import InputError

from tests.dspy_programs.compiling import FEW, TRAIN, VAL, compiled, examples_offered
from tests.dspy_programs.keyword_lm import KeywordEngine, ShownEngine, lm_of
from tests.dspy_programs.programs_to_mend import (
    Sort,
    SortByTopic,
    Sorter,
    Topic,
    TwoSteps,
    answered,
    chain_of_thought,
    predict,
)


class SaysText(Sorter):
    """Its `forward` returns the class itself."""

    def forward(self, question: str) -> Any:
        return str(self.sort(question=question).label)


class SaysMapping(Sorter):
    def forward(self, question: str) -> Any:
        return {"label": self.sort(question=question).label}


class OnlyAwaited(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sort = dspy.ChainOfThought(Sort)

    async def aforward(self, question: str) -> Any:
        return await self.sort.acall(question=question)


class Nested(dspy.Module):
    """Steps in modules, in a list, and one whose answer is not used."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = TwoSteps()
        self.others = [dspy.Predict(Topic)]

    def forward(self, question: str) -> Any:
        self.others[0](question=question)
        return self.inner(question=question)


def has_label(_: Any, prediction: Any) -> float:
    return float(prediction.label in {"Number", "Person"})


def refine() -> Any:
    return dspy.Refine(module=dspy.ChainOfThought(Sort), N=2, reward_fn=has_label, threshold=1.0)


class ToolEngine(KeywordEngine):
    """Looks the question up once, and then finishes."""

    def value(self, field: Any, reading: Any) -> Any:
        has_looked = "bservation" in reading.text
        said = {
            "next_tool_name": "finish" if has_looked else "look_up",
            "next_tool_args": "{}" if has_looked else json.dumps({"name": "thing"}),
        }
        return said.get(field.name) or super().value(field, reading)


def look_up(name: str) -> str:
    """Look a thing up."""
    return f"{name} is known"


def agent() -> Any:
    return dspy.ReAct(Sort, tools=[look_up], max_iters=2)


SHAPES = (SaysText, SaysMapping, OnlyAwaited, Nested, refine, agent)


@pytest.mark.parametrize("make", SHAPES)
def test_programs_of_any_shape_are_compiled_also_in_a_notebook(make: Callable[[], Any], tmp_path: Path) -> None:
    async def cell(program: Any) -> Any:
        return compiled(program, tmp_path, lm_of(ToolEngine()), FEW)

    program = make()
    better = asyncio.run(cell(program))
    assert type(better) is type(program)
    assert better.failures == {}
    assert better.run.baseline.val.na_rate == 0
    assert better.run.baseline.val.f1 > 0.5
    assert examples_offered(better)
    if make is refine:  # which runs copies of another module, as BestOfN does
        programs = [candidate.program for candidate in better.front]
        demos = [demo for made in programs for _, step in made.named_predictors() for demo in step.demos]
        assert all(demo["reasoning"] == demo["question"].split()[0] for demo in demos)
    if make is agent:
        assert set(better.sensitivity_by_step) == {"react", "extract.predict"}
        assert "look_up" in better.react.signature.instructions


def test_sub_modules_that_are_compiled_already_stay_as_they_are_and_a_class_in_one_is_told(tmp_path: Path) -> None:
    program = TwoSteps()
    program.classify = dspy.ChainOfThought(SortByTopic)
    program.classify._compiled = True
    with pytest.raises(InputError, match=r"'label' is a class, but its step classify.predict is in a sub-module"):
        compiled(program, tmp_path)
    better = compiled(program, tmp_path, label_field="label")
    assert set(better.sensitivity_by_step) == {"find_topic"}
    assert better.classify.dump_state() == program.classify.dump_state()


class Event(pydantic.BaseModel):
    title: str
    year: int


class Judge(dspy.Signature):
    """Sort the event by what it asks for."""

    event: Event = dspy.InputField()
    parts: list[Event] = dspy.OutputField()
    label: Literal["Number", "Person"] = dspy.OutputField()


class EventEngine(ShownEngine):
    def value(self, field: Any, reading: Any) -> Any:
        if field.name == "parts":
            return json.dumps([{"title": "a part", "year": 3}])
        return super().value(field, reading)


def events(of: Any) -> list[Any]:
    return [dspy.Example(event=Event(title=one.question, year=7), label=one.label).with_inputs("event") for one in of]


def test_demonstrations_keep_the_objects_of_their_fields(tmp_path: Path) -> None:
    sets = events(TRAIN), events(VAL[:-4]), events(VAL[-4:])
    better = compiled(dspy.Predict(Judge), tmp_path, lm_of(EventEngine()), sets, hold_back="none", num_trials=3)
    demos = [demo for candidate in better.front for demo in candidate.program.demos]
    assert demos
    assert all(isinstance(demo["event"], Event) for demo in demos)
    assert all(demo["parts"] == [Event(title="a part", year=3)] for demo in demos)
    messages = dspy.ChatAdapter().format(Judge, demos[:1], {"event": Event(title="x", year=1)})
    shown = " ".join(str(message["content"]) for message in messages)
    assert "title='" not in shown
    assert '"a part"' in shown


def test_examples_are_offered_where_there_are_some_to_show(tmp_path: Path) -> None:
    def offered(program: Any, name: str, sets: Any) -> list[Any]:
        return examples_offered(compiled(program, tmp_path / name, None, sets))

    long = [one.copy(question=f"{one.question} {'word ' * 300}").with_inputs("question") for one in TRAIN]
    known = [one for one in TRAIN if "when" not in one.question]
    wrong = answered(known, "label", lambda one: {"Number": "Person", "Person": "Number"}[one.label])
    assert offered(predict(), "long", (long, VAL))
    assert offered(chain_of_thought(), "shared", (TRAIN, TRAIN))
    assert not offered(chain_of_thought(), "without a thought", (wrong, VAL))
