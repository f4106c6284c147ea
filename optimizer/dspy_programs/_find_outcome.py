"""Finding the outcome of a program: the output field that is a class."""

from __future__ import annotations

import enum
import types
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union, get_args, get_origin

from psopt.dspy_programs._outcome import NONE, Outcome, as_text
from psopt.errors import InputError
from psopt.tasks import LABELS, NUMBER, TEXT, AnswerSpec, are_mostly_rare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.dspy_programs._outcome import Equivalence


class _Output(NamedTuple):
    step: str
    field: str
    labels: tuple[str, ...]
    spec: AnswerSpec = AnswerSpec()
    is_optional: bool = False


def find_outcome(
    program: Any,
    examples: Sequence[Any],
    label_field: str | None,
    equivalence: Equivalence | None,
    told: AnswerSpec | None = None,
    *,
    has_metric: bool = False,
) -> Outcome:
    """Find the output that is a class: that of the last step that has one; else one of several classes, or a number.

    `told` is what answers are, if the user says it: else the output's type does. With a metric any output will do, and
    examples need not have it: of no class it is text, the same where it is written the same.

    Raises InputError if there is none, or `label_field` is no output.
    """
    outputs = _outputs(program)
    if label_field is not None:
        output = _last_named(outputs, label_field)
    elif has_metric and not _in_examples(_of_class(outputs), examples):
        output = _last_in_examples(outputs, examples)
    else:
        output = _last_of_class(outputs, examples, told)
    if equivalence is not None:
        return Outcome(output.step, output.field, (), equivalence)
    has_references = not has_metric or bool(_in_examples([output], examples))
    spec = _spec(output, examples, told, is_text=_is_text(output, examples, label_field, has_metric=has_metric))
    if not has_references and (told is None or spec.has_labels):
        spec = AnswerSpec(TEXT)
    if spec.is_open and not has_references:
        return Outcome(output.step, output.field, (), spec=spec, has_references=False)
    if spec.is_open:
        labels = output.labels
        if spec.kind == LABELS and not labels:
            labels = _labels_of_sets(examples, output.field)
        return Outcome(output.step, output.field, labels if spec.has_labels else (), spec=spec)
    # The program's own code may make the class, or the type not say what it is.
    labels = output.labels or tuple(sorted({*_values(examples, output.field)}))
    is_optional = any(other.is_optional for other in outputs if other.field == output.field)
    if is_optional and any(output.field in example and example[output.field] is None for example in examples):
        labels = (*labels, NONE)
    if len(labels) < 2:
        fields = ", ".join(other.field for other in outputs)
        raise InputError(
            f"label_field {output.field!r} has fewer than two classes among the examples (outputs: {fields}); "
            "for free text give a metric=.., or answers='text'"
        )
    return Outcome(output.step, output.field, labels)


def _outputs(program: Any) -> list[_Output]:
    """The outputs of all steps, in the order in which the program names them."""
    steps = list(program.named_predictors())
    if not steps:
        raise InputError("the program has no predictor (dspy.Predict or a module built on it): there is nothing to fix")
    return [
        _Output(step, name, *_kind_of(field.annotation), is_optional=type(None) in get_args(field.annotation))
        for step, predictor in steps
        for name, field in predictor.signature.output_fields.items()
    ]


def _of_class(outputs: Sequence[_Output]) -> list[_Output]:
    """The outputs of a type of classes, else those of several classes, else numbers."""
    of_class = [output for output in outputs if len(output.labels) > 1 and not output.spec.is_open]
    of_class = of_class or [output for output in outputs if output.spec.kind == LABELS]
    return of_class or [output for output in outputs if output.spec.kind == NUMBER]


def _in_examples(outputs: Sequence[_Output], examples: Sequence[Any]) -> list[_Output]:
    """Those that all examples have."""
    return [output for output in outputs if all(example.get(output.field) is not None for example in examples)]


def _last_in_examples(outputs: Sequence[_Output], examples: Sequence[Any]) -> _Output:
    """The last output that all examples have; else that of the last step, reasoning left out where it has others."""
    of_last = [output for output in outputs if output.step == outputs[-1].step]
    return (_in_examples(outputs, examples) or of_last)[-1]


