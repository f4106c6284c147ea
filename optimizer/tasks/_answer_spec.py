"""What a task's answers are, as ``--answers`` says it: one label, several, a number, a text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

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
EMBEDDING = "embedding"
USUAL_THRESHOLD = 0.9
"""From which cosine on two free answers count as the same; a choice, so that S is told at .85 and .95 too."""
FORMS = (LABEL, LABELS, NUMBER, TEXT, JSON, FREE)
"""What a prompt can ask for."""
_JUDGE = "+judge:"
_FORMS = {
    LABELS: f"{LABELS}, or {LABELS}:SEPARATOR, such as {LABELS}:;",
    NUMBER: f"{NUMBER}, or {NUMBER}:TOLERANCE, such as {NUMBER}:0.5 or {NUMBER}:1%",
    TEXT: f"{TEXT}, {TEXT}:{TOKEN_F1} or {TEXT}:{JSON}",
    FREE: f"{FREE}, {FREE}:{EMBEDDING}:THRESHOLD, such as {FREE}:{EMBEDDING}:0.85, or either with {_JUDGE}MODEL",
}


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """What an answer is.

    Attributes
    ----------
    kind : str
        One of `ANSWERS`.
    detail : str
        Of several labels the separator between them in the data, empty for lists; of numbers the tolerance, ``0.5`` or
        ``1%``, empty for none; of texts how they are compared: ``token-f1``, ``json``, or empty for equal texts; of
        free answers likewise: ``embedding``, ``embedding:0.85``, or empty for ``embedding:0.9``.
    judge : str
        Of free answers the model that rates them, where that is what they are worth; empty for none.
    """

    kind: str = LABEL
    detail: str = ""
    judge: str = ""

    @classmethod
    def read(cls, where: str, text: str | None) -> AnswerSpec:
        """Read what ``--answers`` takes; None is one label.

        Raises
        ------
        InputError
            If it is none; `where` begins the message.

        Examples
        --------
        >>> AnswerSpec.read("bills.csv", "number:1%")
        AnswerSpec(kind='number', detail='1%', judge='')
        """
        written, plus, judge = (text or LABEL).partition(_JUDGE)
        kind, colon, detail = written.partition(":")
        if kind not in ANSWERS:
            hint = nearest(kind, ANSWERS) or f"; known: {', '.join(ANSWERS)}"
            raise InputError(f"{where}: unknown answer type {text!r}{hint}")
        spec = cls(kind, detail, judge)
        if plus and (kind != FREE or "/" not in judge):
            how = f"a judge is for {FREE}{_JUDGE}MODEL, a chat model"
            raise InputError(f"{where}: answers {text!r} can't be read: {how}")
        if colon and not spec.is_sound:
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
        return f"{written}{_JUDGE}{self.judge}" if self.judge else written

    @property
    def is_sound(self) -> bool:
        """Whether the detail is one that the kind has."""
        if self.kind == LABELS:
            return bool(self.detail.strip()) or self.detail == "\t"
        if self.kind == NUMBER:
            return _tolerance(self.detail) is not None
        if self.kind == FREE:
            return _threshold(self.detail) is not None
        return self.kind == TEXT and self.detail in (TOKEN_F1, JSON)

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
        """From which cosine on two free answers are the same."""
        return _threshold(self.detail) or USUAL_THRESHOLD


def _threshold(detail: str) -> float | None:
    name, colon, written = detail.partition(":")
    if name not in ("", EMBEDDING) or (not name and colon):
        return None
    if not colon:
        return USUAL_THRESHOLD
    try:
        value = float(written)
    except ValueError:
        return None
    return value if 0 < value <= 1 else None


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

    Raises
    ------
    InputError
    """
    spec = AnswerSpec.read(where, answers)
    if order and spec.kind != ORDINAL:
        raise InputError(f"{where}: an order of labels (--order) is for --answers {ORDINAL}; add that, or leave it out")
