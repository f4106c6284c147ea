"""`psopt.testing.FakeServer`, as a user's test suite has it."""

from __future__ import annotations

from typing import Any

import openai
import psopt
import pytest
from psopt.errors import InputError
from psopt.testing import FakeServer

from tests.sweeps import each

PROMPT = psopt.Prompt("Which team?", ("refund", "fault"), "mail")


def ask(server: FakeServer, text: str = "My money, please", **options: Any) -> str | None:
    with openai.OpenAI(base_url=server.url, api_key="-", **options) as client:
        messages: Any = [{"role": "user", "content": text}]
        return client.chat.completions.create(model="any", messages=messages).choices[0].message.content


@each(
    "answer",
    ["refund", "fixed:refund", {"money": "refund", "": "fault"}, lambda messages: "refund" if messages else "fault"],
)
def test_it_answers_by_a_text_a_rule_or_a_function(answer: Any) -> None:
    with FakeServer(answer) as server:
        assert ask(server) == "refund"
        assert server.counts() == {"requests": 1, "answered": 1, "statuses": {"200": 1}}
        assert server.last_request()["body"]["messages"][0]["content"] == "My money, please"


def test_psopt_classifies_with_it_and_what_it_does_not_serve_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-no-use")
    texts = ["My money, please", "It broke"]
    with FakeServer({"money": "refund", "": "fault"}) as server:
        lm = psopt.LMConfig(api_base=server.url)
        answers = psopt.classify(texts, PROMPT, model="openai/any", lm=lm)
        with openai.OpenAI(base_url=server.url, api_key="-") as client, pytest.raises(openai.NotFoundError):
            client.files.create(file=("lines.jsonl", b"{}"), purpose="batch")
        with pytest.raises(InputError, match="batch"):
            psopt.classify(["It hangs"], PROMPT, model="openai/any", lm=lm.changed(batch=True))
    assert [answer.label for answer in answers] == ["refund", "fault"]


@each("fault", ["429", "500", "503", "hang", "half"])
def test_a_fault_is_what_a_client_sees(fault: str) -> None:
    with FakeServer("refund", faults=fault, fault_rate=1.0, hang_ms=1) as server:
        with pytest.raises((openai.OpenAIError, OSError)):
            ask(server, max_retries=0)
        assert server.wait_for(requests=1)["statuses"] == {fault: 1}


def test_faults_are_drawn_so_that_a_client_that_tries_again_gets_its_answers() -> None:
    with FakeServer("refund", faults="429,hang,half", fault_rate=0.3, hang_ms=1) as server:
        assert [ask(server, max_retries=9) for _ in range(9)] == ["refund"] * 9
        assert server.wait_for(answered=9)["requests"] > 9


def test_what_does_not_come_and_a_fault_that_there_is_none_of_are_told() -> None:
    with FakeServer() as server, pytest.raises(TimeoutError, match="answered"):
        server.wait_for(answered=1, seconds=0.01)
    with pytest.raises(ValueError, match="rain"):
        FakeServer(faults="rain")


def test_what_can_not_be_served_is_refused_and_a_failing_answer_is_a_status_with_its_error() -> None:
    options: list[dict[str, Any]] = [{"answer": 5}, {"fault_rate": 3}, {"delay_ms": -5}]
    for wrong in options:
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}"):
            FakeServer(**wrong)

    def failing(_: Any) -> str:
        raise KeyError("no such row")

    with FakeServer(failing) as server, pytest.raises(openai.InternalServerError, match="no such row"):
        ask(server, max_retries=0)
