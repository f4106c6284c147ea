"""Programs of every shape that DSPy knows, and demonstrations that keep their types."""

from __future__ import annotations

import enum
import json
from typing import TYPE_CHECKING, Any, Literal

import pytest

dspy: Any = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

import pydantic  # noqa: E402
from psopt import SensitivityOptimizer  # noqa: E402

from tests.dspy_programs.keyword_lm import KeywordEngine, ShownEngine, keyword_lm  # noqa: E402
from tests.dspy_programs.programs_to_mend import (  # noqa: E402
    Sort,
    SortByTopic,
    Topic,
    TwoSteps,
    chain_of_thought,
    examples,
    predict,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRAIN, VAL = examples(0, 4), examples(5, 5)


def compiled(program: Any, folder: Path, train: Any = None, val: Any = None, lm: Any = None, **options: Any) -> Any:
    given = {"num_trials": 3, "num_rephrasings": 3, "log_dir": folder / "run", "num_threads": 2, "gate": "off"}
    with dspy.context(lm=lm or keyword_lm()):
        optimizer = SensitivityOptimizer(**{**given, **options})
        val = val or VAL
        apart = {} if val is train else {"valset": val[:-4], "testset": val[-4:]}
        return optimizer.compile(program, trainset=train or TRAIN, **{"valset": val, **apart})


class SaysText(dspy.Module):
    """Its `forward` returns the class itself."""

    def __init__(self) -> None:
        super().__init__()
        self.sort = dspy.Predict(Sort)

    def forward(self, question: str) -> str:
        return str(self.sort(question=question).label)


class SaysMapping(SaysText):
    def forward(self, question: str) -> Any:
        return {"label": super().forward(question)}


class OnlyAwaited(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sort = dspy.Predict(Sort)

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


def best_of_n() -> Any:
    return dspy.BestOfN(module=dspy.ChainOfThought(Sort), N=2, reward_fn=has_label, threshold=1.0)


def refine() -> Any:
    return dspy.Refine(module=dspy.ChainOfThought(Sort), N=2, reward_fn=has_label, threshold=1.0)


@pytest.mark.parametrize("make", [SaysText, SaysMapping, OnlyAwaited, Nested, best_of_n, refine])
def test_programs_of_any_shape_are_compiled(make: Callable[[], Any], tmp_path: Path) -> None:
    program = make()
    better = compiled(program, tmp_path)
    assert type(better) is type(program)
    assert better.failures == {}
    assert better.run.baseline.val.na_rate == 0
    assert better.run.baseline.val.f1 > 0.5
    assert any(edit["kind"] == "example" for edit in _pool(tmp_path))
    if make in {best_of_n, refine}:  # which run copies of other modules
        programs = [candidate.program for candidate in better.front]
        demos = [demo for made in programs for _, step in made.named_predictors() for demo in step.demos]
        assert all(demo["reasoning"] == demo["question"].split()[0] for demo in demos)


def test_the_labels_are_named_to_the_step_that_gives_them_and_by_its_own_input(tmp_path: Path) -> None:
    lm = keyword_lm()
    compiled(TwoSteps(), tmp_path, lm=lm)
    asked = {False: set[str](), True: set[str]()}
    for reading in lm._engine_spec.seen:
        asked[bool(reading.outputs[-1].labels)].add(reading.description)
    assert "Classify the topic as Number or Person." in asked[True]
    assert not any("Number" in description for description in asked[False])


def _pool(folder: Path) -> Any:
    return json.loads((folder / "run" / "proposals.json").read_text())["edits"]


class ToolEngine(KeywordEngine):
    """Looks the question up once, and then finishes."""

    def value(self, field: Any, reading: Any) -> Any:
        if field.name == "next_tool_name":
            return "finish" if "Observation" in reading.text or "observation" in reading.text else "look_up"
        if field.name == "next_tool_args":
            return "{}" if "bservation" in reading.text else json.dumps({"name": "thing"})
        if field.name == "generated_code":
            return "```python\nSUBMIT({'answer': 1})\n```"
        return super().value(field, reading)


class AsyncToolEngine(ToolEngine):
    async def complete(self, request: Any) -> Any:
        return ToolEngine.complete(self, request)


def tool_lm() -> Any:
    engines = {"engine": ToolEngine(), "async_engine": AsyncToolEngine()}
    return dspy.LM("test/tools", **engines, cache=False, num_retries=0)


def look_up(name: str) -> str:
    """Look a thing up."""
    return f"{name} is known"


def test_an_agent_with_tools_is_compiled(tmp_path: Path) -> None:
    better = compiled(
        dspy.ReAct(Sort, tools=[look_up], max_iters=2), tmp_path, lm=tool_lm(), num_trials=2, num_rephrasings=2
    )
    assert set(better.sensitivity_by_step) == {"react", "extract.predict"}
    assert better.run.baseline.val.na_rate == 0
    assert "look_up" in better.react.signature.instructions


class Interpreter:
    """Runs nothing, and answers what code would."""

    def __init__(self) -> None:
        self.tools: dict[str, Any] = {}

    def start(self) -> None: ...

    def shutdown(self) -> None: ...

    def execute(self, code: str, variables: Any = None) -> Any:
        return "1"


def test_a_program_of_thought_is_compiled(tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match="ProgramOfThought"):
        program = dspy.ProgramOfThought(Sort, max_iters=1, interpreter_factory=Interpreter)
    better = compiled(program, tmp_path, lm=tool_lm(), num_trials=2, num_rephrasings=2)
    assert better.failures == {}
    assert better.run.baseline.val.na_rate == 0


def test_sub_modules_that_are_compiled_already_stay_as_they_are(tmp_path: Path) -> None:
    frozen = dspy.ChainOfThought(Topic)
    frozen._compiled = True

    class Partly(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.find_topic = frozen
            self.classify = dspy.Predict(SortByTopic)

        def forward(self, question: str) -> Any:
            return self.classify(topic=self.find_topic(question=question).topic)

    better = compiled(Partly(), tmp_path)
    assert set(better.sensitivity_by_step) == {"classify"}
    assert better.find_topic.dump_state() == frozen.dump_state()


class Stars(enum.IntEnum):
    LOW = 1
    HIGH = 2


class StarsEngine(KeywordEngine):
    """Gives a number of stars, as an int where JSON is asked for."""

    def value(self, field: Any, reading: Any) -> Any:
        if field.name != "stars":
            return super().value(field, reading)
        return 2 if "who" in reading.text or "name of" in reading.text else 1


@pytest.mark.parametrize("given", [Stars, int])
def test_a_class_of_numbered_stars(given: Any, tmp_path: Path) -> None:
    signature = dspy.Signature(
        {"question": (str, dspy.InputField()), "stars": (Stars, dspy.OutputField())}, "Judge the question."
    )

    def rated(of: Any) -> list[Any]:
        stars = [given(1 + (one.label == "Person")) for one in of]
        return [
            dspy.Example(question=one.question, stars=n).with_inputs("question")
            for one, n in zip(of, stars, strict=True)
        ]

    lm = dspy.LM("test/stars", engine=StarsEngine(), cache=False, num_retries=0)
    with dspy.context(adapter=dspy.JSONAdapter()):
        better = compiled(dspy.ChainOfThought(signature), tmp_path, rated(TRAIN), rated(VAL), lm)
    assert better.run.baseline.val.f1 == 1
    pool = [edit for edit in _pool(tmp_path) if edit["kind"] == "example"]
    assert {edit["label"] for edit in pool} <= {"1", "2"}


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


def test_demonstrations_keep_the_objects_of_their_fields(tmp_path: Path) -> None:
    def events(of: Any) -> list[Any]:
        return [
            dspy.Example(event=Event(title=one.question, year=7), label=one.label).with_inputs("event") for one in of
        ]

    lm = dspy.LM("test/events", engine=EventEngine(), cache=False, num_retries=0)
    better = compiled(
        dspy.Predict(Judge), tmp_path, events(TRAIN), events(VAL), lm, hold_back="none", num_rephrasings=2
    )
    demos = [demo for candidate in better.front for demo in candidate.program.demos]
    assert demos
    assert all(isinstance(demo["event"], Event) for demo in demos)
    assert all(demo["parts"] == [Event(title="a part", year=3)] for demo in demos)
    messages = dspy.ChatAdapter().format(Judge, demos[:1], {"event": Event(title="x", year=1)})
    shown = " ".join(str(message["content"]) for message in messages)
    assert "title='" not in shown
    assert '"a part"' in shown


def test_long_inputs_may_be_demonstrations_where_most_are_long(tmp_path: Path) -> None:
    long = [
        dspy.Example(question=f"{one.question} {'word ' * 300}", label=one.label).with_inputs("question")
        for one in TRAIN
    ]
    compiled(predict(), tmp_path, long)
    assert any(edit["kind"] == "example" for edit in _pool(tmp_path))


def test_the_valset_may_be_the_trainset(tmp_path: Path) -> None:
    better = compiled(chain_of_thought(), tmp_path, TRAIN, TRAIN)
    assert better.run.finish_reason
    assert any(edit["kind"] == "example" for edit in _pool(tmp_path))


def test_a_chain_of_thought_that_gets_nothing_right_has_no_demonstrations(tmp_path: Path) -> None:
    wrong = [
        dspy.Example(question=one.question, label={"Number": "Person", "Person": "Number"}[one.label]).with_inputs(
            "question"
        )
        for one in TRAIN
        if "when" not in one.question
    ]
    better = compiled(chain_of_thought(), tmp_path, wrong)
    assert better.run.finish_reason
    assert not any(edit["kind"] == "example" for edit in _pool(tmp_path))


def test_a_named_output_of_different_texts_is_text(tmp_path: Path) -> None:
    def topics(of: Any) -> list[Any]:
        return [
            dspy.Example(question=one.question, topic=f"{one.question[:3]} {number}").with_inputs("question")
            for number, one in enumerate(of)
        ]

    better = compiled(dspy.Predict(Topic), tmp_path, topics(TRAIN), topics(VAL), label_field="topic")
    assert better.run.baseline.val.quality_name == "exact match"
