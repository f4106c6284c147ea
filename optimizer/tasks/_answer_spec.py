"""What a task's answers are, in the terms of ``--answers``: one label, several, a number, a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence


EMBEDDING = "embedding"
JUDGE = "judge"
FUNCTION = "function"
REFERENCE = "reference"
_USUAL_THRESHOLD = 0.9
"""The cosine from which two free answers count as the same; chosen by hand, so S is also reported at .85 and .95."""
LABEL = "label"
ORDINAL = "ordinal"
LABELS = "labels"
NUMBER = "number"
TEXT = "text"
FREE = "free"
ANSWERS = (LABEL, ORDINAL, LABELS, NUMBER, TEXT, FREE)
"""What a task's answers can be, in the terms of ``--answers``."""
TOKEN_F1 = "token-f1"  # noqa: S105  # a token is a word here
JSON = "json"
EXACT = "exact"
FORMS = (LABEL, LABELS, NUMBER, TEXT, JSON, FREE)
"""What a prompt can ask for."""
_FORMS = {
    LABELS: f"{LABELS}, or {LABELS}:SEPARATOR, such as {LABELS}:;, or either with +{EXACT}",
    NUMBER: f"{NUMBER}, or {NUMBER}:TOLERANCE, such as {NUMBER}:0.5 or {NUMBER}:1%",
    TEXT: f"{TEXT}, {TEXT}:{TOKEN_F1} or {TEXT}:{JSON}",
    FREE: f"{FREE}, {FREE}:{EMBEDDING}:THRESHOLD, {FREE}:{JUDGE}:MODEL or {FREE}:MODULE:NAME, and what "
    f"an answer is worth by +{REFERENCE}, +{JUDGE}:MODEL or +MODULE:NAME",
}
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_CHAT_MODEL = rf"{JUDGE}:/*[^/].*?/+[^/].*?"
_FUNCTION = rf"(?!(?:{EMBEDDING}|{JUDGE}|{REFERENCE}):)[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*"  # MODULE:NAME
# What follows each kind. A model's name may contain a plus, so details end as early as they can.
_WRITTEN = {
    LABEL: r"(?P<detail>)(?P<measure>)",
    ORDINAL: r"(?P<detail>)(?P<measure>)",
    LABELS: rf"(?::(?P<detail>\t|.*?\S.*?))?(?:\+(?P<measure>{EXACT}))?",
    NUMBER: rf"(?::(?P<detail>{_NUMBER}%?))?(?P<measure>)",
    TEXT: rf"(?::(?P<detail>{TOKEN_F1}|{JSON}))?(?P<measure>)",
    FREE: rf"(?::(?P<detail>{EMBEDDING}(?::(?:0?\.\d*[1-9]\d*|1(?:\.0*)?))?|{_CHAT_MODEL}|{_FUNCTION}))?"
    rf"(?:\+(?:{REFERENCE}|(?P<measure>{_CHAT_MODEL}|{_FUNCTION})))?",
}


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """What an answer is."""

    kind: str = LABEL  # one of `ANSWERS`
    # For several labels, the separator between them in the data, empty for lists. For numbers, the tolerance, ``0.5``
    # or ``1%``, empty for none. For texts, how they are compared: ``token-f1``, ``json``, or empty for equal texts. For
    # free answers likewise: ``embedding:0.85``, ``judge:MODEL``, ``MODULE:NAME``, or empty for
    # ``embedding:0.9``
    detail: str = ""
    # For several labels, ``exact`` if sets are just the same or not, instead of alike to a degree. For free answers,
    # what they are worth: ``judge:MODEL``, ``MODULE:NAME``, or empty for similarity to the reference.
    measure: str = ""

    @classmethod
    def read(cls, where: str, text: str | None) -> AnswerSpec:
        """Read what ``--answers`` takes; None stands for one label. `where` begins the message of an InputError.

        >>> AnswerSpec.read("bills.csv", "number:1%")
        AnswerSpec(kind='number', detail='1%', measure='')
        >>> AnswerSpec.read("mails.csv", "free:own:same+judge:openai/gpt-4o")
        AnswerSpec(kind='free', detail='own:same', measure='judge:openai/gpt-4o')
        """
        text = text or LABEL
        kind = re.split(r"[:+]", text, maxsplit=1)[0]
        if kind not in ANSWERS:
            hint = nearest(kind, ANSWERS) or f"; known: {', '.join(ANSWERS)}"
            raise InputError(f"{where}: unknown answer type {text!r}{hint}")
        written = re.fullmatch(kind + _WRITTEN[kind], text)
        if written is None:
            how = f"say {_FORMS.get(kind, f'{kind}, without a colon')}"
            if f"+{JUDGE}:" in text:
                how = f"a judge is for {FREE}+{JUDGE}:MODEL, a chat model"
            raise InputError(f"{where}: answers {text!r} can't be read: {how}")
        return cls(kind, written["detail"] or "", written["measure"] or "")

    @classmethod
    def of_form(cls, form: str) -> AnswerSpec:
        """Return the plainest answers that a prompt of this form asks for."""
        return cls(TEXT, JSON) if form == JSON else cls(form)

    def __str__(self) -> str:
        """The form that ``--answers`` takes."""
        written = f"{self.kind}:{self.detail}" if self.detail else self.kind
        return f"{written}+{self.measure}" if self.measure else written

    @property
    def equivalence(self) -> Instrument:
        """What decides which free answers are the same."""
        return Instrument.read(self.detail or EMBEDDING)

    @property
    def rating(self) -> Instrument:
        """What decides how much a free answer is worth."""
        return Instrument.read(self.measure or REFERENCE)

    @property
    def is_exact(self) -> bool:
        """Whether sets of labels are just the same or not, instead of alike by the labels they share."""
        return self.kind == LABELS and self.measure == EXACT

    @property
    def is_assessed(self) -> bool:
        """Whether a model or function must be called to compare or rate answers."""
        return self.kind == FREE and (self.equivalence.is_asked or self.rating.is_asked)

    @property
    def is_open(self) -> bool:
        """Whether answers are not single labels: the possible answers are not known in advance."""
        return self.kind not in (LABEL, ORDINAL)

    @property
    def has_labels(self) -> bool:
        """Whether there are labels to choose from."""
        return self.kind in (LABEL, ORDINAL, LABELS)

    @property
    def form(self) -> str:
        """What a prompt asks for and how its answers are read, regardless of how they are compared: of `FORMS`."""
        if self.kind == TEXT and self.detail == JSON:
            return JSON
        return LABEL if self.kind == ORDINAL else self.kind

    @property
    def tolerance(self) -> tuple[float, bool]:
        """By how much numbers may differ and still be the same, and whether that is a share of the number."""
        value = float(self.detail.removesuffix("%") or 0)
        return (value / 100, True) if self.detail.endswith("%") else (value, False)


