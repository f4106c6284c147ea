"""The outcome of a program: the output that is its answer, how to find it, its classes, and its score by a metric."""

from __future__ import annotations

import contextlib
import enum
import inspect
import json
import types
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from psopt.answers import AnswerType, code_of
from psopt.dspy_programs._dspy import dspy
from psopt.errors import DataError, InputError, nearest
from psopt.tasks import LABELS, NUMBER, TEXT, AnswerSpec, are_mostly_rare, as_reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


Equivalence = Callable[[str, str], bool]
RIGHT = "right"
NONE = str(None)
_ONE_LABEL = AnswerSpec()
_SETS = (list, tuple, set, frozenset)


@dataclass(frozen=True)
class Outcome:
    """The part of a program's output that is its answer: one label, or what `spec` says."""

    step: str  # the predictor that gives it, by its name in the program
    field: str  # the field of the prediction, and of the examples
    labels: tuple[str, ...] = ()  # what answers may name; none for free text
    spec: AnswerSpec = _ONE_LABEL  # the answer type, if not a single label
    is_optional: bool = False  # whether its type allows None too

    @property
    def takes_none(self) -> bool:
        """Whether giving no label is an answer, as with ``Optional[Literal[..]]``."""
        return NONE in self.labels

    def truth(self, example: Any, where: str) -> str:
        """The class of an example; raises DataError if it has none, or one that the program cannot give."""
        if example.get(self.field) is None and not (self.takes_none and self.field in example):
            fields = ", ".join(sorted(name for name, value in example.items() if value is not None))
            raise DataError(f"{where} has no {self.field!r}, which the program is to predict; it has {fields}")
        answer = as_text(example[self.field])
        label = self.read(answer)
        if label is None:
            raise DataError(f"{where}: {self.field} {self._why_unread(answer)}")
        return label

    def read(self, answer: str | None) -> str | None:
        """The class of an answer, or its canonical form; None if it names no class and is not readable."""
        if self.spec.is_open:
            return as_reference(answer, self.spec, self.labels)
        return answer if answer in self.labels else None

    def _why_unread(self, answer: str) -> str:
        known_labels = f"; the program knows {', '.join(self.labels)}" if self.labels else ""
        if self.spec.is_open:
            return f"{answer[:60]!r} can't be read as {self.spec.kind}{known_labels}"
        number = '; where any number may be, give answers="number"' if answer.lstrip("-").isdigit() else ""
        return f"{answer[:60]!r} is none of the program's labels{nearest(answer, self.labels) or known_labels}{number}"

    def is_right(self, answer: str | None, example: Any) -> bool:
        """Whether an answer equals that of the example, or means the same."""
        return answer is not None and self._is_same(answer, as_text(example[self.field]))

    def _is_same(self, answer: str, truth: str) -> bool:
        rule = AnswerType(spec=self.spec).open
        if rule is None:
            return answer == truth
        predicted, right = self.read(answer), self.read(truth)
        return predicted is not None and right is not None and rule.worth(predicted, right) >= rule.least_right

    def class_indices(self, answers: Sequence[str | None], example: Any, labels: Sequence[str]) -> list[int]:  # noqa: ARG002
        """The answers to one example as indices into `labels`; ``len(labels)`` is N/A; open ones as from `code_of`."""
        index_of = code_of if self.spec.is_open else labels.index
        return [len(labels) if read is None else index_of(read) for read in map(self.read, answers)]


@dataclass(frozen=True)
class MeantOutcome(Outcome):
    """Free text, grouped by an equivalence: the right answer, or one of several other answers."""

    _: KW_ONLY
    equivalence: Equivalence

    def read(self, answer: str | None) -> str | None:
        return None if answer is None else RIGHT

    def _is_same(self, answer: str, truth: str) -> bool:
        return bool(self.equivalence(answer, truth))

    def class_indices(self, answers: Sequence[str | None], example: Any, labels: Sequence[str]) -> list[int]:
        """0 is right, others are numbered in order of appearance."""
        kinds, indices = [as_text(example[self.field])], []
        for answer in answers:
            if answer is None:
                indices.append(len(labels))
                continue
            # `equivalence` may be slow: an answer is only compared with the first of every kind
            number = next((number for number, kind in enumerate(kinds) if self.equivalence(answer, kind)), len(kinds))
            if number == len(kinds):
                kinds.append(answer)
            indices.append(min(number, len(labels) - 1))
        return indices


class UnreferencedOutcome(Outcome):
    """An output that only a metric can score: examples need not have it."""

    def truth(self, example: Any, where: str) -> str:  # noqa: ARG002
        return "(what the metric says is right)"


def right_and_others(n_rephrasings: int) -> tuple[str, ...]:
    """The classes of free text. There are as many others as rephrasings, since no more can differ."""
    return (RIGHT, *(f"other answer {number}" for number in range(1, n_rephrasings + 1)))


def as_text(value: Any) -> str:
    """A class as text: an Enum by its value; several classes, and objects, as JSON."""
    if isinstance(value, _SETS):
        return json.dumps([as_text(member) for member in value], ensure_ascii=False)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=as_text)
    if isinstance(value, enum.Enum):
        value = value.value
    return str(value).strip()


