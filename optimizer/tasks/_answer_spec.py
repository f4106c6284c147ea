"""What a task's answers are, as ``--answers`` says it: one label, several, a number, a text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence


EMBEDDING = "embedding"
NLI = "nli"
JUDGE = "judge"
FUNCTION = "function"
REFERENCE = "reference"
_USUAL_THRESHOLD = 0.9
"""From which cosine on two free answers count as the same; a choice, so that S is told at .85 and .95 too."""
_FUNCTION_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*"
"""How functions are named, ``MODULE:NAME``."""
LABEL = "label"
ORDINAL = "ordinal"
LABELS = "labels"
NUMBER = "number"
TEXT = "text"
FREE = "free"
ANSWERS = (LABEL, ORDINAL, LABELS, NUMBER, TEXT, FREE)
"""What a task's answers can be, as ``--answers`` takes it."""
TOKEN_F1 = "token-f1"  # noqa: S105  # a token is a word here
JSON = "json"
EXACT = "exact"
FORMS = (LABEL, LABELS, NUMBER, TEXT, JSON, FREE)
"""What a prompt can ask for."""
_OF_FREE = (
    f"{FREE}, {FREE}:{EMBEDDING}:THRESHOLD, {FREE}:{NLI}:MODEL, {FREE}:{JUDGE}:MODEL or {FREE}:MODULE:NAME, and what "
    f"an answer is worth by +{REFERENCE}, +{JUDGE}:MODEL or +MODULE:NAME"
)
_FORMS = {
    LABELS: f"{LABELS}, or {LABELS}:SEPARATOR, such as {LABELS}:;, or either with +{EXACT}",
    NUMBER: f"{NUMBER}, or {NUMBER}:TOLERANCE, such as {NUMBER}:0.5 or {NUMBER}:1%",
    TEXT: f"{TEXT}, {TEXT}:{TOKEN_F1} or {TEXT}:{JSON}",
    FREE: _OF_FREE,
}
# What stands after the first plus after which one of these does; a model's name may have a plus of its own.
_MEASURED = {
    LABELS: re.compile(rf"(?P<rest>.*?)\+(?P<measure>{EXACT})"),
    FREE: re.compile(rf"(?P<rest>.*?)\+(?P<measure>{REFERENCE}|{JUDGE}:.*|{_FUNCTION_NAME})", re.DOTALL),
}


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """What an answer is."""

    kind: str = LABEL  # one of `ANSWERS`
    # Of several labels the separator between them in the data, empty for lists; of numbers the tolerance, ``0.5`` or
    # ``1%``, empty for none; of texts how they are compared: ``token-f1``, ``json``, or empty for equal texts; of free
    # answers likewise: ``embedding:0.85``, ``nli:MODEL``, ``judge:MODEL``, ``MODULE:NAME``, or empty for
    # ``embedding:0.9``
    detail: str = ""
    # Of several labels ``exact`` where sets are the same or not, and not alike to a degree. Of free answers what they
    # are worth: ``judge:MODEL``, ``MODULE:NAME``, or empty for similarity to the reference.
    measure: str = ""

    @classmethod
    def read(cls, where: str, text: str | None) -> AnswerSpec:
        """Read what ``--answers`` takes; None is one label.

        Raises InputError if it is none; `where` begins the message.

        Examples
        --------
        >>> AnswerSpec.read("bills.csv", "number:1%")
        AnswerSpec(kind='number', detail='1%', measure='')
        >>> AnswerSpec.read("mails.csv", "free:nli:models/mnli+judge:openai/gpt-4o")
        AnswerSpec(kind='free', detail='nli:models/mnli', measure='judge:openai/gpt-4o')
        """
        text = text or LABEL
        kind = re.split(r"[:+]", text, maxsplit=1)[0]
        if kind not in ANSWERS:
            hint = nearest(kind, ANSWERS) or f"; known: {', '.join(ANSWERS)}"
            raise InputError(f"{where}: unknown answer type {text!r}{hint}")
        pattern = _MEASURED.get(kind)
        measured = pattern.fullmatch(text) if pattern else None
        written, measure = (measured["rest"], measured["measure"]) if measured else (text, "")
        detail = written.removeprefix(kind)
        spec = cls(kind, detail.removeprefix(":"), "" if measure == REFERENCE else measure)
        if f"+{JUDGE}:" in text and (kind != FREE or not spec._has_sound_measure):
            how = f"a judge is for {FREE}+{JUDGE}:MODEL, a chat model"
            raise InputError(f"{where}: answers {text!r} can't be read: {how}")
        is_sound = not detail or (detail.startswith(":") and spec._has_sound_detail)
        if not is_sound or not spec._has_sound_measure:
            known = _FORMS.get(kind, f"{kind}, without a colon")
            raise InputError(f"{where}: answers {text!r} can't be read: say {known}")
        return spec

    @classmethod
    def of_form(cls, form: str) -> AnswerSpec:
        """Return the plainest answers that a prompt of this form asks for."""
        return cls(TEXT, JSON) if form == JSON else cls(form)

    def __str__(self) -> str:
        """As ``--answers`` takes it."""
        written = f"{self.kind}:{self.detail}" if self.detail else self.kind
        return f"{written}+{self.measure}" if self.measure else written

    @property
    def _has_sound_detail(self) -> bool:
        if self.kind == LABELS:
            return bool(self.detail.strip()) or self.detail == "\t"
        if self.kind == NUMBER:
            return _tolerance(self.detail) is not None
        if self.kind == FREE:
            return bool(self.detail) and self.equivalence.is_sound and self.equivalence.kind != REFERENCE
        return self.kind == TEXT and self.detail in (TOKEN_F1, JSON)

    @property
    def _has_sound_measure(self) -> bool:
        return self.kind != FREE or self.rating.is_sound

    @property
    def equivalence(self) -> Instrument:
        """What says which free answers are the same."""
        return Instrument.read(self.detail or EMBEDDING)

    @property
    def rating(self) -> Instrument:
        """What says how much a free answer is worth."""
        return Instrument.read(self.measure or REFERENCE)

    @property
    def is_exact(self) -> bool:
        """Whether several labels are the same or not, and not alike as far as they share labels."""
        return self.kind == LABELS and self.measure == EXACT

    @property
    def is_assessed(self) -> bool:
        """Whether something must be asked or called to compare or to rate answers."""
        return self.kind == FREE and (self.equivalence.is_asked or self.rating.is_asked)

    @property
    def is_open(self) -> bool:
        """Whether answers are no single labels: what may be answered is not known before it is."""
        return self.kind not in (LABEL, ORDINAL)

    @property
    def has_labels(self) -> bool:
        """Whether there are labels to choose from."""
        return self.kind in (LABEL, ORDINAL, LABELS)

    @property
    def form(self) -> str:
        """What a prompt asks for and how its answers are read, without what they are compared by.

        ``label``, ``labels``, ``number``, ``text``, ``json`` or ``free``.
        """
        if self.kind == TEXT and self.detail == JSON:
            return JSON
        return LABEL if self.kind == ORDINAL else self.kind

    @property
    def tolerance(self) -> tuple[float, bool]:
        """By how much numbers may differ and be the same, and whether that is a share of the number."""
        return _tolerance(self.detail) or (0.0, False)

    @property
    def threshold(self) -> float:
        """From which cosine on two free answers are the same; the usual one where something else says so."""
        return self.equivalence.threshold


