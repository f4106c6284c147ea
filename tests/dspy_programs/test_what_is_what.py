"""What an example is, what a program is, and what a copy is: none is taken for another."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import functools
import pathlib
import re
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

dspy: Any = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

from psopt import SensitivityOptimizer  # noqa: E402
from psopt.dspy_programs._contents import contents  # noqa: E402
from psopt.errors import InputError  # noqa: E402

from tests.dspy_programs.conftest import Listener  # noqa: E402
from tests.dspy_programs.keyword_lm import KeywordEngine, keyword_lm, n_calls  # noqa: E402
from tests.dspy_programs.programs_to_mend import Sort, examples, predict  # noqa: E402
from tests.sweeps import each  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRAIN, VAL = examples(0, 3), examples(5, 3)


def compiled(program: Any, folder: Path, lm: Any = None, given: Any = (TRAIN, VAL), **options: Any) -> Any:
    settings = {"num_trials": 2, "num_rephrasings": 2, "log_dir": folder / "run", "num_threads": 2, "gate": "off"}
    observer = options.pop("observer", None)
    with dspy.context(lm=lm or keyword_lm()):
        optimizer = SensitivityOptimizer(**{**settings, **options})
        sets = dict(zip(("trainset", "valset", "testset"), given, strict=False))
        return optimizer.compile(program, **sets, observer=observer)


class Picture:
    """As images are: shown, two of one size look the same."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __repr__(self) -> str:
        return f"Picture({len(self.content)} bytes)"


class Looks(dspy.Module):
    """Answers by what is in the picture, which its text does not show."""

    def __init__(self) -> None:
        super().__init__()
        self.sort = dspy.Predict(Sort)

    def forward(self, pictures: list[Picture]) -> Any:
        self.sort(question="who ?")
        return dspy.Prediction(label="Person" if b"face" in pictures[0].content else "Number")


def of_pictures(first: int, n: int) -> list[Any]:
    return [
        dspy.Example(pictures=[Picture(b"%s%03d" % (what, number))], label=label).with_inputs("pictures")
        for number in range(first, first + n)
        for what, label in ((b"face", "Person"), (b"sums", "Number"))
    ]


def test_examples_that_read_alike_are_run_each_for_itself(tmp_path: Path) -> None:
    better = compiled(Looks(), tmp_path, given=(of_pictures(0, 8), of_pictures(8, 8)))
    assert better.run.baseline.val.f1 == 1.0
    assert better.run.baseline.test.f1 == 1.0


def by_label(example: Any, prediction: Any, trace: Any = None) -> bool:
    return bool(example.label == prediction.label)


@pytest.mark.parametrize("metric", [None, by_label])
def test_one_text_with_two_labels_is_right_half_of_the_times(metric: Any, tmp_path: Path) -> None:
    def twice(first: int) -> list[Any]:
        return [
            dspy.Example(question=f"who made thing {number} ?", label=label).with_inputs("question")
            for number in range(first, first + 8)
            for label in ("Person", "Number")
        ]

    better = compiled(predict(), tmp_path, given=(twice(0), twice(8), twice(16)), metric=metric)
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


class Engine(KeywordEngine):
    def __init__(self, bias: str = "") -> None:
        super().__init__(mumbles=bias)
        self.bias = bias


def lm_with(bias: str) -> Any:
    return dspy.LM("test/keywords", engine=Engine(bias), cache=False, num_retries=0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda: Prefixed("who: "), lambda: Prefixed("how many: ")),
        (lambda: Prefixed(tool=with_constant("!")), lambda: Prefixed(tool=with_constant("?"))),
        (lambda: Prefixed(temperature=0.0), lambda: Prefixed(temperature=0.9)),
    ],
)
def test_what_decides_answers_is_in_what_a_program_is(
    first: Callable[[], Any], second: Callable[[], Any], tmp_path: Path
) -> None:
    def run(program: Any) -> tuple[int, list[str]]:
        lm, heard = keyword_lm(), Listener()
        compiled(program, tmp_path, lm, observer=heard)
        return n_calls(lm), [phase for phase in heard.phases if "evaluated anew" in phase]

    n_first, _ = run(first())
    assert n_first > 0
    assert run(first()) == (0, [])
    n_second, said = run(second())
    assert n_second > 0
    assert len(said) == 1
    assert "the program's code" in said[0]


