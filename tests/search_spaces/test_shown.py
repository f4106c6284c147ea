"""A prompt of the user's own is shown as its messages, fields open and additions marked."""

from __future__ import annotations

from dataclasses import replace

from psopt.search_spaces import (
    Definition,
    Example,
    Prompt,
    render_fixed,
    render_instructions,
    render_shown,
    shown_messages,
)
from psopt.templates import ExampleForm, Field, Message, Part, Slot, Template

BODY = Field("body", "{{ body }}")
NOTES = Slot("notes", opening="\n\nNotes:\n")
TEMPLATE = Template(
    (Message("system", ("# Mail\n\n", Part(0), NOTES, "\n\nEnd.")), Message("user", ("Mail: ", BODY, "\nTeam:"))),
    example=ExampleForm(("Mail: ", BODY, "\nTeam:"), turns=True),
)
PLAIN = Prompt("Which team answers?", ("billing", "sales"), template=TEMPLATE)
EXAMPLE = Example("Too high", "billing", fields=(("body", "Too high"),))
EDITED = replace(PLAIN, notes=("Bills go to billing.",), examples=(EXAMPLE,))


def test_fields_stand_as_they_were_spelled_and_roles_above_their_messages() -> None:
    shown = "[system]\n# Mail\n\nWhich team answers?\n\nEnd.\n\n[user]\nMail: {{ body }}\nTeam:"
    assert render_instructions(PLAIN) == render_shown(PLAIN, marked=True) == shown


def test_what_was_added_stands_behind_a_plus_and_turns_are_marked_whole() -> None:
    shown = render_shown(EDITED, marked=True).split("\n")
    added = [line[2:] for line in shown if line.startswith("+ ")]
    assert added == ["Notes:", "- Bills go to billing.", "[user]", "Mail: Too high", "Team:", "[assistant]", "billing"]
    kept = [line[2:] for line in shown if line.startswith("  ")]
    assert kept == [line for line in render_shown(PLAIN).split("\n") if line]


def test_one_message_of_the_user_needs_no_role_above_it() -> None:
    alone = replace(PLAIN, template=replace(TEMPLATE, messages=(Message("user", (Part(0), " ", BODY)),)))
    assert render_shown(alone) == "Which team answers? {{ body }}"


def test_its_length_is_what_every_request_holds() -> None:
    assert render_fixed(PLAIN) == "# Mail\n\nWhich team answers?\n\nEnd.\nMail: \nTeam:"
    own = replace(PLAIN, template=None, definitions=(Definition("sales", "offers"),))
    assert render_fixed(own) == render_instructions(own)


def test_examples_in_psopts_own_form_are_shown_as_turns_and_instructions_are_not_marked() -> None:
    prompt = Prompt("Sort it.", ("a", "b"), notes=("N.",), examples=(Example("x", "a"),))
    system, first, answer, last = shown_messages(prompt)
    assert [message.added for message in (system, first, answer, last)] == [False, False, True, False]
    assert [line.text for line in first.lines if line.added] == ["Note:", "- N.", "", "Text: x", "Label:"]
    assert (answer.role, [line.text for line in answer.lines]) == ("assistant", ["a"])
    assert [line.text for line in last.lines] == ["Text: {text}", "Label:"]
