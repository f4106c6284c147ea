"""Examples as a task: what a program reads, as text, and the class."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.dspy_programs._contents import contents
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._outcome import MeantOutcome, right_and_others
from psopt.errors import DataError, InputError
from psopt.tasks import ORDINAL, AnswerSpec, DatasetInfo, Sample, Task, in_order
from psopt.text import shortened_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._outcome import Outcome
    from psopt.settings import DataOptions


_LEAST_TO_HALVE = 4  # two examples for each half
# Chosen: two thirds of this many still show where a program is unstable, and a third can show large effects.
_LEAST_TO_TAKE_A_TEST_FROM = 60
_WHITE = re.compile(r"\\[nrt]|\s")  # also as written in JSON
_NAMED = 3  # examples named in an error
_LETTERS = str.maketrans("0123456789", "ghijklmnop")  # digits would look like a private number
_PARTED = 0  # seed of the split: the same examples are set aside for any seed of the search


class Given(NamedTuple):
    """An example and its original place, which errors name regardless of the split it ended up in."""

    example: Any
    place: str


def text_of(example: Any) -> str:
    """What a program reads of an example: the value of its only input, or all inputs by name."""
    inputs = dict(example.inputs().items())
    if len(inputs) == 1:
        return str(next(iter(inputs.values())))
    return "\n".join(f"{name}: {value}" for name, value in inputs.items())


def example_key(example: Any) -> str:
    """What identifies an example, including what a metric uses; the object itself for parts that cannot be read."""
    text, unknown = contents(dict(sorted(example.items())))
    return f"{text} {id(example)}" if unknown else text


def inputs_key(example: Any) -> str:
    """What identifies an example's inputs: all of them, in full."""
    return example_key(example.inputs())


def _bare_key(example: Any) -> str:
    """The key of an example's inputs without white space: examples that differ only in that count as the same."""
    return _WHITE.sub("", inputs_key(example))


def check_examples(name: str, examples: Any) -> list[Given]:
    """Each example with its place in the set `name`; DataError if there are none, or one is no Example with inputs."""
    examples = () if examples is None else examples
    if isinstance(examples, (str, Mapping)) or hasattr(examples, "columns") or not isinstance(examples, Iterable):
        raise DataError(f"{name} is a {type(examples).__name__}: give a list of dspy.Example")
    checked = [Given(example, f"{name}[{number}]") for number, example in enumerate(examples)]
    if not checked:
        raise DataError(f"{name} is empty: give some dspy.Example with inputs and a label")
    for example, place in checked:
        if not isinstance(example, dspy.Example):
            raise DataError(f"{place} is no dspy.Example but a {type(example).__name__}")
        inputs = None
        with contextlib.suppress(ValueError):  # they were never named
            inputs = example.inputs()
        if not inputs:
            raise DataError(f'{place} does not say what its inputs are: use example.with_inputs("question")')
    return checked


def _texts(examples: Sequence[Any]) -> dict[str, str]:
    """The text of each example by its key: what the program reads, with a mark if others read the same."""
    texts = {example_key(example): text_of(example) for example in examples}
    n_alike = Counter(texts.values())
    for key, text in texts.items():
        if n_alike[text] > 1:
            mark = hashlib.sha256(key.encode()).hexdigest()[:8]
            texts[key] = f"{text} [{mark.translate(_LETTERS)}]"
    return texts


def split_examples(trainset: Any, valset: Any, testset: Any) -> dict[str, list[Given]]:
    """Train, val and test; without a valset, val is half of the trainset, drawn at random.

    Test is set aside, because an example that was used for a choice cannot confirm it. It is a third of train if val is
    given and not larger than that, so that programs are still compared on all of val; otherwise half of val. Nor can a
    demonstration be judged by its own example: see `_apart`. Raises DataError if a set cannot be used.
    """
    train = check_examples("trainset", trainset)
    if valset is None:
        n_distinct = _n_distinct(train)
        if n_distinct < _LEAST_TO_HALVE:
            raise DataError(f"trainset holds {n_distinct} examples, too few to take a valset from: give a valset")
        train, val = _parted(train, 2)
    else:
        train, val = _apart(train, check_examples("valset", valset))
    if testset is not None:
        return {"train": train, "val": val, "test": _unseen(check_examples("testset", testset), train, val)}
    if valset is not None and len(train) >= max(len(val), _LEAST_TO_TAKE_A_TEST_FROM):
        remaining, confirming = _parted(train, 3)
        return {"train": remaining, "val": val, "test": confirming}
    if _n_distinct(val) < _LEAST_TO_HALVE:
        return {"train": train, "val": val, "test": val}  # so few confirm nothing anyway
    remaining, confirming = _parted(val, 2)
    return {"train": train, "val": remaining, "test": confirming}


def _n_distinct(examples: list[Given]) -> int:
    return len({inputs_key(entry.example) for entry in examples})