def test_an_engine_and_an_adapter_are_told_by_their_settings(tmp_path: Path) -> None:
    lm = lm_with("")
    compiled(predict(), tmp_path, lm)
    again, other = lm_with(""), lm_with("box 3")
    compiled(predict(), tmp_path, again)
    compiled(predict(), tmp_path, other)
    assert (n_calls(again), n_calls(other) > 0) == (0, True)
    third = lm_with("box 3")
    with dspy.context(adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        compiled(predict(), tmp_path, third)
    assert n_calls(third) > 0


def test_what_cant_be_told_is_said_and_evaluated_anew(tmp_path: Path) -> None:
    for _ in range(2):
        lm, heard = keyword_lm(), Listener()
        with (tmp_path / "words.txt").open("w") as file:
            compiled(Prefixed(Holder(file)), tmp_path, lm, observer=heard)
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
    assert contents([1]) != contents([1.0]) != contents([True])
    assert contents(re.compile("a" * 300 + "b")) != contents(re.compile("a" * 300 + "c"))
    assert contents({"a": 1, "b": 2}) != contents({"b": 2, "a": 1})
    assert len({contents(function) for function in (lambda text: text, lambda text: text[:9])}) == 2
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


@each(
    "one, other",
    [
        (dt.date(2026, 1, 1), dt.date(2026, 1, 2)),
        (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
        (pathlib.PurePosixPath("a"), pathlib.PurePosixPath("b")),
        (re.compile("a"), re.compile("a", re.IGNORECASE)),
        (functools.partial(shouting, "a"), functools.partial(shouting, "b")),
        (shouting, whispering),
        (functools.cache(shouting), functools.cache(whispering)),
        (Prefixed({"a": [Picture(b"1")]}), Prefixed({"a": [Picture(b"2")]})),
        (dspy.Tool(shouting), dspy.Tool(whispering, name="shouting")),
        (np.float64(1), np.float64(2)),
        (np.arange(3), np.arange(3.0)),
        (np.array([{"a": 1}]), np.array([{"a": 2}])),
        (Slotted([1]), Slotted([2])),
        (dspy.Example(a=1), dspy.Example(a=2)),
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


def test_no_copy_shares_a_step_and_the_student_stays_as_it_is(tmp_path: Path) -> None:
    student = Locked()
    before = student.dump_state()
    better = compiled(student, tmp_path, num_trials=4, num_rephrasings=4)
    assert student.dump_state() == before
    assert better.run.baseline.val.sensitivity > 0
    assert better.steps[1] is not student.steps[1]
    assert better.steps[0] is student.steps[0]
    assert better.more["inner"][1][0] is not student.more["inner"][1][0]


class Stubborn(Locked):
    def deepcopy(self) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("no")


class Kept(list[Any]):
    """A list of one's own kind, which shares what is in it."""

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def test_where_a_step_would_be_shared_all_the_same_one_line_names_it(tmp_path: Path) -> None:
    student = Locked()
    student.steps = Kept(student.steps)
    with pytest.raises(InputError, match=r"Locked.steps\[1\] can't be copied"):
        compiled(student, tmp_path)
    assert compiled(Stubborn(), tmp_path / "stubborn").steps[1] is not None
    step = dspy.Predict(Sort)
    student.steps = [step]
    student.ask = lambda question: step(question=question)
    with pytest.raises(InputError, match=r"Locked.ask can't be copied: .*call steps by self"):
        compiled(student, tmp_path)
