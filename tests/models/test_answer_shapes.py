"""Answers in the shapes that real servers give them, over a real socket: read, or refused in one line, and soon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import ModelError
from psopt.models.chat import Answer, TransientError
from psopt.models.chat._completion import read_completion
from psopt.models.chat._refusals import Refusal

from tests.fake_server import FakeServer
from tests.models.conftest import LABELS, PROMPTS, TEXTS, model_at
from tests.sweeps import each

READ = ("parts", "thinking-parts", "reasoning", "reasoning-field", "all-reasoning", "beside-empty", "think", "fenced")
pytestmark = pytest.mark.usefixtures("quick")


def test_another_model_than_the_one_that_was_asked_is_named_and_counted(
    server: FakeServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.change(shape="falls-back")
    model, again = model_at(server, tmp_path), model_at(server, tmp_path)
    model.predict(PROMPTS, TEXTS)
    again.predict(PROMPTS, TEXTS)  # from the cache, which keeps it too
    assert set(model.answered_by) == {"test", "smaller"}
    assert again.answered_by == model.answered_by
    assert model.answered_by.total() == len(PROMPTS) * len(TEXTS)
    assert sum("several models have answered" in line for line in caplog.messages) == 2


@each("reads, is_said", [(10_000, False), (300, True)])
def test_what_a_server_does_not_read_is_said_once(
    reads: int, is_said: bool, server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    server.change(reads=reads)
    texts = [f"{text} {'and so on for a long while ' * 60 * place}" for place, text in enumerate(TEXTS, start=1)]
    model = model_at(server)
    model.predict(PROMPTS[:1], texts)
    model.predict(PROMPTS[1:], texts)
    lines = [line for line in caplog.messages if "the server counts" in line]
    assert len(lines) == is_said
    assert all(f"counts {reads} tokens" in line and "num_ctx" in line for line in lines)


def test_the_shape_of_an_answer_changes_no_label(server: FakeServer) -> None:
    plain = model_at(server).predict(PROMPTS, TEXTS[:8]).tolist()
    for shape in (*READ, "error200", "finish-error", "tool-call"):
        server.change(shape=shape)
        assert model_at(server).predict(PROMPTS, TEXTS[:8]).tolist() == plain, shape


@each(
    "shape, said",
    [
        ("error200-final", "HTTP 400 .*Provider returned error"),
        ("list-error", "HTTP 400 .*API key not valid"),
        ("html", "no chat completion: '<html>"),
        ("all-reasoning", r"none of the first 20 .* sends them as reasoning"),
    ],
)
def test_what_can_not_be_read_is_said_in_one_line_after_a_few_requests(
    shape: str, said: str, server: FakeServer
) -> None:
    server.change(shape=shape, answer="fixed:Something else")
    server.reset()
    with pytest.raises(ModelError, match=said) as caught:
        model_at(server, concurrency=4).predict(PROMPTS, TEXTS)
    assert server.counts()["requests"] <= 20
    assert "\n" not in str(caught.value)


@each(
    "status, message, kind",
    [
        (400, "maximum context length is 512 tokens .. plus 256 'max_tokens'", "context length"),
        (400, "the request exceeds the available context size exceed_context_size_error", "context length"),
        (400, "triggering Azure OpenAI's content management policy content_filter", "content filter"),
        (400, "Failed to generate JSON. json_validate_failed", "invalid JSON"),
        (500, "content_filter is down", None),
        (429, "maximum context length", None),
        (400, "Unsupported parameter: 'response_format'", None),
    ],
)
def test_what_a_server_will_never_answer_is_told_from_what_it_does_not_know(
    status: int, message: str, kind: str | None
) -> None:
    assert Refusal(status, message).text_kind == kind


def test_an_empty_answer_is_asked_for_once_more_and_holds_for_one_process_and_one_lost_to_thinking_is_not(
    server: FakeServer, tmp_path: Path
) -> None:
    model = model_at(server)
    queries = model.queries(PROMPTS[:1], TEXTS[:5])
    server.change(shape="thought-out")
    assert all(answer.truncated and answer.is_thought for answer in model.engine.answers(queries))
    assert server.counts()["requests"] == 5
    server.change(shape="null")
    model = model_at(server, tmp_path)
    assert [answer.text for answer in model.engine.answers(queries)] == [None] * 5
    assert server.counts()["requests"] == 5 + 10
    model.few_may_fail = True
    assert (model.predict(PROMPTS[:1], TEXTS[:5]) == len(LABELS)).all()
    server.change(shape="plain")
    assert [answer.text for answer in model.engine.answers(queries)] == [None] * 5  # not asked again here
    assert server.counts()["requests"] == 15
    for _ in range(2):
        assert all(answer.text for answer in model_at(server, tmp_path).engine.answers(queries))
    assert server.counts()["requests"] == 20


CALL = {"content": "Let me sort.", "tool_calls": [{"function": {"name": "f", "arguments": "Number"}}]}
USED = {"content": [{"type": "text", "text": "Well."}, {"type": "tool_use", "name": "Number", "input": {}}]}
SURE = {"token": "Num", "logprob": 1000, "top_logprobs": [{"token": "Num", "logprob": 1000}]}


def reading(*choices: Any) -> Answer:
    """What is read of a completion with these choices, whose message is a label where they say nothing else."""
    body = {"choices": [{"message": {"content": "Number"}, **choice} for choice in choices]}
    return read_completion(json.dumps(body).encode())


def test_what_a_completion_says_is_read_in_the_words_of_any_server() -> None:
    for beside_a_call in (CALL, USED):
        assert reading({"message": beside_a_call, "finish_reason": "tool_calls"}).text == "Number"
    assert reading({"logprobs": {"content": [SURE]}}).logprobs == [("Num", [("Num", 0.0)])]  # never above 0
    endings = {"length": True, "model_length": True, "max_tokens": True, "MAX_TOKENS": True, "stop": False, None: False}
    assert {ending: reading({"finish_reason": ending}).truncated for ending in endings} == endings
    person = {"message": {"content": "Person"}}
    assert reading({"index": 1}, {"index": 0, **person}).text == "Person"  # of several the first by its number


@each(
    "choice, said",
    [
        ({"message": {"content": [{"type": "text"}]}}, "an empty answer"),
        ({"message": {"content": 5}}, "no chat completion"),
        ({"message": {"content": {"text": "x"}}}, "no chat completion"),
        ({"finish_reason": "abort"}, r"\(abort\)"),
    ],
)
def test_an_answer_of_no_known_shape_or_broken_off_is_asked_for_again(choice: Any, said: str) -> None:
    with pytest.raises(TransientError, match=said):
        reading(choice)
