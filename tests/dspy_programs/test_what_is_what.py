"""What an example is, what a program is, and what a copy is: none is taken for another."""

from __future__ import annotations

import copy
import datetime as dt
import functools
import re
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import dspy
import numpy as np
import pytest
from psopt.dspy_programs._contents import contents, digest_of_program
from psopt.dspy_programs._fingerprint import fingerprint
from psopt.errors import InputError

from tests.dspy_programs.compiling import FEW, Listener, compiled
from tests.dspy_programs.keyword_lm import keyword_lm, n_calls
from tests.dspy_programs.programs_to_mend import Sort, Sorter, examples, predict
from tests.sweeps import each


class Picture:
    """As images are: shown, two of one size look the same."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __repr__(self) -> str:
        return f"Picture({len(self.content)} bytes)"


class Looks(Sorter):
    """Answers by what is in the picture, which its text does not show."""

    def forward(self, pictures: list[Picture]) -> Any:  # type: ignore[override]
        self.sort(question="who ?")
        return dspy.Prediction(label="Person" if b"face" in pictures[0].content else "Number")


def of_pictures(first: int, n: int) -> list[Any]:
    return [
        dspy.Example(pictures=[Picture(b"%s%03d" % (what, number))], label=label).with_inputs("pictures")
        for number in range(first, first + n)
        for what, label in ((b"face", "Person"), (b"sums", "Number"))
    ]


def test_examples_that_read_alike_are_run_each_for_itself(tmp_path: Path) -> None:
    better = compiled(Looks(), tmp_path, None, (of_pictures(0, 8), of_pictures(8, 8)), num_trials=1)
    assert better.run.baseline.val.f1 == 1.0
    assert better.run.baseline.test.f1 == 1.0


def strict(example: Any, prediction: Any, trace: Any = None) -> float:
    return float(example.label == prediction.label)


def test_one_text_with_two_labels_is_right_half_of_the_times(tmp_path: Path) -> None:
    def twice(first: int) -> list[Any]:
        return [
            dspy.Example(question=f"who made thing {number} ?", label=label).with_inputs("question")
            for number in range(first, first + 8)
            for label in ("Person", "Number")
        ]

    sets = twice(0), twice(8), twice(16)
    for name, metric in (("label", None), ("metric", strict)):
        better = compiled(predict(), tmp_path / name, None, sets, metric=metric, num_trials=1)
        assert better.run.baseline.val.f1 == 0.5


class Prefixed(dspy.Module):
    """What it answers depends on what it was made with, on a tool, and on how its step is asked."""

    def __init__(self, prefix: Any = "", tool: Any = str, **config: Any) -> None:
        super().__init__()
        self.prefix, self.tool = prefix, tool
        self.steps = [dspy.Predict(Sort, **config)]

    def forward(self, question: str) -> Any:
        return self.steps[0](question=f"{self.prefix}{self.tool(question)}")


def shouting(text: str) -> str:
    return text.upper()


def whispering(text: str) -> str:
    return text.lower()


def with_constant(end: str) -> Callable[[str], str]:
    return lambda text: text + end


class Whispers(Sorter):
    def forward(self, question: str) -> Any:
        return self.sort(question=question.lower())


OTHER = FEW[0], examples(9, 3)
WITHOUT_FALLBACK = dspy.ChatAdapter(use_json_adapter_fallback=False)


def test_what_decides_answers_is_in_what_a_program_is(tmp_path: Path) -> None:
    """One run after the other in the same folder, each of which differs from the one before it in one thing."""
    asked_otherwise = Whispers()
    asked_otherwise.sort = dspy.Predict(Sort.with_instructions("Say what is asked for."))
    runs: list[tuple[str, Any, Any, str, Any]] = [
        ("nothing before", Prefixed("who: "), FEW, "", None),
        ("", Prefixed("who: "), FEW, "", None),
        ("the program's code", Whispers(), FEW, "", None),
        ("the examples", Whispers(), OTHER, "", None),
        ("its instructions", asked_otherwise, OTHER, "", None),
        ("the language model", asked_otherwise, OTHER, "box 3", None),
        ("the language model", asked_otherwise, OTHER, "box 3", WITHOUT_FALLBACK),
    ]
    for what, program, sets, mumbles, adapter in runs:
        lm, heard = keyword_lm(mumbles=mumbles), Listener()
        with dspy.context(adapter=adapter):
            compiled(program, tmp_path, lm, sets, heard, num_trials=1)
        assert (n_calls(lm) > 0) == bool(what), what
        said = [phase for phase in heard.phases if "evaluated anew" in phase]
        if what in {"", "nothing before"}:
            assert said == []
        else:
            assert f"differs in {what}" in said[0]
    assert len(list(tmp_path.glob("run-earlier-*"))) == 5


def lenient(example: Any, prediction: Any, trace: Any = None) -> float:
    return 1.0 if example.label == prediction.label else 0.5


def test_another_metric_takes_the_place_of_f1_and_s_stays_that_of_the_label(tmp_path: Path) -> None:
    first = compiled(predict(), tmp_path, None, FEW, metric=strict, num_rephrasings=3)
    heard = Listener()
    second = compiled(predict(), tmp_path, None, FEW, heard, metric=lenient, num_rephrasings=3)
    assert any("differs in the metric" in phase for phase in heard.phases)
    one, other = first.run.baseline, second.run.baseline
    assert other.val.f1 == pytest.approx(one.val.f1 + (1 - one.val.f1) / 2)
    assert other.val.sensitivity == one.val.sensitivity > 0
    low, high = other.test.ci["f1"]
    assert low < other.test.f1 < high
    assert (tmp_path / "run-earlier-1" / "run.json").is_file()


def test_what_cant_be_told_is_said_and_evaluated_anew(tmp_path: Path) -> None:
    for _ in range(2):
        lm, heard = keyword_lm(), Listener()
        with (tmp_path / "words.txt").open("w") as file:
            compiled(Prefixed(Holder(file)), tmp_path, lm, FEW, heard, num_trials=1)
        assert n_calls(lm) > 0
        (said,) = [phase for phase in heard.phases if "can't be told" in phase and "differs" not in phase]
        assert "program.prefix.thing (TextIOWrapper)" in said


class Holder:
    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __str__(self) -> str:
        return ""


def test_contents_are_the_same_in_every_process_and_locks_tell_nothing() -> None:
    assert contents(Holder({"b", "a", "c"})) == contents(Holder({"c", "b", "a"}))
    assert contents(Holder(threading.Lock())) == contents(Holder(threading.Lock()))
    assert contents(with_constant("!")) == contents(with_constant("!"))
    assert contents(Prefixed(temperature=0.0)) == contents(Prefixed(temperature=0.0))
    round_about = Holder(None)
    round_about.thing = [round_about]
    text, unknown = contents(round_about)
    assert "again" in text
    assert not unknown
    assert contents({"of": iter([1])}, "given")[1] == ()  # an iterator of a list can be pickled
    assert contents({"of": (number for number in [1])}, "given")[1] == ("given['of'] (generator)",)


class Slotted:
    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing


N_JUDGED = 0


def judged(example: Any, prediction: Any, trace: Any = None) -> Any:
    """A metric that uses what stands beside it, and counts."""
    global N_JUDGED
    N_JUDGED += 1
    return judge(helper.norm(example.label), prediction.label, weights, like)  # type: ignore[name-defined]  # noqa: F821


def beside(**values: Any) -> Any:
    """The metric with other values beside it."""
    around = {"N_JUDGED": 0, "judge": dspy.Predict(Sort), "helper": module("text.upper()"), **values}
    return types.FunctionType(judged.__code__, {"weights": [1], "like": re.compile("a"), **around})


def module(code: str) -> Any:
    """A module of the user's own."""
    made = types.ModuleType("helper")
    made.__file__ = "helper.py"
    exec(f"norm = lambda text: {code}", vars(made))
    return made


