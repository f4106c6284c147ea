"""The outcome of a program: which step gives the class, in which field, and what the classes are."""

from __future__ import annotations

import enum
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from psopt.errors import DataError, InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

Equivalence = Callable[[str, str], bool]
RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is taken for a program's answer.

    Attributes
    ----------
    step : str
        The predictor that gives it, by its name in the program.
    field : str
        The field of the prediction, and of the examples.
    labels : tuple of str
        The classes; none for free text, of which an `equivalence` tells what means the same.
    equivalence : callable or None
    """

    step: str
    field: str
    labels: tuple[str, ...]
    equivalence: Equivalence | None = None

    def classes(self, n_rephrasings: int) -> tuple[str, ...]:
        """The classes that predictions are counted in; free text is right, or one of several other answers."""
        return self.labels or (RIGHT, *(f"other answer {number}" for number in range(1, n_rephrasings + 1)))

    def truth(self, example: Any, where: str) -> str:
        """The class of an example.

        Raises
        ------
        DataError
            If the example has none, or one that the program can't give.
        """
        if example.get(self.field) is None:
            known = ", ".join(sorted(example.keys()))
            raise DataError(f"{where} has no {self.field!r}, which the program is to predict; it has {known}")
        label = as_text(example[self.field])
        if self.labels and label not in self.labels:
            hint = nearest(label, self.labels) or f"; the program knows {', '.join(self.labels)}"
            raise DataError(f"{where}: {self.field} {label!r} is none of the program's labels{hint}")
        return label if self.labels else RIGHT


def find_outcome(
    program: Any, examples: Sequence[Any], label_field: str | None, equivalence: Equivalence | None
) -> Outcome:
    """Find the output that is a class: that of the last step that has one.

    Raises
    ------
    InputError
        If there is none, or `label_field` is no output.
    """
    steps = list(program.named_predictors())
    if not steps:
        raise InputError(
            "the program has no predictor (dspy.Predict or a module built on it): there is nothing to mend"
        )
    fields = [
        (step, name, labels_of(field.annotation))
        for step, predictor in steps
        for name, field in predictor.signature.output_fields.items()
    ]
    if label_field is None:
        of_class = [one for one in fields if len(one[2]) > 1]
        if not of_class:
            raise InputError(
                "the program has no output of a class: give an output field the type Literal[..], an Enum or bool, "
                "or name a field with label_field=.."
            )
        shown = [one for one in of_class if all(one[1] in example for example in examples)]
        step, label_field, labels = (shown or of_class)[-1]
    else:
        named = [one for one in fields if one[1] == label_field]
        step, labels = (named[-1][0], named[-1][2]) if named else (steps[-1][0], ())
    if equivalence is not None:
        return Outcome(step, label_field, (), equivalence)
    if not labels:  # the program's own code may make the class, or the type not say it
        found = {as_text(example[label_field]) for example in examples if example.get(label_field) is not None}
        labels = tuple(sorted(found))
    if len(labels) < 2:
        known = ", ".join(name for _, name, _ in fields)
        raise InputError(
            f"label_field {label_field!r} has fewer than two classes among the examples (outputs: {known}); "
            "for free text give equivalence=.."
        )
    return Outcome(step, label_field, labels)


def labels_of(annotation: Any) -> tuple[str, ...]:
    """The classes that a type allows; none if it is no type of classes.

    >>> labels_of(Literal["yes", "no"]), labels_of(bool), labels_of(str)
    (('yes', 'no'), ('True', 'False'), ())
    """
    if get_origin(annotation) in {Union, types.UnionType}:
        rest = [one for one in get_args(annotation) if one is not type(None)]
        return labels_of(rest[0]) if len(rest) == 1 else ()
    if get_origin(annotation) is Literal:
        return tuple(as_text(value) for value in get_args(annotation))
    if annotation is bool:
        return ("True", "False")
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return tuple(as_text(member) for member in annotation)
    return ()


def as_text(value: Any) -> str:
    """A class as text: an Enum by its value."""
    return str(value.value if isinstance(value, enum.Enum) else value).strip()