def _tolerance(detail: str) -> tuple[float, bool] | None:
    is_share = detail.endswith("%")
    try:
        value = float(detail.removesuffix("%"))
    except ValueError:
        return None
    if not math.isfinite(value) or value < 0:
        return None
    return (value / 100, True) if is_share else (value, False)


def check_answers(where: str, answers: str | None, order: Sequence[str]) -> None:
    """Refuse what is no answer type, and an order of labels that have none.

    Raises InputError.
    """
    spec = AnswerSpec.read(where, answers)
    if order and spec.kind != ORDINAL:
        raise InputError(f"{where}: an order of labels (--order) is for --answers {ORDINAL}; add that, or leave it out")


@dataclass(frozen=True, slots=True)
class Instrument:
    """What compares or rates free answers, and is no part of psopt or is larger than a formula."""

    kind: str  # ``embedding``, ``nli``, ``judge``, ``function``, or ``reference``
    # The model, or the function as ``MODULE:NAME``; the threshold of an embedding, empty for the usual one
    name: str = ""

    @classmethod
    def read(cls, text: str) -> Instrument:
        """Read what ``--answers`` says of one."""
        kind, _, name = text.partition(":")
        if kind in (EMBEDDING, NLI, JUDGE, REFERENCE):
            return cls(kind, name)
        return cls(FUNCTION, text)

    @property
    def is_sound(self) -> bool:
        """Whether the name can be one of its kind's."""
        if self.kind == EMBEDDING:
            return _threshold(self.name) is not None
        if self.kind == JUDGE:
            return "/" in self.name.strip("/")
        if self.kind == NLI:
            return bool(self.name.strip())
        return self.kind == REFERENCE or re.fullmatch(_FUNCTION_NAME, self.name) is not None

    @property
    def threshold(self) -> float:
        """From which cosine on an embedding takes two answers for the same; of what else compares, the usual one."""
        return (_threshold(self.name) if self.kind == EMBEDDING else None) or _USUAL_THRESHOLD

    @property
    def is_asked(self) -> bool:
        """Whether it must be asked or called: what it says is kept beside the answers."""
        return self.kind in (NLI, JUDGE, FUNCTION)


def _threshold(written: str) -> float | None:
    if not written:
        return _USUAL_THRESHOLD
    try:
        value = float(written)
    except ValueError:
        return None
    return value if 0 < value <= 1 else None
