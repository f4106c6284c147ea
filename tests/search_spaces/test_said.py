"""Models that read a prompt by its parts see what a prompt of the user's own says in its literal text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from psopt.search_spaces import Definition, Prompt, additions_of, with_statements
from psopt.templates import fill_slots, read_template, write_template

from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "examples" / "own_prompt"
STYLES = ("plain.txt", "sections.md", "tagged.json", "turns.yaml", "reasoned.json")
LABELS = ("billing", "technical", "sales", "accounts")
NOTES = (
    'A mail whose body contains "seats" belongs to sales.',
    'A mail that begins with "app_x" belongs to technical.',
)


def read(file: Path) -> Prompt:
    prompt = read_template(file, ["id", "subject", "body", "reason"], labels=LABELS, label_column="team")
    return Prompt(prompt.description, LABELS, template=prompt.template)


@pytest.mark.parametrize("style", STYLES)
def test_an_export_says_what_the_prompt_with_its_edits_said(style: str, tmp_path: Path) -> None:
    original = read(FOLDER / style)
    edited = replace(original, notes=NOTES, definitions=(Definition("accounts", "who may log in, roles"),))
    assert edited.template
    (tmp_path / style).write_text(
        write_template(fill_slots(edited.template, edited.description, additions_of(edited))), encoding="utf-8"
    )
    exported = with_statements(read(tmp_path / style))
    assert set(NOTES) <= set(exported.notes)
    assert "who may log in, roles" in dict(_pairs(exported))["accounts"]
    before = with_statements(edited)
    assert set(exported.notes) == set(before.notes)
    assert {label: set(text.split("; ")) for label, text in _pairs(exported)} == {
        label: set(text.split("; ")) for label, text in _pairs(before)
    }


def _pairs(prompt: Prompt) -> list[tuple[str, str]]:
    return [(definition.label, definition.text) for definition in prompt.definitions]


def test_definitions_of_a_table_of_tags_are_seen() -> None:
    meanings = dict(_pairs(with_statements(read(FOLDER / "tagged.json"))))
    assert meanings["billing"] == "money that has been paid or is owed"


def test_a_prompt_in_psopts_own_form_is_as_it_was() -> None:
    prompt = Prompt("Sort it. Bills go to billing.", LABELS)
    assert with_statements(prompt) is prompt
