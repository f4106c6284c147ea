"""Prompts of the user's own, asked of chat models: requests and readers are the user's."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from psopt.answers import CUT_OFF
from psopt.errors import InputError, ModelError, NoLabelsError
from psopt.models import AnswerCache
from psopt.models.chat import LMConfig, chat_model, read_response_format
from psopt.search_spaces import Prompt
from psopt.tasks import Row
from psopt.templates import Field, Message, Part, Template

from tests.fake_server import FakeServer
from tests.models.conftest import model_at
from tests.sweeps import each

pytestmark = pytest.mark.usefixtures("quick")
LABELS = ("billing", "sales")
SCHEMA = {"type": "object", "properties": {"reason": {"type": "string"}, "team": {"enum": list(LABELS)}}}
TEMPLATE = Template(
    (
        Message("system", ("You sort mail.\n\n", Part(0))),
        Message("user", ('Answer as {"team": .., "reason": ..}.\n\n', Field("body", "{body}"))),
    ),
    answer="json:team",
)
PROMPT = Prompt("Which team answers?", LABELS, template=TEMPLATE)
ROWS = [Row.of({"subject": f"Mail {i}", "body": f"The bill of {i} {{body}}"}, ("subject", "body")) for i in range(24)]
REASONED = '{"reason": "It is about a bill, not sales.", "team": "billing"}'


def prompt_with(**changes: Any) -> Prompt:
    return replace(PROMPT, template=replace(TEMPLATE, **changes))


def says(server: FakeServer, answer: str, **options: Any) -> None:
    server.change(answer=f"fixed:{answer}", **{"lacks": "", **options})
    server.reset()


@pytest.mark.parametrize("kind", ["openai", "dspy"])
def test_the_request_is_the_users_own_and_where_its_format_is_refused_nothing_less_is_sent(
    server: FakeServer, kind: str
) -> None:
    if kind == "dspy":
        pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    name = "openai/test" if kind == "dspy" else "test"

    def model() -> Any:
        return chat_model(kind, name, AnswerCache(None), LMConfig(api_base=server.url))

    says(server, REASONED)
    assert (model().predict([PROMPT], ROWS[:1]) == 0).all()
    body = server.last_request()["body"]
    assert body["messages"] == [
        {"role": "system", "content": "You sort mail.\n\nWhich team answers?"},
        {"role": "user", "content": 'Answer as {"team": .., "reason": ..}.\n\nThe bill of 0 {body}'},
    ]
    assert "response_format" not in body
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 1024
    formatted = prompt_with(response_format=json.dumps(SCHEMA))
    assert (model().predict([formatted], ROWS[:2]) == 0).all()
    asked = server.last_request()["body"]["response_format"]
    assert (asked["type"], asked["json_schema"]["name"]) == ("json_schema", "answer")
    assert asked["json_schema"]["schema"] == SCHEMA
    says(server, REASONED, lacks="response_format")
    with pytest.raises(ModelError, match=r"does not take the prompt's response format .* --response-format"):
        model().predict([formatted], ROWS)
    assert server.counts()["requests"] == 1
    says(server, "billing", lacks="response_format")
    assert (model().predict([Prompt("Sort.", LABELS)], ROWS[:2]) == 0).all()


def test_turns_of_one_role_are_joined_where_a_server_wants_it(server: FakeServer) -> None:
    says(server, "billing", provider="alternating")
    turns: list[tuple[Any, Any]] = [("system", "Sort mail."), ("user", "A bill"), ("assistant", "billing")]
    turns += [("system", Part(0)), ("user", "Next:"), ("user", Field("body", "{body}"))]
    prompt = prompt_with(messages=tuple(Message(role, (piece,)) for role, piece in turns), answer="label")
    assert (model_at(server).predict([prompt], ROWS[:2]) == 0).all()
    roles = [message["role"] for message in server.last_request()["body"]["messages"]]
    assert roles == ["user", "assistant", "user"]


def test_answers_that_are_not_read_say_why_and_end_the_grid_early_where_none_of_the_first_is(
    server: FakeServer,
) -> None:
    says(server, REASONED)
    prompt = prompt_with(answer="xml:team")
    model = model_at(server)
    with pytest.raises(NoLabelsError) as error:
        model.predict([prompt, replace(prompt, description="Say the team.")], ROWS)
    assert len(server.requests()) == 20
    for words in (
        "none of the first 20 answers names a label where --answer xml:team looks for it (20 no tag)",
        '{"reason": "It is about a bill',
        "say by --answer where the label stands (label, json:FIELD",
    ):
        assert words in str(error.value)
    assert (model.predict([PROMPT], ROWS) == 0).all()
    with pytest.raises(NoLabelsError):
        model.predict([prompt], ROWS)
    model.few_may_fail = True
    assert (model.predict([prompt_with(answer="last-line")], ROWS[:1]) == 0).all()  # the reason is not the answer
    for spec, kind in {"json:group": "no field", "json:reason": "unknown label", "regex:.+": "several labels"}.items():
        prompts = [PROMPT, prompt_with(answer=spec)]
        missed = model.no_labels(prompts, ROWS[:2], model.predict(prompts, ROWS[:2]))
        assert [(place.sample, place.rephrasing, place.kind) for place in missed] == [(0, 1, kind), (1, 1, kind)]
        assert missed[0].said == REASONED
    says(server, "x" * 5000)
    short = model_at(server, max_tokens=8)
    short.few_may_fail = True
    array = short.predict([PROMPT], ROWS[2:3])
    assert short.no_labels([PROMPT], ROWS[2:3], array)[0].kind == CUT_OFF
    assert server.last_request()["body"]["max_tokens"] == 8


def test_probabilities_need_answers_that_are_a_label_alone(server: FakeServer) -> None:
    says(server, "billing", logprobs="yes")
    model = model_at(server, logprobs=True)
    with pytest.raises(InputError, match=r"--logprobs needs .* json:team: leave --logprobs out"):
        model.predict_proba([PROMPT], ROWS)
    assert server.counts()["requests"] == 0
    shares = model.predict_proba([prompt_with(answer="label")], ROWS[:2])
    assert (shares[:, :, 0] > 0.9).all()
    assert "response_format" not in server.last_request()["body"]


@each(
    "given",
    [
        SCHEMA,
        {"name": "mail", "schema": SCHEMA},
        {"type": "json_schema", "json_schema": {"name": "mail", "strict": True, "schema": SCHEMA}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [SCHEMA, {"type": ["string", "null"]}, True]}}},
    ],
)
def test_a_response_format_is_read_in_any_of_its_forms(given: Any) -> None:
    text = read_response_format(json.dumps(given))
    form = json.loads(text)
    assert form["type"] == "json_schema"
    assert isinstance(form["json_schema"]["name"], str)
    assert isinstance(form["json_schema"]["schema"], dict)
    assert read_response_format(text) == text


NO_SCHEMA = {
    "{": "is no JSON",
    "[1]": "is no JSON schema but [1]",
    '{"team": "billing"}': "says neither type nor properties",
    '{"type": "json_schema"}': "holds no schema",
}


@each("text", NO_SCHEMA)
def test_what_is_no_schema_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as error:
        read_response_format(text)
    assert NO_SCHEMA[text] in str(error.value)
    assert "\n" not in str(error.value)
