"""Examples as a task: what a program reads, as text, and its class."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.dspy_programs._contents import contents
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._outcome import MeantOutcome, right_and_others
from psopt.errors import DataError, InputError
from psopt.tasks import ORDINAL, AnswerSpec, DatasetInfo, Sample, Task, in_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._outcome import Outcome
    from psopt.settings import DataOptions


_LEAST_TO_HALVE = 4  # two examples for val and two for test
# Chosen: two thirds of so many still tell where a program is unstable, and a third can tell large effects.
_LEAST_TO_TAKE_A_TEST_FROM = 60
_WHITE = re.compile(r"\\[nrt]|\s")  # as JSON writes it, too
_NAMED = 3  # examples that an error names
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
_PARTED = 0  # seeds the parts: the same examples are set aside, whatever the seed of the search


class Given(NamedTuple):
    """An example, and where it was given: errors name that, whichever split it has come to."""

    example: Any
    place: str


@dataclass(frozen=True)
class ProgramData:
    """The examples of a program."""

    task: Task  # their texts and classes
    # By which a text is put to the program. Each example has a text of its own: where several read alike, be it that
    # their inputs differ in what is not shown or that their labels do, each has a mark behind it.
    examples: Mapping[str, Any]


def text_of(example: Any) -> str:
    """What a program reads of an example: the value of its only input, or all of them by name."""
    inputs = dict(example.inputs().items())
    if len(inputs) == 1:
        return str(next(iter(inputs.values())))
    return "\n".join(f"{name}: {value}" for name, value in inputs.items())


def example_key(example: Any) -> str:
    """What tells an example from others, with what a metric judges by; of what can't be told, the example itself."""
    text, unknown = contents(dict(sorted(example.items())))
    return f"{text} {id(example)}" if unknown else text


def inputs_key(example: Any) -> str:
    """What tells an example's inputs from others: all of them, in full."""
    return example_key(example.inputs())


def _bare_key(example: Any) -> str:
    """The key of an example's inputs without white space: what differs in no more is no new example."""
    return _WHITE.sub("", inputs_key(example))


def check_examples(name: str, examples: Any) -> list[Given]:
    """Return the examples as a list, each with its place in what is called so.

    Raises DataError if they are none, or not dspy.Example with inputs.
    """
    examples = examples if examples is not None else ()
    checked = [Given(example, f"{name}[{number}]") for number, example in enumerate(examples)]
    if not checked:
        raise DataError(f"{name} is empty: give some dspy.Example with inputs and a label")
    for example, place in checked:
        if not isinstance(example, dspy.Example):
            raise DataError(f"{place} is no dspy.Example but a {type(example).__name__}")
        try:
            inputs = example.inputs()
        except ValueError:
            inputs = None
        if not inputs:
            raise DataError(f'{place} does not say what its inputs are: use example.with_inputs("question")')
    return checked


def _texts(examples: Sequence[Any]) -> dict[str, str]:
    """The text of each example by its key: what the program reads, with a mark where others read the same."""
    texts = {example_key(example): text_of(example) for example in examples}
    n_alike = Counter(texts.values())
    return {key: text if n_alike[text] == 1 else f"{text} [{_mark(key)}]" for key, text in texts.items()}


def _mark(key: str) -> str:
    """Letters alone: figures would look like somebody's number."""
    return hashlib.sha256(key.encode()).hexdigest()[:8].translate(_LETTERS)


def split_examples(trainset: Any, valset: Any, testset: Any) -> dict[str, list[Given]]:
    """Train, val and test; val is every other example of the trainset where there is none.

    Test is set aside, for what is chosen on an example can't be confirmed by it: a third of train where val is given
    and no larger than that, so that programs are still compared on all of val; else a half of val. Nor can a
    demonstration be judged by its own example: see `_apart`.

    Raises DataError if a set is empty or too small, or an example of the testset stands in another set too.
    """
    train = check_examples("trainset", trainset)
    if valset is None:
        if len(train) < 4:
            raise DataError(f"trainset holds {len(train)} examples, too few to take a valset from: give a valset")
        train, val = train[::2], train[1::2]
    else:
        train, val = _apart(train, check_examples("valset", valset))
    if testset is not None:
        return {"train": train, "val": val, "test": _unseen(check_examples("testset", testset), train, val)}
    if valset is not None and len(train) >= max(len(val), _LEAST_TO_TAKE_A_TEST_FROM):
        remaining, confirming = _parted(train, 3)
        return {"train": remaining, "val": val, "test": confirming}
    if len(val) < _LEAST_TO_HALVE:
        return {"train": train, "val": val, "test": val}  # so few confirm nothing, whichever they are
    remaining, confirming = _parted(val, 2)
    return {"train": train, "val": remaining, "test": confirming}


