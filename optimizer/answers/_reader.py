"""How a prompt's answers are read, by the specification that the user gives: ``json:team``, ``last-line`` .."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from psopt.answers._extract import (
    CUT_OFF,
    EMPTY,
    MENTION,
    NO_MATCH,
    REFUSED,
    SEVERAL,
    UNKNOWN,
    Extract,
    JSONField,
    Pattern,
    XMLTag,
    has_thoughts,
    last_line,
    spoken_part,
)
from psopt.answers._open_answers import filled_text, read_json, read_number, read_text
from psopt.answers._open_grid import code_of
from psopt.answers._reading import is_finished_label, json_part, n_named, read_answer, whole_label
from psopt.answers._sets import read_set
from psopt.errors import InputError, import_own_function, nearest
from psopt.tasks import FREE, JSON, LABEL, LABELS, NUMBER, TEXT
from psopt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


LAST_LINE = "last-line"
ANSWER_FORMS = (LABEL, "json:FIELD", "xml:TAG", "regex:PATTERN", LAST_LINE, "MODULE:NAME")
"""How answers can be read: the values of ``--answer``."""
_OPEN_READERS = {NUMBER: read_number, TEXT: read_text, JSON: read_json, FREE: filled_text}
_EXTRACTORS: dict[str, Callable[[str], Callable[[str], Extract]]] = {"json": JSONField, "xml": XMLTag, "regex": Pattern}
# How models decline in words: "I'm sorry, but I can't help with that request."
_REFUSAL = re.compile(
    r"(?:\b(?:can|do|could|wo)(?:n['’]?t|['’]t)|\bcannot|\bcan not|\bunable to|\bnot able to|\bwill not)\b[^.\n]{0,20}?"
    r"\b(?:help|assist|comply|answer|fulfil|engage|process|respond|do that|do this)",
    re.IGNORECASE,
)
_REFUSING = 200  # characters that are searched: a refusal says so at once
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """Reads answers to one prompt."""

    spec: str  # one of the `ANSWER_FORMS`
    labels: tuple[str, ...]
    form: str  # what an answer is: ``label``, ``labels``, ``number``, ``text``, ``json`` (`AnswerSpec.form`)
    _extract: Callable[[str], Extract] = field(repr=False, compare=False)

    def read(self, answer: str | None, *, is_cut: bool = False) -> int:
        """Return the index of the label that an answer names, or ``len(labels)`` (N/A); for open answers its `code_of`.

        Reasoning before the answer is skipped. What ``json:``, ``xml:``, ``regex:`` and a function take out must be a
        label, apart from white space, quotes, case and closing punctuation; the last line is read as `read_answer`
        reads an answer. An answer that was cut off (`is_cut`) counts only if its form is complete, or if it is a label
        with which no other label begins. Raises InputError if the user's function fails.
        """
        if not answer or (is_cut and not self._is_closed(answer)):
            return len(self.labels)
        if self.form != LABEL:
            read = self._open_answer(answer)[0]
            return len(self.labels) if read is None else code_of(read)
        if self.spec == LABEL:
            return read_answer(answer, self.labels)
        text = self._extracted(answer).text
        if text is None:
            return len(self.labels)
        return read_answer(text, self.labels) if self.spec == LAST_LINE else whole_label(text, self.labels)

    def kind(self, answer: str | None) -> str:
        """Return why an answer names no label, as in `NoLabel.kind`."""
        if not answer or not answer.strip():
            return EMPTY
        if self.form != LABEL:
            return _or_refused(self._open_answer(answer)[1], answer)
        extract = Extract(answer) if self.spec == LABEL else self._extracted(answer)
        if extract.text is None:
            return _or_refused(extract.kind, answer)
        if not extract.text.strip():
            return EMPTY
        n = n_named(extract.text, self.labels)
        if n > 1:
            return SEVERAL
        return MENTION if n and self.spec in (LABEL, LAST_LINE) else UNKNOWN

    def _is_closed(self, answer: str) -> bool:
        """Whether an answer would be read the same if it had not been cut off."""
        if self.spec.startswith("json:"):
            return True  # only complete objects are read
        if json_part(spoken_part(answer) or "") is not None:
            return True
        if isinstance(self._extract, (XMLTag, Pattern)):
            return self._extract.is_closed(answer)
        return self.form == LABEL and is_finished_label(spoken_part(answer) or "", self.labels)

    def _open_answer(self, answer: str) -> tuple[str | None, str]:
        """What an open answer says and no kind, or None and the kind of N/A."""
        extract = self._extracted(answer)
        text = extract.structure or extract.text
        if text is None:
            return None, extract.kind
        if not text.strip():
            return None, EMPTY
        if self.form == LABELS:
            return read_set(text, self.labels)
        return _OPEN_READERS[self.form](text)

    def _extracted(self, answer: str) -> Extract:
        # A JSON answer may mention <think> in one of its strings; real reasoning stands before the JSON.
        is_json_alone = self.spec.startswith("json:") and not has_thoughts(answer.partition("{")[0])
        if is_json_alone:
            return self._extract(answer)
        text = spoken_part(answer)
        return Extract(None, CUT_OFF) if text is None else self._extract(text)


def reader_for(spec: str, labels: Sequence[str], form: str = LABEL) -> AnswerReader:
    """Return what reads the answers to a prompt, whose form is one of `AnswerSpec.form`.

    The specification is ``label``: the answer names the label, by the rules of `read_answer`; ``json:FIELD``: a member
    of the last complete JSON object, ``json:result.team`` for a nested one; ``xml:TAG``: the last pair of tags;
    ``regex:PATTERN``: the first group of the last match, or all of it; ``last-line``; or ``MODULE:NAME``: a function
    from an answer to a label or None.

    Raises InputError if the specification is none of these, the pattern is invalid, or the function does not exist.
    """
    return AnswerReader(spec, tuple(labels), form, _extractor(spec))


@functools.lru_cache(maxsize=256)
def _extractor(spec: str) -> Callable[[str], Extract]:
    if spec == LABEL:
        return Extract
    if spec == LAST_LINE:
        return last_line
    form, colon, argument = spec.partition(":")
    if form in _EXTRACTORS:
        if not argument.strip():
            whole = next(answer_form for answer_form in ANSWER_FORMS if answer_form.startswith(f"{form}:"))
            raise InputError(f"--answer {spec} says not where the label stands: give {whole}")
        return _EXTRACTORS[form](argument)
    if colon and _FUNCTION.fullmatch(spec):
        return _own_function(spec)
    hint = nearest(form, [LABEL, LAST_LINE, *_EXTRACTORS])
    raise InputError(f"--answer {spec!r} is none of {', '.join(ANSWER_FORMS)}{hint}")


def _or_refused(kind: str, answer: str) -> str:
    """Return REFUSED if an answer without a label declines in words, and otherwise its kind."""
    if kind not in (CUT_OFF, "") and _REFUSAL.search(answer[:_REFUSING]):
        return REFUSED
    return kind


def _own_function(spec: str) -> Callable[[str], Extract]:
    """Extract with the user's function, ``MODULE:NAME``, which returns the label of an answer, or None."""
    function = import_own_function(spec, "--answer", "an answer")

    def extract(text: str) -> Extract:
        try:
            label = function(text)
        except Exception as error:  # whatever the user's function does
            fault = one_line(f"{type(error).__name__}: {error}")
            raise InputError(f"--answer {spec} failed on an answer: {fault}") from error
        if label is None:
            return Extract(None, NO_MATCH)
        if not isinstance(label, str):
            raise InputError(f"--answer {spec} returned {label!r}: a label or None is wanted")
        return Extract(label)

    return extract
