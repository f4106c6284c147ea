"""A language model as rephraser of a template: it is asked for each passage by itself."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.rephrasings._llm import ask_for_texts, check_written, rejected_texts
from psopt.rephrasings._passages import in_step, protected_texts, read_passages
from psopt.rephrasings._rules import NOTHING_TO_REPHRASE, check_numbers
from psopt.rephrasings._set import RephrasingSet, comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from psopt.rephrasings._checks import Checks, Verdict
    from psopt.rephrasings._llm import TextWriter
    from psopt.rephrasings._passages import Passages


def write_parts(
    writer: TextWriter,
    checks: Checks,
    n_parts: int,
    n_search: int = 10,
    n_heldout: int = 10,
    on_text: Callable[[Verdict], None] | None = None,
) -> RephrasingSet:
    """Let a model write rephrasings of a template's description, passage by passage (see `write_rephrasings`).

    It sees the others as context. What is protected as a whole stays. A passage of which it gives fewer texts than were
    asked for comes round again; one of which it gives none stays as it is.

    Raises InputError if the model does not give so many different descriptions.
    """
    check_numbers(n_search, n_heldout, 0)
    passages = read_passages(checks.original, checks.labels)
    if not passages.texts:
        raise InputError(NOTHING_TO_REPHRASE)
    context = checks.original if len(passages.texts) > 1 else ""
    taken: list[list[str]] = [[] for _ in passages.texts]
    facts: dict[str, dict[str, Any]] = {}
    refused: list[Verdict] = []
    written: dict[str, list[str]] = {}
    for kind, wanted in (("search", n_search - 1), ("held-out", n_heldout)):
        choices = []
        for text, others in zip(passages.texts, taken, strict=True):
            own = replace(checks, original=_on_one_line(text), protects=True, context=context)
            new, wrong = ask_for_texts(writer, own, kind, wanted, others, on_text)
            choices.append([verdict.text for verdict in new])
            others += choices[-1]
            facts |= {verdict.text: verdict.facts for verdict in new}
            refused += wrong
        combined = _combined(passages, choices, written.get("search", []), wanted)
        written[kind] = list(combined)
        check_written(writer.name, kind, len(written[kind]), wanted, refused)
    return RephrasingSet(
        checks.original,
        (checks.original, *written["search"]),
        tuple(written["held-out"]),
        writer.name,
        checks={text: _facts_of(text, facts) for texts in written.values() for text in texts},
        rejected=rejected_texts(refused),
        n_parts=n_parts,
    )


def _on_one_line(passage: str) -> str:
    """A passage without the line breaks that made it fit; those of what is protected stay."""
    flat = " ".join(passage.split())
    return flat if all(protected in flat for protected in protected_texts(passage)) else passage


def _combined(passages: Passages, choices: Sequence[Sequence[str]], taken: Sequence[str], wanted: int) -> Iterator[str]:
    """Descriptions in which each passage is one of its texts, none of them taken."""
    seen = {comparable(text) for text in (passages.joined(passages.texts), *taken)}
    texts = (passages.joined(combination) for combination in in_step(choices, passages.texts))
    return itertools.islice((text for text in texts if comparable(text) not in seen), wanted)


def _facts_of(text: str, facts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the checks found of a whole description: the least likeness of its passages."""
    own = [found for written, found in facts.items() if written in text]
    merged: dict[str, Any] = {"characters": len(text)}
    if own and all("closeness" in found for found in own):
        merged["closeness"] = min(found["closeness"] for found in own)
    if own and all("judged_equivalent" in found for found in own):
        merged["judged_equivalent"] = True
    return merged
