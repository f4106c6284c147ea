"""Templates are filled once, and keep everything else byte for byte."""

from __future__ import annotations

from psopt.search_spaces import Definition, Example, Prompt, render
from psopt.tasks import Row
from psopt.templates import ExampleForm, Field, Message, Part, Slot, Template

SUBJECT, BODY = Field("subject", "{subject}"), Field("body", "{{ body }}")
TEMPLATE = Template(
    (
        Message("system", ('You sort mail.\n{"keep": "this"}\n\n', Part(0), Slot("notes", opening="\n\nNote:\n"))),
        Message("user", (Slot("examples", bullet="", joint="\n\n", closing="\n\n"), SUBJECT, "\n", BODY, "\nTeam:")),
    ),
    answer="json:team",
    example=ExampleForm((SUBJECT, "\n", BODY), "\nTeam: ", label_key="team", keys=("team", "reason")),
)
PROMPT = Prompt("Which team answers?", ("billing", "sales"), template=TEMPLATE)
ROW = Row.of({"subject": "Hi {body}", "body": "{{ subject }}", "id": "1"}, ("subject", "body"))


def test_fields_are_filled_once_whatever_the_data_hold() -> None:
    system, user = render(PROMPT, ROW)
    assert system == {"role": "system", "content": 'You sort mail.\n{"keep": "this"}\n\nWhich team answers?'}
    assert user == {"role": "user", "content": "Hi {body}\n{{ subject }}\nTeam:"}


def test_edits_stand_in_their_slots() -> None:
    example = Example(str(ROW), "billing", fields=tuple(ROW.fields.items()))
    prompt = Prompt("Sort it.", PROMPT.labels, notes=("Bills go to billing.",), examples=(example,), template=TEMPLATE)
    system, user = render(prompt, ROW)
    assert system["content"].endswith("Sort it.\n\nNote:\n- Bills go to billing.")
    shown = 'Hi {body}\n{{ subject }}\nTeam: {"team": "billing"}'
    assert user["content"] == f"{shown}\n\nHi {{body}}\n{{{{ subject }}}}\nTeam:"


def test_a_template_survives_json() -> None:
    prompt = Prompt("Sort it.", PROMPT.labels, definitions=(Definition("sales", "offers"),), template=TEMPLATE)
    again = Prompt.from_dict(prompt.to_dict())
    assert again == prompt
    assert again.id == prompt.id
