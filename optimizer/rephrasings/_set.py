"""A frozen set of rephrasings, under which every candidate of a study is measured; and the file that holds one.

That file is rephrasings.json, to read, edit by hand and reuse. Wordings from another source show what S is when the
task is worded by somebody other than the source that the search used.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from psopt.errors import InputError
from psopt.search_spaces import PLAIN, PromptFormat
from psopt.templates import split_description, template_marks
from psopt.text import parse_json, read_json, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SOURCES = ("builtin", "rules", "file")
SCHEMA_VERSION = 1
FEWEST = 2  # with a single wording S is always 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checks of a written text found: `reason` is why it was refused, None if it was not."""

    text: str
    reason: str | None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Whether all checks were passed."""
        return self.reason is None

    def __str__(self) -> str:
        return f"{shortened(self.text)}: {self.reason or 'accepted'}"


@dataclass(frozen=True, slots=True)
class RephrasingSet:
    """Task descriptions that mean the same, in two disjoint sets.

    Raises InputError if the original is not first in `search`; if a text is empty or, unless it is the original, has
    several lines (for a template: another number of parts); or if two texts, of one set or both, are `comparable`.
    """

    original: str  # rho_0, the description as its author wrote it
    search: tuple[str, ...]  # what candidates are compared under; the original comes first (it is one of the Q)
    heldout: tuple[str, ...]  # what the front is reported under; no candidate has seen them
    source: str  # ``builtin`` (written for this project), ``rules``, ``file``, or the name of the model that wrote them
    # What the checks found, if there were any
    checks: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False)
    rejected: tuple[Verdict, ...] = field(default=(), compare=False)  # what was refused on the way
    # Each text's form, which holds its family; empty where all are paraphrases in psopt's own form
    search_forms: tuple[PromptFormat, ...] = ()
    heldout_forms: tuple[PromptFormat, ...] = ()
    # How many parts each text has, if the texts are for a template (see `Prompt.template`); 0 if they are not
    n_parts: int = 0

    def __post_init__(self) -> None:
        """Refuse an invalid set."""
        if self.source not in _SOURCES and "/" not in self.source:
            raise InputError(f"rephrasings come from one of {', '.join(_SOURCES)} or a model, not from {self.source!r}")
        if not self.search or self.search[0] != self.original:
            raise InputError("the first search rephrasing must be the original description")
        for texts, forms in ((self.search, self.search_forms), (self.heldout, self.heldout_forms)):
            if forms and len(forms) != len(texts):
                raise InputError(f"{len(texts)} rephrasings can't have {len(forms)} forms")
        seen: dict[tuple[str, PromptFormat], str] = {}
        for text, form in (*self.variants("search"), *self.variants("heldout")):
            self._check_parts(text)
            key = (comparable(text), form.layout)
            if key in seen:
                twin_note = "" if seen[key] == text else f", first as {shortened(seen[key])}"
                raise InputError(f"the rephrasing {shortened(text)} stands twice{twin_note}; change or remove one")
            seen[key] = text

    def _check_parts(self, text: str) -> None:
        if not self.n_parts:
            if not text.strip() or (text.splitlines() != [text] and text != self.original):
                raise InputError(f"a rephrasing must be one paragraph of text, not {shortened(text)}")
            return
        parts = split_description(text)
        n_filled = sum(bool(part.strip()) for part in parts)
        if not len(parts) == n_filled == self.n_parts:
            wanted = f"must have {self.n_parts} parts with an empty line between"
            raise InputError(f"a rephrasing of this prompt {wanted}, and {shortened(text)} has {n_filled}")

    def variants(self, which: Literal["search", "heldout"]) -> list[tuple[str, PromptFormat]]:
        """The instruction variants of a set: its texts, each with its form."""
        texts, forms = self.on("test" if which == "heldout" else "val")
        return list(zip(texts, forms or (PLAIN,) * len(texts), strict=True))

    def on(self, split: str) -> tuple[tuple[str, ...], tuple[PromptFormat, ...]]:
        """The texts used on a split (held-out ones on test, otherwise search ones), and their forms, if any."""
        return (self.heldout, self.heldout_forms) if split == "test" else (self.search, self.search_forms)

    @property
    def sha256(self) -> str:
        """Digest of both sets, in order."""
        forms = filter(None, (self.search_forms, self.heldout_forms))
        as_data = [list(map(PromptFormat.to_dict, of_set)) for of_set in forms]
        content = json.dumps([self.original, self.search, self.heldout, *as_data])
        return hashlib.sha256(content.encode()).hexdigest()


def comparable(text: str) -> str:
    """The form in which duplicates are compared: only letters and digits (all signs if there are none), case folded.

    >>> comparable("Sort it, please!") == comparable("sort it please")
    True
    """
    return "".join(sign for sign in text.casefold() if sign.isalnum()) or text.strip()


def differing(expected: Iterable[str], present: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield what one text contains more often than the other: ``("lost", piece)``, then ``("added", piece)``.

    >>> list(differing(["{a}", "{b}"], ["{b}", "{b}"]))
    [('lost', '{a}'), ('added', '{b}')]
    """
    before, after = Counter(expected), Counter(present)
    yield from (("lost", piece) for piece in before - after)
    yield from (("added", piece) for piece in after - before)


