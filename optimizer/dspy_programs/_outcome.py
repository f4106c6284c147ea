"""The outcome of a program: which step gives the class, in which field, and what its answers are as classes."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.answers import AnswerType, code_of
from psopt.errors import DataError, nearest
from psopt.tasks import AnswerSpec, as_reference

if TYPE_CHECKING:
    from collections.abc import Sequence

Equivalence = Callable[[str, str], bool]
RIGHT = "right"
NONE = str(None)
NO_REFERENCE = "(what the metric says is right)"
_ONE_LABEL = AnswerSpec()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is taken for a program's answer."""

    step: str  # the predictor that gives it, by its name in the program
    field: str  # the field of the prediction, and of the examples
    labels: tuple[str, ...]  # the classes; none for free text, of which an `equivalence` tells what means the same
    equivalence: Equivalence | None = None
    spec: AnswerSpec = _ONE_LABEL  # what answers are, where they are no single label
    has_references: bool = True  # whether examples say what is right; where a metric alone tells, they need not

    def classes(self, n_rephrasings: int) -> tuple[str, ...]:
        """The classes that predictions are counted in; free text is right, or one of several other answers.

        There are as many others as rephrasings: no more of them can differ.
        """
        if self.spec.is_open:
            return self.labels
        return self.labels or (RIGHT, *(f"other answer {number}" for number in range(1, n_rephrasings + 1)))

    @property
    def takes_none(self) -> bool:
        """Whether to give no label is an answer, as with ``Optional[Literal[..]]``."""
        return NONE in self.labels

    def truth(self, example: Any, where: str) -> str:
        """The class of an example.

        Raises DataError if the example has none, or one that the program can't give.
        """
        if not self.has_references:
            return NO_REFERENCE
        if example.get(self.field) is None and not (self.takes_none and self.field in example):
            fields = ", ".join(sorted(example.keys()))
            raise DataError(f"{where} has no {self.field!r}, which the program is to predict; it has {fields}")
        label = as_text(example[self.field])
        if self.spec.is_open:
            return self._reference(label, where)
        if self.labels and label not in self.labels:
            hint = nearest(label, self.labels) or f"; the program knows {', '.join(self.labels)}"
            raise DataError(f"{where}: {self.field} {label!r} is none of the program's labels{hint}")
        return label if self.labels else RIGHT

    def _reference(self, answer: str, where: str) -> str:
        reference = as_reference(answer, self.spec, self.labels)
        if reference is None:
            known = f"; the program knows {', '.join(self.labels)}" if self.labels else ""
            raise DataError(f"{where}: {self.field} {answer[:60]!r} can't be read as {self.spec.kind}{known}")
        return reference

    def is_label(self, answer: str | None) -> bool:
        """Whether an answer is one of the classes; of free text, whether there is an answer that can be read."""
        if self.spec.is_open:
            return answer is not None and as_reference(answer, self.spec, self.labels) is not None
        return answer is not None and (self.equivalence is not None or answer in self.labels)

    def is_right(self, answer: str | None, example: Any) -> bool:
        """Whether an answer is that of the example, or means the same."""
        if answer is None or not self.has_references:
            return False
        truth = as_text(example[self.field])
        if self.spec.is_open:
            ours, right = (as_reference(text, self.spec, self.labels) for text in (answer, truth))
            rule = AnswerType(spec=self.spec).open
            return (
                None not in (ours, right) and rule is not None and rule.worth(str(ours), str(right)) >= rule.least_right
            )
        return answer == truth if self.equivalence is None else bool(self.equivalence(answer, truth))

    def class_indices(self, answers: Sequence[str | None], example: Any, labels: Sequence[str]) -> list[int]:
        """The answers to one example as indices into `labels`; ``len(labels)`` is N/A; open ones as `code_of` them."""
        if self.spec.is_open:
            read = [None if answer is None else as_reference(answer, self.spec, self.labels) for answer in answers]
            return [len(labels) if text is None else code_of(text) for text in read]
        if self.equivalence is not None:
            return self._indices_by_meaning(answers, as_text(example[self.field]), len(labels))
        return [labels.index(answer) if answer in labels else len(labels) for answer in answers]

    def _indices_by_meaning(self, answers: Sequence[str | None], truth: str, n_labels: int) -> list[int]:
        """Free text by what means the same: 0 is right, others are numbered as they come.

        An answer is compared with the first of every kind alone, since `equivalence` may be slow.
        """
        kinds, indices = [truth], []
        for answer in answers:
            if answer is None:
                indices.append(n_labels)
                continue
            number = self._kind_of(answer, kinds)
            if number == len(kinds):
                kinds.append(answer)
            indices.append(min(number, n_labels - 1))
        return indices

    def _kind_of(self, answer: str, kinds: Sequence[str]) -> int:
        """The number of the first kind that an answer means the same as; that of a new kind where there is none."""
        assert self.equivalence is not None  # noqa: S101  # for the type checker
        for number, kind in enumerate(kinds):
            if self.equivalence(answer, kind):
                return number
        return len(kinds)


def as_text(value: Any) -> str:
    """A class as text: an Enum by its value; several, and objects, as JSON."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return json.dumps([as_text(member) for member in value], ensure_ascii=False)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=as_text)
    return str(value.value if isinstance(value, enum.Enum) else value).strip()