def find_outcome(
    program: Any,
    examples: Sequence[Any],
    label_field: str | None,
    equivalence: Equivalence | None,
    told: AnswerSpec | None = None,
    *,
    has_metric: bool = False,
) -> Outcome:
    """Find the output that is a class: of the last step that has one; otherwise one of several classes, or a number.

    `told` is the answer type if the user gives it; otherwise the output's type decides. With a metric or an
    equivalence any output will do: one that the examples have, else one of a class, else the last. With a metric they
    need not have it; if it is not a class, it is text, and equal texts are the same answer.

    Raises InputError if there is none, or `label_field` is not an output.
    """
    outputs = _outputs(program.named_predictors())
    if not outputs:
        raise InputError(
            "the program has no predictor (dspy.Predict or a module built on it) outside of sub-modules that are "
            "already compiled: there is nothing to fix"
        )
    if label_field is not None:
        output = _named(label_field, outputs, examples)
    elif (has_metric or equivalence is not None) and not _in_examples(_of_class(outputs), examples):
        output = (_in_examples(outputs, examples) or _of_class(outputs) or outputs)[-1]
    else:
        if told is None and not _of_class(outputs):
            _refuse_compiled(program)
        output = _last_of_class(outputs, examples, told)
    if equivalence is not None:
        return MeantOutcome(output.step, output.field, equivalence=equivalence)
    if has_metric and not _in_examples([output], examples):
        spec = AnswerSpec(TEXT) if told is None or told.has_labels else told
        return UnreferencedOutcome(output.step, output.field, spec=spec)
    spec = told or _spec(output, examples, is_named=has_metric or label_field is not None)
    return replace(output, labels=_labels(output, spec, outputs, examples), spec=spec)


def _named(label_field: str, outputs: Sequence[Outcome], examples: Sequence[Any]) -> Outcome:
    """The last output of this name, or a field of the examples that the program itself gives; raises InputError."""
    names = [*(output.field for output in outputs), *chain.from_iterable(example.keys() for example in examples)]
    if label_field not in names:
        raise InputError(
            f"label_field {label_field!r}: no step has such an output, and no example such a field"
            + nearest(label_field, names)
        )
    named = (output for output in reversed(outputs) if output.field == label_field)
    return next(named, Outcome(outputs[-1].step, label_field))


def _labels(output: Outcome, spec: AnswerSpec, outputs: Sequence[Outcome], examples: Sequence[Any]) -> tuple[str, ...]:
    """What answers may name: as the output's type lists it, otherwise as the examples have it; raises InputError."""
    values = _values(examples, output.field)
    if spec.kind == LABELS:
        sets = (value for value in values if isinstance(value, _SETS))
        return output.labels or tuple(sorted(set(map(as_text, chain.from_iterable(sets)))))
    if spec.is_open:
        return ()
    labels = output.labels or tuple(sorted({*map(as_text, values)}))
    # The program's own code may produce the class, from an output of the same name.
    is_optional = any(of_step.is_optional for of_step in outputs if of_step.field == output.field)
    if is_optional and any(output.field in example and example[output.field] is None for example in examples):
        labels = (*labels, NONE)
    if len(labels) < 2:
        fields = ", ".join(of_step.field for of_step in outputs)
        raise InputError(
            f"label_field {output.field!r} has fewer than two classes among the examples (outputs: {fields}); "
            "for free text give a metric=.., or answers='text'"
        )
    return labels


def _outputs(steps: Iterable[tuple[str, Any]]) -> list[Outcome]:
    """The outputs of predictors with their names, in this order."""
    outputs = []
    for step, predictor in steps:
        for name, field in predictor.signature.output_fields.items():
            is_optional = type(None) in get_args(field.annotation)
            outputs.append(Outcome(step, name, *_kind_of(field.annotation), is_optional))
    return outputs


def _refuse_compiled(program: Any) -> None:
    """Raise InputError if a class is the output of a sub-module that is already compiled, which DSPy never changes."""
    if of_class := _of_class(_outputs(program.named_sub_modules(dspy.Predict))):
        step, field = of_class[-1].step.removeprefix("self."), of_class[-1].field
        raise InputError(
            f"{field!r} is a class, but its step {step} is in a sub-module that is already compiled, which stays "
            f"unchanged: set _compiled = False on it, or give label_field={field!r} to improve the other steps"
        )


def _of_class(outputs: Sequence[Outcome]) -> list[Outcome]:
    """The outputs whose type lists classes, otherwise those of several classes, otherwise numbers."""
    of_class = [output for output in outputs if len(output.labels) > 1 and not output.spec.is_open]
    of_class = of_class or [output for output in outputs if output.spec.kind == LABELS]
    return of_class or [output for output in outputs if output.spec.kind == NUMBER]


def _in_examples(outputs: Sequence[Outcome], examples: Sequence[Any]) -> list[Outcome]:
    """The outputs that all examples have."""
    return [output for output in outputs if len(_values(examples, output.field)) == len(examples)]