def check_answers(where: str, answers: str | None, order: Sequence[str]) -> None:
    """Raise InputError for what is no answer type, and for an order of labels where labels have none."""
    spec = AnswerSpec.read(where, answers)
    if order and spec.kind != ORDINAL:
        raise InputError(f"{where}: an order of labels (--order) is for --answers {ORDINAL}; add that, or leave it out")


@dataclass(frozen=True, slots=True)
class Instrument:
    """What compares or rates free answers: a model, a function, or the similarity to the reference."""

    kind: str  # ``embedding``, ``judge``, ``function``, or ``reference``
    # The model, or the function as ``MODULE:NAME``; for an embedding its threshold, empty for the usual one
    name: str = ""

    @classmethod
    def read(cls, text: str) -> Instrument:
        """Read one from its part of ``--answers``."""
        kind, _, name = text.partition(":")
        return cls(kind, name) if kind in (EMBEDDING, JUDGE, REFERENCE) else cls(FUNCTION, text)

    @property
    def threshold(self) -> float:
        """The cosine from which an embedding takes two answers as the same; for other instruments, the usual one."""
        return float(self.name) if self.kind == EMBEDDING and self.name else _USUAL_THRESHOLD

    @property
    def is_asked(self) -> bool:
        """Whether it must be asked or called: its verdicts are kept with the answers."""
        return self.kind in (JUDGE, FUNCTION)
