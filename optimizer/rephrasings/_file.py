"""Rephrasings as a file, rephrasings.json: to look at, edit by hand, reuse and share between models."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.rephrasings._set import Rejected, RephrasingSet, shortened
from psopt.search_spaces import PLAIN, PromptFormat
from psopt.templates import template_marks
from psopt.text import read_json

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA_VERSION = 1


def to_file(rephrasings: RephrasingSet) -> dict[str, Any]:
    """The file's content: each text with its family, its source and what its checks found."""

    def entry(text: str, form: PromptFormat) -> dict[str, Any]:
        source = "original" if text == rephrasings.original else rephrasings.source
        source = "rules" if form.family == "wording" else source
        shape = {name: value for name, value in form.to_dict().items() if name != "family"}
        checks = rephrasings.checks.get(text, {})
        return {"text": text, "family": form.family, "form": shape, "source": source, "checks": checks}

    return {
        "schema_version": SCHEMA_VERSION,
        "original": rephrasings.original,
        "source": rephrasings.source,
        "search": [entry(text, form) for text, form in rephrasings.variants("search")],
        "heldout": [entry(text, form) for text, form in rephrasings.variants("heldout")],
        "rejected": [{"text": rejected.text, "reason": rejected.reason} for rejected in rephrasings.rejected],
        **({"n_parts": rephrasings.n_parts} if rephrasings.n_parts else {}),
        "sha256": rephrasings.sha256,
    }


def read_file(path: Path, n_parts: int | None = None) -> RephrasingSet:
    """Read a rephrasings.json; its digest is not held against it, since it may be edited by hand.

    Texts may stand as they are or as entries with a ``text``. `n_parts` is of how many parts they have to be; by
    default the file says it.

    Raises InputError if it can't be read, or holds no sound set.
    """
    data = read_json(path, f"rephrasings {path}")
    try:
        return from_file(data if n_parts is None or not isinstance(data, dict) else {**data, "n_parts": n_parts})
    except InputError as error:
        raise InputError(f"rephrasings {path}: {error}") from error


def check_fields(rephrasings: RephrasingSet, path: Path) -> None:
    """Refuse a file of rephrasings in which a field of the original is lost or another has come in.

    Raises InputError if there is one, naming the field.
    """
    expected = Counter(template_marks(rephrasings.original))
    for text in (*rephrasings.search, *rephrasings.heldout):
        present = Counter(template_marks(text))
        for fields, fault in ((expected - present, "lost"), (present - expected, "added")):
            if fields:
                field = next(iter(fields))
                raise InputError(f"{path}: the rephrasing {shortened(text)} has {fault} the field {field}")


def from_file(data: Any) -> RephrasingSet:
    """Make the set of a rephrasings.json's content, as `to_file` makes it.

    Raises InputError if it is no sound set.
    """
    if not isinstance(data, dict):
        raise InputError("expected an object with original, search and heldout")
    search, heldout = (_entries(data.get(part), part) for part in ("search", "heldout"))
    original = data.get("original", search[0]["text"] if search else None)
    if not isinstance(original, str):
        raise InputError(f"'original' must be text, not {original!r}")
    forms = [tuple(map(_form, entries)) for entries in (search, heldout)]
    if not any(form != PLAIN for of_set in forms for form in of_set):
        forms = [(), ()]  # a set without forms keeps the digest that it had before there were any
    return RephrasingSet(
        original,
        tuple(entry["text"] for entry in search),
        tuple(entry["text"] for entry in heldout),
        str(data.get("source", "file")),
        checks={entry["text"]: entry.get("checks") or {} for entry in (*search, *heldout)},
        rejected=tuple(Rejected(str(entry["text"]), str(entry["reason"])) for entry in data.get("rejected") or ()),
        search_forms=forms[0],
        heldout_forms=forms[1],
        n_parts=data.get("n_parts", 0),
    )


def _form(entry: dict[str, Any]) -> PromptFormat:
    return PromptFormat.from_dict({**(entry.get("form") or {}), "family": entry.get("family", "paraphrase")})


def _entries(values: Any, part: str) -> list[dict[str, Any]]:
    if not isinstance(values, list):
        raise InputError(f"{part!r} must be a list of texts")
    entries = [{"text": value} if isinstance(value, str) else value for value in values]
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
            raise InputError(f"number {number} of {part!r} is neither a text nor an entry with a 'text'")
    return entries