def _last_of_class(outputs: Sequence[Outcome], examples: Sequence[Any], told: AnswerSpec | None) -> Outcome:
    """The last output whose type lists classes, if possible one that all examples have."""
    of_class = _of_class(outputs)
    if told is not None and (not of_class or not told.has_labels):
        of_class = [output for output in outputs if output.spec.kind == told.kind] or [outputs[-1]]
    if not of_class:
        raise InputError(
            "the program has no output of a class: give an output field the type Literal[..], an Enum or bool, "
            "name a field with label_field=.., or give a metric=.. that says what an answer is worth"
        )
    return (_in_examples(of_class, examples) or of_class)[-1]


def _spec(output: Outcome, examples: Sequence[Any], *, is_named: bool) -> AnswerSpec:
    """The answer type, from the type of an output.

    Numbers are classes if a few values keep recurring. An output whose type is not a class, and that was named or has a
    metric, is text if nearly every example has another value.
    """
    are_rare = are_mostly_rare(Counter(map(as_text, _values(examples, output.field))).values())
    if output.spec.kind == NUMBER and not are_rare:
        return AnswerSpec()
    is_plain = not output.labels and not output.spec.is_open
    return AnswerSpec(TEXT) if is_plain and is_named and are_rare else output.spec


def _values(examples: Sequence[Any], field: str) -> list[Any]:
    """The values of a field in the examples, without missing ones."""
    return [example[field] for example in examples if example.get(field) is not None]


def _kind_of(annotation: Any) -> tuple[tuple[str, ...], AnswerSpec]:
    """The classes that a type allows, and its answer type.

    >>> _kind_of(list[Literal["a", "b"]]), _kind_of(float)[1].kind
    ((('a', 'b'), AnswerSpec(kind='labels', detail='', measure='')), 'number')
    """
    annotation = _without_none(annotation)
    if annotation in (int, float):
        return (), AnswerSpec(NUMBER)
    if get_origin(annotation) in {list, set, frozenset} and _labels_of(get_args(annotation)[0]):
        return _labels_of(get_args(annotation)[0]), AnswerSpec(LABELS)
    return _labels_of(annotation), _ONE_LABEL


def _labels_of(annotation: Any) -> tuple[str, ...]:
    """The classes that a type allows; empty if it does not list classes.

    >>> _labels_of(Literal["yes", "no"]), _labels_of(bool), _labels_of(str)
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
    """The type that an optional one allows besides None; None if it allows several."""
    if get_origin(annotation) not in {Union, types.UnionType}:
        return annotation
    members = [member for member in get_args(annotation) if member is not type(None)]
    return members[0] if len(members) == 1 else None


Metric = Callable[..., Any]
PASSED = 0.5
"""The score that a prediction needs to be shown as an example: for a yes/no metric, yes."""
_MOST_EXTRA = 3  # a trace, and GEPA's predictor name and trace


def judge(metric: Metric, example: Any, prediction: Any) -> tuple[float, str]:
    """Call a metric; return its score of a prediction, in [0, 1], and its reason in words, if it gives one.

    It may take (example, prediction), with a trace as from DSPy's optimizers, or GEPA's five arguments; unknown ones
    are None.

    Raises InputError if it returns anything else, or takes other arguments.
    """
    value: Any = metric(example, prediction, *[None] * n_extra_arguments(metric))
    feedback = ""
    if isinstance(value, Mapping):
        feedback, value = value.get("feedback") or "", value.get("score")
    elif hasattr(value, "score"):
        feedback, value = getattr(value, "feedback", None) or "", value.score
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"the metric returned {value!r}, not a number in [0, 1] or a truth value") from None
    if not 0 <= number <= 1:
        raise InputError(f"the metric returned {number:g}; psopt needs numbers in [0, 1]")
    return number, str(feedback)


def n_extra_arguments(metric: Metric) -> int:
    """How many arguments a metric needs after the example and the prediction: 0 to 3.

    >>> n_extra_arguments(lambda example, prediction, trace=None: True)
    0
    >>> n_extra_arguments(lambda gold, prediction, trace, pred_name, pred_trace: True)
    3

    Raises InputError if it cannot be called with two to five arguments.
    """
    if not callable(metric):
        raise InputError(
            f"the metric comes first, and {metric!r} is none: name the others, SensitivityOptimizer(num_trials=.., "
            "num_rephrasings=..)"
        )
    try:
        signature = inspect.signature(metric)
    except (TypeError, ValueError):  # written in C: it is called with DSPy's minimal arguments
        return 0
    for n_extra in range(_MOST_EXTRA + 1):
        with contextlib.suppress(TypeError):
            signature.bind(*[None] * (2 + n_extra))
            return n_extra
    n_needed = sum(parameter.default is parameter.empty for parameter in signature.parameters.values())
    raise InputError(
        f"the metric {getattr(metric, '__name__', repr(metric))} takes {n_needed} arguments; psopt calls it with an "
        "example and a prediction, and up to three more (trace, pred_name, pred_trace)"
    )