def _is_text(output: _Output, examples: Sequence[Any], label_field: str | None, *, has_metric: bool) -> bool:
    """Whether an output is text of its own in each example: one that was named, or that a metric judges."""
    if output.labels or output.spec.is_open or not (has_metric or label_field is not None):
        return False
    n_met = Counter(_values(examples, output.field)).values()
    return bool(n_met) and are_mostly_rare(n_met)


def _last_of_class(outputs: Sequence[_Output], examples: Sequence[Any], told: AnswerSpec | None) -> _Output:
    """The last output of a type of classes, if possible one that all examples have."""
    of_class = _of_class(outputs)
    if told is not None and (not of_class or not told.has_labels):
        of_class = [output for output in outputs if output.spec.kind == told.kind] or [outputs[-1]]
    if not of_class:
        raise InputError(
            "the program has no output of a class: give an output field the type Literal[..], an Enum or bool, "
            "name a field with label_field=.., or give a metric=.. that says what an answer is worth"
        )
    return (_in_examples(of_class, examples) or of_class)[-1]


def _spec(output: _Output, examples: Sequence[Any], told: AnswerSpec | None, *, is_text: bool) -> AnswerSpec:
    """What answers are: as told, else by the type; numbers of which few are met again and again are classes."""
    if told is not None:
        return told
    if is_text:
        return AnswerSpec(TEXT)
    if output.spec.kind != NUMBER:
        return output.spec
    return output.spec if are_mostly_rare(Counter(_values(examples, output.field)).values()) else AnswerSpec()


def _labels_of_sets(examples: Sequence[Any], field: str) -> tuple[str, ...]:
    sets = [example[field] for example in examples if example.get(field) is not None]
    named = {as_text(label) for labels in sets if isinstance(labels, (list, tuple, set, frozenset)) for label in labels}
    return tuple(sorted(named))


def _last_named(outputs: Sequence[_Output], field: str) -> _Output:
    """The last output of a name; one of the program's own making, where no step gives it, counts to the last step."""
    named = [output for output in outputs if output.field == field]
    return named[-1] if named else _Output(outputs[-1].step, field, ())


def _values(examples: Sequence[Any], field: str) -> list[str]:
    """What examples have in a field, as text; those left out that have nothing there."""
    return [as_text(example[field]) for example in examples if example.get(field) is not None]


def _kind_of(annotation: Any) -> tuple[tuple[str, ...], AnswerSpec]:
    """The classes that a type allows, and what an answer of it is.

    >>> _kind_of(list[Literal["a", "b"]]), _kind_of(float)[1].kind
    ((('a', 'b'), AnswerSpec(kind='labels', detail='', measure='')), 'number')
    """
    annotation = _without_none(annotation)
    if get_origin(annotation) in {list, set, frozenset} and labels_of(get_args(annotation)[0]):
        return labels_of(get_args(annotation)[0]), AnswerSpec(LABELS)
    is_number = annotation in (int, float)
    return labels_of(annotation), AnswerSpec(NUMBER) if is_number else AnswerSpec()


def labels_of(annotation: Any) -> tuple[str, ...]:
    """The classes that a type allows; none if it is no type of classes.

    >>> labels_of(Literal["yes", "no"]), labels_of(bool), labels_of(str)
    (('yes', 'no'), ('True', 'False'), ())
    """
    annotation = _without_none(annotation)
    if get_origin(annotation) is Literal:
        return tuple(as_text(value) for value in get_args(annotation))
    if annotation is bool:
        return ("True", "False")
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return tuple(as_text(member) for member in annotation)
    return ()


def _without_none(annotation: Any) -> Any:
    """The type that an optional one allows beside None; None where it allows several."""
    if get_origin(annotation) not in {Union, types.UnionType}:
        return annotation
    rest = [member for member in get_args(annotation) if member is not type(None)]
    return rest[0] if len(rest) == 1 else None