def _unseen(test: list[Given], train: list[Given], val: list[Given]) -> list[Given]:
    """The examples of the testset, none of which may stand in train or val."""
    places = {_bare_key(entry.example): entry.place for entry in (*train, *val)}
    shared = [entry for entry in test if _bare_key(entry.example) in places]
    if shared:
        named = ", ".join(f"{entry.place} is {places[_bare_key(entry.example)]}" for entry in shared[:_NAMED])
        more = ", .." if len(shared) > _NAMED else ""
        raise DataError(
            f"{len(shared)} of {len(test)} examples of the testset stand in the other sets ({named}{more}): what a "
            "program was chosen by can't confirm it; give other examples, or no testset and some are set aside"
        )
    return test


def _parted(examples: list[Given], n_parts: int) -> tuple[list[Given], list[Given]]:
    """All parts but one, and that one: drawn by chance, in the order that they had; equal inputs stay together."""
    keys = [inputs_key(entry.example) for entry in examples]
    distinct = [*dict.fromkeys(keys)]
    order = random.Random(_PARTED).sample(range(len(distinct)), len(distinct))  # noqa: S311  # a draw, no secret
    last = {distinct[place] for place in order[n_parts - 1 :: n_parts]}
    parts: tuple[list[Given], list[Given]] = ([], [])
    for key, entry in zip(keys, examples, strict=True):
        parts[key in last].append(entry)
    return parts


def _apart(train: list[Given], val: list[Given]) -> tuple[list[Given], list[Given]]:
    """Let no example be drawn from and judged by, as where ``valset=trainset``.

    An example of val is no demonstration. Where more than half of train stands in val too, every other shared example
    stays in train alone, and the rest in val alone.
    """
    ours, theirs = ({inputs_key(entry.example) for entry in examples} for examples in (train, val))
    shared = sorted(ours & theirs)
    if len(shared) <= len(ours) / 2 or len(shared) < _LEAST_TO_HALVE:
        return train, val
    reserved = set(shared[::2])
    return (
        [entry for entry in train if inputs_key(entry.example) not in theirs or inputs_key(entry.example) in reserved],
        [entry for entry in val if inputs_key(entry.example) not in reserved],
    )


def told_answers(compilation: Compilation) -> AnswerSpec | None:
    """What answers are, if that was said, by the data or by the caller; an order of labels is told apart."""
    if compilation.task is not None:
        return compilation.task.spec if compilation.task.spec.is_open else None
    told = compilation.settings.data.answers
    if told is None or told == ORDINAL:
        return None
    if compilation.equivalence is not None:
        raise InputError(f"answers={told!r} says when two answers are the same, and so does equivalence: give one")
    spec = AnswerSpec.read("SensitivityOptimizer", told)
    if compilation.metric is not None and spec.measure and not spec.is_exact:
        raise InputError(f"answers={told!r} says what an answer is worth, and so does metric: give one of them")
    return spec


def program_data(
    student: Any, outcome: Outcome, splits: Mapping[str, Sequence[Given]], compilation: Compilation
) -> ProgramData:
    """Return the examples of train, val and test as a task; where they come from one, with labels checked by its own.

    Raises DataError if an example has no class, or one that the program can't give. Raises InputError if the labels are
    not the task's.
    """
    texts = _texts([entry.example for examples in splits.values() for entry in examples])
    by_text: dict[str, Any] = {}
    samples: dict[str, tuple[Sample, ...]] = {}
    rows = []
    for split, examples in splits.items():
        of_split = []
        for number, (example, place) in enumerate(examples):
            key = example_key(example)
            by_text.setdefault(texts[key], example)
            of_split.append(Sample(f"{split}-{number}", texts[key], outcome.truth(example, place)))
            rows.append([split, key])
        samples[split] = tuple(of_split)
    name = type(student).__name__.lower()
    is_by_meaning = isinstance(outcome, MeantOutcome)
    task = Task(
        name,
        " ".join(dict(student.named_predictors())[outcome.step].signature.instructions.split()),
        right_and_others(compilation.settings.rephrasings) if is_by_meaning else outcome.labels,
        samples["train"],
        samples["val"],
        samples["test"],
        DatasetInfo(name, "memory", hashlib.sha256(json.dumps(rows).encode()).hexdigest()),
        noun=next(iter(dict(splits["train"][0].example.inputs().items()))).replace("_", " "),
        answers=str(outcome.spec),
    )
    like = compilation.task
    if like is None:
        return ProgramData(_ordered(task, outcome, compilation.settings.data), by_text)
    if set(like.labels) != set(task.labels):
        raise InputError(f"the program's labels are {', '.join(task.labels)}; the data's are {', '.join(like.labels)}")
    task = replace(
        task,
        name=like.name,
        labels=like.labels if like.positions else task.labels,
        positions=like.positions,
        definitions=like.definitions,
        noun=like.noun,
        info=like.info,
    )
    return ProgramData(task, by_text)


def _ordered(task: Task, outcome: Outcome, told: DataOptions) -> Task:
    """The task with its labels in the order that was told."""
    if told.answers != ORDINAL:
        return task
    if isinstance(outcome, MeantOutcome):
        raise InputError("answers='ordinal' is for labels, and an equivalence for free text: give one of them")
    labels, positions = in_order("the program's labels", task.labels, told.order)
    return replace(task, labels=labels, positions=positions)