def _unseen(test: list[Given], train: list[Given], val: list[Given]) -> list[Given]:
    """The examples of the testset, none of which may be in train or val."""
    places = {_bare_key(entry.example): entry.place for entry in (*train, *val)}
    shared = [entry for entry in test if _bare_key(entry.example) in places]
    if shared:
        named = shortened_list([f"{entry.place} is {places[_bare_key(entry.example)]}" for entry in shared], _NAMED)
        raise DataError(
            f"{len(shared)} of {len(test)} examples of the testset stand in the other sets ({named}): what a "
            "program was chosen by can't confirm it; give other examples, or no testset and some are set aside"
        )
    return test


def _parted(examples: list[Given], n_parts: int) -> tuple[list[Given], list[Given]]:
    """All parts but one, and that one: drawn at random, in the original order; equal inputs stay together."""
    keys = [inputs_key(entry.example) for entry in examples]
    distinct = [*dict.fromkeys(keys)]
    order = random.Random(_PARTED).sample(range(len(distinct)), len(distinct))  # noqa: S311  # a draw, not a secret
    last = {distinct[place] for place in order[n_parts - 1 :: n_parts]}
    parts: tuple[list[Given], list[Given]] = ([], [])
    for key, entry in zip(keys, examples, strict=True):
        parts[key in last].append(entry)
    return parts


def _apart(train: list[Given], val: list[Given]) -> tuple[list[Given], list[Given]]:
    """Ensure that no example both provides edits and judges them, as with ``valset=trainset``.

    Examples of val are never demonstrations. If more than half of train is also in val, every other shared example
    stays only in train, and the rest only in val.
    """
    ours, theirs = ({inputs_key(entry.example) for entry in examples} for examples in (train, val))
    shared = sorted(ours & theirs)
    if len(shared) <= len(ours) / 2 or len(shared) < _LEAST_TO_HALVE:
        return train, val
    only_train = set(shared[::2])
    only_val = theirs - only_train
    train = [entry for entry in train if inputs_key(entry.example) not in only_val]
    return train, [entry for entry in val if inputs_key(entry.example) not in only_train]


def told_answers(compilation: Compilation) -> AnswerSpec | None:
    """The answer type, if the data or the caller specify it; an order of labels is specified separately."""
    if compilation.task is not None:
        spec = compilation.task.spec
        return spec if spec.is_open else None
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
) -> tuple[Task, dict[str, Any]]:
    """Return the examples of train, val and test as a task, and the example with which each text is run.

    Each example has its own text: if several read the same, because their labels or inputs that are not shown differ,
    each gets a mark at its end. Raises InputError (DataError) for examples without a class that the program can give,
    and where the examples come from a task with other labels.
    """
    texts = _texts([entry.example for entry in chain.from_iterable(splits.values())])
    by_text: dict[str, Any] = {}
    samples: dict[str, list[Sample]] = {"train": [], "val": [], "test": []}
    rows = []
    for split, examples in splits.items():
        for number, (example, place) in enumerate(examples):
            key = example_key(example)
            by_text.setdefault(texts[key], example)
            samples[split].append(Sample(f"{split}-{number}", texts[key], outcome.truth(example, place)))
            rows.append([split, key])
    labels = outcome.labels
    if isinstance(outcome, MeantOutcome):
        labels = right_and_others(compilation.settings.rephrasings)
    name = type(student).__name__.lower()
    task = Task(
        name,
        " ".join(dict(student.named_predictors())[outcome.step].signature.instructions.split()),
        labels,
        tuple(samples["train"]),
        tuple(samples["val"]),
        tuple(samples["test"]),
        DatasetInfo(name, "memory", hashlib.sha256(json.dumps(rows).encode()).hexdigest()),
        noun=next(iter(splits["train"][0].example.inputs().keys())).replace("_", " "),
        answers=str(outcome.spec),
    )
    if compilation.task is None:
        return _ordered(task, outcome, compilation.settings.data), by_text
    return _like(task, compilation.task), by_text


def _like(task: Task, source: Task) -> Task:
    """The program's task as part of the one that its examples come from."""
    if set(source.labels) != set(task.labels):
        raise InputError(
            f"the program's labels are {', '.join(task.labels)}; the data's are {', '.join(source.labels)}"
        )
    if source.positions:
        task = replace(task, labels=source.labels, positions=source.positions)
    return replace(task, name=source.name, definitions=source.definitions, noun=source.noun, info=source.info)


def _ordered(task: Task, outcome: Outcome, told: DataOptions) -> Task:
    """The task with its labels in the specified order."""
    if told.answers != ORDINAL:
        return task
    if isinstance(outcome, MeantOutcome):
        raise InputError("answers='ordinal' is for labels, and an equivalence for free text: give one of them")
    labels, positions = in_order("the program's labels", task.labels, told.order)
    return replace(task, labels=labels, positions=positions)
