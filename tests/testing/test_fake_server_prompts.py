"""The fake server reads prompts that psopt has not built as a small model would, and answers in their form."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tests.docs.pages import ROOT
from tests.fake_server import FakeServer
from tests.fake_server._conversation import KnownText, as_prompt, read_conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

MAIL = ROOT / "examples" / "own_prompt" / "mail.csv"
LABELS = ["billing", "technical", "sales", "accounts"]
TEXTS = {
    "billing": "I cancelled on the last day of the trial and was charged anyway. I want my refund.",
    "technical": "Labels print upside down since the update to 4.2, on two different printers.",
}
PLAIN = "Sort mail into billing, technical, sales or accounts.\n\nMail: {mail}\nTeam:"
JSON = 'Sort mail: billing, technical, sales, accounts.\n\n{mail}\n\nReply as {{"why": "..", "team": "<team>"}}'
KEYS = "Sort the mail. Reply in JSON with the keys `team` and `confidence`.\n\n{mail}"
TAG = "<mail>\n{mail}\n</mail>\n\nWhich team? Put it in <answer></answer> tags."
THOUGHT = "Think step by step, then end with a line\nFinal answer: <team>\n\n{mail}"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    """A model that is unstable, knows the mail, and obeys notes."""
    model = "sim/accuracy=0.4,wobble=0.8,na=0"
    with FakeServer(answer=model, task=MAIL, inputs=["subject", "body"], label_column="team") as server:
        yield server


def user(prompt: str, mail: str = TEXTS["billing"]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": prompt.format(mail=mail)}]


def ask(server: FakeServer, *conversations: Any, **parameters: Any) -> list[str]:
    """What it says to each conversation."""

    async def sent(session: Any, messages: Any) -> str:
        body = {"model": "m", "messages": messages, **parameters}
        async with session.post(f"{server.url}/chat/completions", json=body) as response:
            return str((await response.json())["choices"][0]["message"]["content"])

    async def all_sent() -> list[str]:
        async with aiohttp.ClientSession() as session:
            return await asyncio.gather(*(sent(session, messages) for messages in conversations))

    return asyncio.run(all_sent())


def test_an_answer_has_the_form_that_the_prompt_shows(server: FakeServer) -> None:
    plain, shown, told, tag, thought = ask(server, *map(user, (PLAIN, JSON, KEYS, TAG, THOUGHT)))
    assert plain in LABELS
    assert list(json.loads(shown)) == ["why", "team"]
    assert json.loads(shown)["team"] in LABELS
    assert json.loads(told)["team"] in LABELS
    assert json.loads(told)["confidence"] == 0.9
    assert tag.removeprefix("<answer>").removesuffix("</answer>") in LABELS
    assert thought.splitlines()[-1].removeprefix("Final answer: ") in LABELS
    assert len(thought.splitlines()) > 1


@pytest.mark.parametrize(
    ("before", "form"),
    [("billing", "{}"), ('{"team": "sales"}', '{{"team": "{}"}}'), ("<t>sales</t>", "<t>{}</t>")],
)
def test_an_answer_has_the_form_of_earlier_ones(server: FakeServer, before: str, form: str) -> None:
    turns = [*user(PLAIN, "Hello"), {"role": "assistant", "content": before}, *user(PLAIN)]
    assert ask(server, turns)[0] in [form.format(label) for label in LABELS]


def test_a_schema_of_the_users_own_is_honoured_where_the_server_can(server: FakeServer) -> None:
    schema = {"type": "object", "properties": {"why": {"type": "string"}, "team": {"enum": LABELS}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    assert ask(server, user(PLAIN), response_format=wanted)[0] in LABELS
    server.change(structured="yes")
    try:
        answer = json.loads(ask(server, user(PLAIN), response_format=wanted)[0])
    finally:
        server.change(structured="ignore")
    assert list(answer) == ["why", "team"]
    assert answer["team"] in LABELS


def test_its_answers_hang_on_the_wording(server: FakeServer) -> None:
    asked = [user(f"{opening} {PLAIN}") for opening in ("", "Please:", "Now then,", "Your job:", "Kindly,", "Next:")]
    assert len(set(ask(server, *asked))) > 1


@pytest.mark.parametrize("place", ["before", "after", "system"])
def test_notes_and_definitions_pull_wherever_they_stand(server: FakeServer, place: str) -> None:
    hints = ('- A mail that contains "upside down" belongs to {}.', "**{}**: upside down")
    openings = [f"Wording {number}." for number in range(12)]

    def answers(hint: str) -> list[str]:
        told = {"before": f"{hint}\n\n{PLAIN}", "after": f"{PLAIN}\n\n{hint}", "system": PLAIN}[place]
        asked = [user(f"{opening}\n\n{told}", TEXTS["technical"]) for opening in openings]
        system = [{"role": "system", "content": hint}] if place == "system" else []
        return ask(server, *([*system, *messages] for messages in asked))

    for hint in hints:
        for label in ("sales", "accounts"):
            assert answers(hint.format(label)).count(label) > answers("").count(label)


def test_a_text_is_told_from_those_of_examples(server: FakeServer) -> None:
    # another sample in an example draws no answer of its own: the reason speaks of the last one
    example = f"{TEXTS['technical']}\nTeam: technical\n\n"
    (answer,) = ask(server, user(JSON.replace("{mail}", example + "{mail}")))
    assert json.loads(answer)["why"] == "The writer speaks of charged anyway want refund."


def test_labels_alone_are_enough_for_answers_by_hash() -> None:
    with FakeServer(labels=["a, b", "c"]) as server:
        asked = [user("Which?\n\n{mail}", f"Mail {number}") for number in range(8)]
        assert set(ask(server, *asked)) == {"a, b", "c"}
        server.change(labels="")
        assert ask(server, asked[0]) == ["There are no labels to choose from."]
        with pytest.raises(ValueError, match="two or more"):
            server.change(labels="c")


@pytest.mark.parametrize("gap", ["\nTeam: ", '\n{"team": "', "\n</mail>\n<team>"])
def test_examples_are_read_wherever_a_known_text_has_a_label(gap: str) -> None:
    known = [KnownText.of(text, {"mail": text}) for text in TEXTS.values()]
    shown = f"{TEXTS['technical']}{gap}technical"
    conversation = read_conversation(user(f"{shown}\n\n{PLAIN}".replace('{"', '{{"')), LABELS, known)
    assert conversation.text == TEXTS["billing"]
    assert conversation.examples == ((TEXTS["technical"], "technical"),)
    assert as_prompt(conversation, LABELS).examples[0].label == "technical"


def test_a_prompt_with_a_section_called_description_asks_for_no_rephrasing(server: FakeServer) -> None:
    told = "Sort it: billing, technical, sales, accounts.\n\n<description>\n{mail}\n</description>"
    assert ask(server, user(told))[0] in LABELS
