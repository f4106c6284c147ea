"""Definitions of one label that rules wrote, as one list of phrases that says none of them twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from psopt.proposals.rules._merging import merged_edit, without_implied
from psopt.text import field_and_phrase, phrase_of_field, shows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.search_spaces import Edit

TYPICAL, ALSO = "typical wordings: ", "also "
"""What definitions begin with that rules make of phrases: those of whole labels, and those of clusters of failures."""
_OF_FIELD = re.compile(r"(?P<phrases>.*) \(in (?P<field>.*)\)", re.DOTALL)


def merged_definitions(edits: Iterable[Edit], labels: Sequence[str]) -> list[Edit]:
    """Merge the definitions of each label that rules made of phrases, where that says the same in fewer words.

    Left out is a phrase that another one implies, or that the label's other definitions show: the task's own, say.

    >>> from psopt.search_spaces import Edit, Provenance
    >>> origin = Provenance("rules", "accuracy", "", ("train-1",))
    >>> texts = ["typical wordings: error, screen", "also error, page loads screen", "also uploading"]
    >>> (merged,) = merged_definitions([Edit("definition", "tech", text, origin) for text in texts], ["tech"])
    >>> merged.text
    'typical wordings: error, screen, uploading'
    """
    merged = []
    for label in labels:
        definitions = [edit for edit in edits if edit.kind == "definition" and edit.label == label]
        by_rule = {edit: phrases for edit in definitions if (phrases := phrases_of_definition(edit))}
        others = [edit.text for edit in definitions if edit not in by_rule]
        phrases = [phrase for of_edit in by_rule.values() for phrase in of_edit]
        unsaid = [
            phrase for phrase in without_implied(phrases) if not any(shows(text, _alone(phrase)) for text in others)
        ]
        if unsaid and (len(by_rule) > 1 or unsaid != phrases):
            merged.append(merged_edit(list(by_rule), f"{TYPICAL}{listed(unsaid)}", "rules"))
    return merged


def phrases_of_definition(edit: Edit) -> list[str]:
    """Return the phrases of a definition that a rule made of them; none of one that somebody wrote."""
    opening = next((opening for opening in (TYPICAL, ALSO) if edit.text.startswith(opening)), None)
    if opening is None or edit.provenance.author != "rules":
        return []
    return _unlisted(edit.text.removeprefix(opening))


def listed(phrases: Sequence[str]) -> str:
    """Phrases in a line, those of fields with the fields' names.

    >>> listed(["how many", "what year"]), listed(["subject: bill", "body: refund", "subject: invoice"])
    ('how many, what year', 'bill, invoice (in subject); refund (in body)')
    """
    of_fields: dict[str, list[str]] = {}
    for phrase in phrases:
        field, alone = field_and_phrase(phrase)
        of_fields.setdefault(field, []).append(alone)
    parts = [", ".join(shown) + (f" (in {field})" if field else "") for field, shown in of_fields.items()]
    return "; ".join(parts)


def _unlisted(line: str) -> list[str]:
    """The phrases that `listed` made a line of.

    >>> _unlisted("bill, invoice (in subject); refund (in body)")
    ['subject: bill', 'subject: invoice', 'body: refund']
    """
    phrases = []
    for part in line.split("; "):
        of_field = _OF_FIELD.fullmatch(part)
        field, shown = (of_field["field"], of_field["phrases"]) if of_field else ("", part)
        phrases += [phrase_of_field(field, phrase) for phrase in shown.split(", ")]
    return phrases


def _alone(phrase: str) -> str:
    return field_and_phrase(phrase)[1]