def distinct(texts: Iterable[str], avoid: Iterable[str] = ()) -> Iterator[str]:
    """Yield the first of those texts that differ only in case, spaces and signs, and none that matches `avoid`."""
    seen = {comparable(text) for text in avoid}
    for text in texts:
        key = comparable(text)
        if key not in seen:
            seen.add(key)
            yield text


def shortened(text: str) -> str:
    """A text in the form that error messages quote: on one line, not longer than a line."""
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def to_file(rephrasings: RephrasingSet) -> dict[str, Any]:
    """The file's content: each text with its family, its source and what its checks found."""

    def entry(text: str, form: PromptFormat) -> dict[str, Any]:
        source = "original" if text == rephrasings.original else rephrasings.source
        if form.family == "wording":
            source = "rules"
        shape = {name: value for name, value in form.to_dict().items() if name != "family"}
        checks = rephrasings.checks.get(text, {})
        return {"text": text, "family": form.family, "form": shape, "source": source, "checks": checks}

    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "original": rephrasings.original,
        "source": rephrasings.source,
        "search": [entry(text, form) for text, form in rephrasings.variants("search")],
        "heldout": [entry(text, form) for text, form in rephrasings.variants("heldout")],
        "rejected": [{"text": refused.text, "reason": refused.reason} for refused in rephrasings.rejected],
    }
    if rephrasings.n_parts:
        content["n_parts"] = rephrasings.n_parts
    return {**content, "sha256": rephrasings.sha256}


def read_file(path: Path) -> RephrasingSet:
    """Read a rephrasings.json, which may be edited by hand; raises InputError if it holds no valid set."""
    return _set_in(path, read_json(path, f"rephrasings {path}"))


def read_given(path: Path, original: str, n_parts: int) -> RephrasingSet:
    """Read what a user gives as rephrasings of `original`: a rephrasings.json, or wordings (see `read_wordings`).

    Wordings go in turns to the search, which has the original too, and to the held-out set. Raises InputError if the
    file holds no valid set, or is for another description.
    """
    content = read_json(path, f"rephrasings {path}") if path.suffix.lower() == ".json" else None
    if not isinstance(content, dict):
        texts = list(distinct(read_wordings(path), [original]))
        content = {"original": original, "search": [original, *texts[::2]], "heldout": texts[1::2]}
    rephrasings = _set_in(path, {**content, "n_parts": n_parts})
    if original.split() != rephrasings.original.split():
        raise InputError(f"{path} rephrases another description: {rephrasings.original[:80]!r}")
    return rephrasings


def _set_in(path: Path, content: Any) -> RephrasingSet:
    """The set that a file's content is, or an exported prompt's has, with the file's name in what is wrong with it."""
    if isinstance(content, dict) and isinstance(content.get("measured"), dict):
        content = content["measured"].get("rephrasings")
    try:
        return from_file(content)
    except InputError as error:
        raise InputError(f"rephrasings {path}: {error}") from error


def check_fields(rephrasings: RephrasingSet, path: Path) -> None:
    """Refuse a file of rephrasings in which a field of the original is lost or another has come in."""
    expected = template_marks(rephrasings.original)
    for text in (*rephrasings.search, *rephrasings.heldout):
        for fault, mark in differing(expected, template_marks(text)):
            raise InputError(f"{path}: the rephrasing {shortened(text)} has {fault} the field {mark}")