class Asks(dspy.Module):
    """Its attributes have the names of those that a step does not answer by."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__()
        self.__dict__.update(attributes)


def step_with(kind: Any) -> Any:
    return dspy.Predict(Sort.with_updated_fields("label", type_=kind))


SHARE, WORD = step_with(float), step_with(Literal["low", "high"])
OTHER_STEP = dspy.Predict(Sort.with_instructions("Be strict."))


def test_counts_and_models_of_a_student_are_no_part_of_it_and_types_are() -> None:
    assert contents(beside()) == contents(beside(N_JUDGED=7))
    assert digest_of_program(predict()) == digest_of_program(OTHER_STEP)
    with dspy.context(lm=keyword_lm()):
        assert fingerprint(SHARE) == fingerprint(step_with(float)) != fingerprint(WORD)


@each(
    "one, other",
    [
        (beside(), beside(judge=OTHER_STEP)),
        (beside(), beside(judge=Asks(lm=dspy.LM("openai/one")))),
        (beside(), beside(helper=module("text.lower()"))),
        (beside(), beside(weights=[2])),
        (predict(), OTHER_STEP),
        (SHARE, WORD),
        (Asks(lm=dspy.LM("openai/one")), Asks(lm=dspy.LM("openai/two"))),
        (dt.date(2026, 1, 1), dt.date(2026, 1, 2)),
        (functools.partial(shouting, "a"), functools.partial(shouting, "b")),
        (shouting, whispering),
        (with_constant("!"), with_constant("?")),
        (lambda text: text, lambda text: text[:9]),
        ([1], [1.0]),
        ([1], [True]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (re.compile("a" * 300 + "b"), re.compile("a" * 300 + "c")),
        (Prefixed(temperature=0.0), Prefixed(temperature=0.9)),
        (Prefixed({"a": [Picture(b"1")]}), Prefixed({"a": [Picture(b"2")]})),
        (np.array([{"a": 1}]), np.array([{"a": 2}])),
        (Slotted([1]), Slotted([2])),
        (dspy.Tool(shouting), dspy.Tool(shouting, name="whispering")),
    ],
)
def test_values_of_every_kind_are_told_apart(one: Any, other: Any) -> None:
    told, unknown = contents(one)
    assert unknown == ()
    assert told == contents(copy.deepcopy(one))[0]
    assert told != contents(other)[0]


class Locked(dspy.Module):
    """Its steps stand in a list beside what can't be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = [threading.Lock(), dspy.Predict(Sort)]
        self.more = {"inner": (threading.Lock(), [dspy.Predict(Sort)])}

    def forward(self, question: str) -> Any:
        return self.steps[1](question=question)


