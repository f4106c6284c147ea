"""Examples as a task: what a program reads, as text, and its class."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.errors import DataError
from psopt.tasks import DatasetInfo, Sample, Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.dspy_programs._outcome import Outcome


@dataclass(frozen=True)
class Data:
    """The examples of a program.

    Attributes
    ----------
    task : Task
        Their texts and classes.
    examples : mapping of text to dspy.Example
        By which a text is put to the program.
    """

    task: Task
    examples: Mapping[str, Any]


def text_of(example: Any) -> str:
    """What a program reads of an example: the value of its only input, or all of them by name."""
    inputs = dict(example.inputs().items())
    if len(inputs) == 1:
        return str(next(iter(inputs.values())))
    return "\n".join(f"{name}: {value}" for name, value in inputs.items())


def check_examples(name: str, examples: Any) -> list[Any]:
    """Return the examples as a list.

    Raises
    ------
    DataError
        If they are none, or not dspy.Example with inputs.
    """
    import dspy

    found = list(examples if examples is not None else ())
    if not found:
        raise DataError(f"{name} is empty: give some dspy.Example with inputs and a label")
    for number, example in enumerate(found):
        if not isinstance(example, dspy.Example):
            raise DataError(f"{name}[{number}] is no dspy.Example but a {type(example).__name__}")
        try:
            inputs = example.inputs()
        except ValueError:
            inputs = None
        if not inputs:
            raise DataError(f'{name}[{number}] does not say what its inputs are: use example.with_inputs("question")')
    return found


def make_data(
    name: str,
    description: str,
    outcome: Outcome,
    splits: Mapping[str, Sequence[Any]],
    n_rephrasings: int,
) -> Data:
    """Put examples of train, val and test together.

    Raises
    ------
    DataError
        If an example has no class, or one that the program can't give.
    """
    by_text: dict[str, Any] = {}
    samples: dict[str, tuple[Sample, ...]] = {}
    for split, examples in splits.items():
        found = []
        for number, example in enumerate(examples):
            text = text_of(example)
            by_text.setdefault(text, example)
            found.append(Sample(f"{split}-{number}", text, outcome.truth(example, f"{split}set[{number}]")))
        samples[split] = tuple(found)
    rows = [[split, one.text, one.label] for split, of_split in samples.items() for one in of_split]
    digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    noun = next(iter(dict(splits["train"][0].inputs().items()))).replace("_", " ")
    info = DatasetInfo(name, "memory", digest)
    train, val, test = (samples[split] for split in ("train", "val", "test"))
    return Data(Task(name, description, outcome.classes(n_rephrasings), train, val, test, info, noun=noun), by_text)