def from_file(data: Any) -> RephrasingSet:
    """Make a set from the content of a rephrasings.json, as `to_file` returns it; raises InputError if it is none."""
    if not isinstance(data, dict):
        raise InputError("expected an object with original, search and heldout")
    parts = (data.get("search"), "search"), (data.get("heldout"), "heldout"), (data.get("rejected") or [], "rejected")
    search, heldout, rejected = (_entries(*part) for part in parts)
    original = data.get("original", search[0]["text"] if search else None)
    if not isinstance(original, str):
        raise InputError(f"'original' must be text, not {original!r}")
    search_forms, heldout_forms = (tuple(map(_form, entries)) for entries in (search, heldout))
    if all(form == PLAIN for form in (*search_forms, *heldout_forms)):
        search_forms = heldout_forms = ()  # a set without forms keeps the digest that it had before forms existed
    return RephrasingSet(
        original,
        tuple(entry["text"] for entry in search),
        tuple(entry["text"] for entry in heldout),
        str(data.get("source", "file")),
        checks={entry["text"]: entry.get("checks") or {} for entry in (*search, *heldout)},
        rejected=tuple(Verdict(entry["text"], str(entry.get("reason", ""))) for entry in rejected),
        search_forms=search_forms,
        heldout_forms=heldout_forms,
        n_parts=data.get("n_parts", 0),
    )


def _form(entry: dict[str, Any]) -> PromptFormat:
    return PromptFormat.from_dict({**(entry.get("form") or {}), "family": entry.get("family", "paraphrase")})


def _entries(values: Any, part: str) -> list[dict[str, Any]]:
    if not isinstance(values, list):
        raise InputError(f"{part!r} must be a list of texts")
    entries = []
    for number, value in enumerate(values, 1):
        entry = {"text": value} if isinstance(value, str) else value
        if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
            raise InputError(f"number {number} of {part!r} is neither a text nor an entry with a 'text'")
        for name in ("form", "checks"):
            if not isinstance(entry.get(name) or {}, dict):
                raise InputError(f"{name!r} of number {number} of {part!r} must be an object, not {entry[name]!r}")
        entries.append(entry)
    return entries


def read_wordings(path: Path) -> tuple[str, ...]:
    """Read wordings of the task: one per line, a JSON list of texts, or all of a rephrasings.json but its original."""
    content = read_text(path, f"wordings {path}")
    if path.suffix.lower() != ".json":
        return tuple(distinct(line.strip() for line in content.splitlines() if line.strip()))
    texts = parse_json(content, f"wordings {path}")
    if isinstance(texts, dict):
        entries = [*(texts.get("search") or ()), *(texts.get("heldout") or ())]
        written = [entry.get("text") if isinstance(entry, dict) else entry for entry in entries]
        texts = [text for text in written if text != texts.get("original")]
    if not isinstance(texts, list):
        texts = []
    wrong = [number for number, text in enumerate(texts, 1) if not isinstance(text, str) or not text.strip()]
    if not texts or wrong:
        where = f"; number {wrong[0]} is none" if wrong else ""
        raise InputError(f"wordings {path}: expected a list of texts, or a rephrasings.json{where}")
    return tuple(distinct(texts))


def given_wordings(source: Sequence[str] | str | Path) -> tuple[tuple[str, ...], str]:
    """Return wordings given in Python, as a path or as texts, and what to call them."""
    if isinstance(source, str | Path):
        if wordings := read_wordings(Path(source)):
            return wordings, str(source)
        raise InputError(f"--heldout-from {source} holds no wording: write one per line, or leave the option out")
    texts = tuple(source) if isinstance(source, Iterable) else (source,)
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"--heldout-from takes wordings, or the path of a file that holds them, not {source!r:.60}")
    return tuple(distinct(texts)), "another source" if texts else ""


def of_another_source(original: str, wordings: Sequence[str], n_parts: int) -> RephrasingSet:
    """Make a set with wordings of `original` as held-out ones; raises InputError if they are too few, or unfit."""
    texts = tuple(distinct(wordings, [original]))
    if len(texts) < FEWEST:
        lacking = f"needs {FEWEST} wordings or more beside the prompt's own, and has {len(texts)}"
        raise InputError(f"--heldout-from {lacking}")
    try:
        rephrasings = RephrasingSet(original, (original,), texts, "file", n_parts=n_parts)
    except InputError as error:
        raise InputError(f"--heldout-from: {error}") from error
    if n_parts:
        check_fields(rephrasings, Path("--heldout-from"))
    return rephrasings
