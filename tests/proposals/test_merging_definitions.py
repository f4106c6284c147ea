"""Definitions of one label that rules made of phrases are said in one list, and nothing twice."""

from __future__ import annotations

import pytest
from psopt.proposals import merged_definitions, merged_edit, replace_merged
from psopt.proposals.rules._merging_definitions import listed, phrases_of_definition
from psopt.search_spaces import Edit, Prompt, Provenance, apply_edits

LABELS = ("billing", "technical")


def definition(text: str, label: str = "technical", author: str = "rules", gain: float = 0.1) -> Edit:
    return Edit("definition", label, text, Provenance(author, "accuracy", "", (f"train-{len(text)}",)), gain)


def test_no_phrase_is_said_twice_and_none_that_another_implies() -> None:
    edits = [
        definition("typical wordings: error, forever"),
        definition("also page loads forever"),
        definition("also error"),
        definition("also uploading winter boots", gain=0.3),
        definition("typical wordings: invoice", "billing"),
    ]
    (merged,) = merged_definitions(edits, LABELS)
    assert merged.text == "typical wordings: error, forever, uploading winter boots"
    assert merged.gain == 0.3  # they are about the same samples
    assert merged.merges == tuple(edit.parameter_name for edit in edits[:4])
    assert merged.provenance.samples == tuple(dict.fromkeys(edit.provenance.samples[0] for edit in edits[:4]))
    prompt = apply_edits(Prompt("Sort it.", LABELS), replace_merged(edits, [merged]))
    assert [part.text for part in prompt.definitions] == ["typical wordings: invoice", merged.text]


def test_what_the_task_says_of_a_label_is_not_said_again() -> None:
    own = definition("crashes, errors; anything that does not work", author="task")
    (merged,) = merged_definitions([own, definition("also crashes, screen")], LABELS)
    assert merged.text == "typical wordings: screen"
    assert replace_merged([own], [merged]) == (own, merged)


def test_what_says_nothing_twice_stays_as_it_is() -> None:
    assert merged_definitions([definition("also crashes, screen")], LABELS) == []
    assert merged_definitions([definition("also crashes", author="gpt"), definition("also screen")], LABELS) == []
    own = definition("crashes", author="task")
    assert merged_definitions([own, definition("also crashes")], LABELS) == []  # nothing would be left of it
    both = [definition("typical wordings: error"), definition("also screen")]
    (merged,) = merged_definitions(both, LABELS)
    assert merged_definitions([merged], LABELS) == []


@pytest.mark.parametrize(
    "phrases",
    [["how many", "what year"], ["subject: bill", "body: refund", "subject: invoice"], ["re (old): bill", "screen"]],
)
def test_lists_are_read_as_they_were_written(phrases: list[str]) -> None:
    assert sorted(phrases_of_definition(definition(f"also {listed(phrases)}"))) == sorted(phrases)


def test_gains_of_notes_add_up() -> None:
    notes = [Edit("note", "billing", f"note {i}", Provenance("rules", "accuracy"), 0.1) for i in range(3)]
    assert merged_edit(notes, "all", "rules").gain == pytest.approx(0.3)
