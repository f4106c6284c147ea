"""Putting a description into a frame: which frames suit it, and what goes into their slots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from psopt.rephrasings._description import Description, begun, continued

if TYPE_CHECKING:
    from psopt.rephrasings._frames import Frames

_CLAUSE = re.compile(
    r"(?P<d>(?:Classify|Categori[sz]e|Sort|Group|Label) (?:the|this|each|these|every) [^,.;:!?]{1,60}?) "
    r"(?:by|based on|according to|on the basis of) "
    r"(?P<c>(?:its|their|the) (?:(?!\b(?:into|as|and|or)\b)[^,.;:!?]){1,120}\w)(?P<end>\.?)",
    re.IGNORECASE,
)


def fitting_frames(description: Description, frames: Frames) -> list[str]:
    """The frames that a description can be put into."""
    fitting = list(frames.neutral)
    if description.form == "question":
        fitting += frames.questions
    if description.form == "command":
        fitting += [*frames.orders, *frames.commands]
        fitting += frames.clauses if _CLAUSE.fullmatch(description.core) else ()
    return [frame for frame in fitting if _suits(frame, description)]


def fitting_tails(description: Description, frames: Frames) -> list[str]:
    """The sentences that may be added to a description."""
    return [tail for tail in frames.tails if not _begin_alike(tail, description.core)]


def _suits(frame: str, description: Description) -> bool:
    if frame == "{D}":
        return description.core != description.text
    if not frame.endswith(("{d}", "{D}")) and not description.is_one_sentence:
        return False
    return not _begin_alike(frame, description.core)


def _begin_alike(first: str, second: str) -> bool:
    """Whether two texts begin with the same word: "Your task: Your task is .." reads badly."""
    return first.split()[0].casefold().rstrip(":") == second.split()[0].casefold().rstrip(":")


def parts_of(description: Description, frame: str) -> dict[str, str]:
    """What goes into the slots of a frame."""
    core = begun(description.core) if description.form == "command" else description.core
    clause = _CLAUSE.fullmatch(core)
    if "{c}" in frame and clause:
        return {"{d}": continued(clause["d"]), "{c}": clause["c"], "end": clause["end"]}
    if not frame.endswith(("{d}", "{D}")):
        core = core.removesuffix(".")
    return {"{d}": continued(core), "{D}": core, "end": ""}


def fill(frame: str, parts: dict[str, str]) -> str:
    """Put parts into the slots of a frame. Not by str.format: they may hold braces of their own.

    >>> fill("Please {d}", {"{d}": "sort {text}."})
    'Please sort {text}.'
    """
    return "".join(parts.get(piece, piece) for piece in re.split(r"(\{\w+\})", frame)) + parts.get("end", "")