def test_no_copy_shares_a_step_and_the_student_stays_as_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    student = Locked()
    before = student.dump_state()
    student.set_lm(keyword_lm())  # which can't be saved
    better = compiled(student, tmp_path, num_rephrasings=4)
    assert "Failed to deep copy" not in caplog.text
    student.set_lm(None)
    assert student.dump_state() == before
    assert better.run.baseline.val.sensitivity > 0
    assert better.steps[1] is not student.steps[1]
    assert better.steps[0] is student.steps[0]
    assert better.more["inner"][1][0] is not student.more["inner"][1][0]


class Calls(Sorter):
    """Calls its step in a way of its own."""

    def __init__(self, way: Callable[[Any], Any], **attributes: Any) -> None:
        super().__init__()
        self.__dict__.update(attributes)
        self.ask = way(self)

    def forward(self, question: str) -> Any:
        return self.ask(question=question)


@each(
    "way",
    [
        lambda program: lambda question: program.sort(question=question),
        lambda program: lambda question, step=program.sort: step(question=question),
    ],
)
def test_a_step_that_no_edit_reaches_is_told(way: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Calls calls sort through a function .*: call steps by self"):
        compiled(Calls(way), tmp_path)


def test_edits_reach_a_step_by_methods_and_partial_calls_also_beside_a_lock(tmp_path: Path) -> None:
    ways = {"method": lambda program: program.sort.__call__, "partial": lambda program: functools.partial(program.sort)}
    for name, way in ways.items():
        program = Calls(way, lock=threading.Lock())
        better = compiled(program, tmp_path / name, None, FEW, num_trials=1, num_rephrasings=4)
        assert better.run.baseline.val.sensitivity > 0
