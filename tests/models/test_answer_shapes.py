"""Answers in the shapes that real servers give them, over a real socket: read, or refused in one line, and soon."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import AnswersMissingError, ModelError
from psopt.models import AnswerCache
from psopt.models.chat import LMConfig, chat_model
from psopt.models.chat._client import Answer, TransientError
from psopt.models.chat._completion import ErrorInAnswerError, read_completion
from psopt.models.chat._refusals import kind_of_refusal, message_of
from psopt.search_spaces import Prompt

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("Entity", "Person", "Number")
TEXTS = [f"What is thing {i} ?" for i in range(30)]
PROMPTS = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Say the class.")]
READ = ("parts", "thinking-parts", "reasoning", "reasoning-field", "all-reasoning", "think", "fenced", "stream")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    monkeypatch.setattr("psopt.models.chat._request_scheduler._FIRST_WAIT", 0.01)


def model_at(server: FakeServer, tmp_path: Path, **options: Any) -> Any:
    return chat_model("openai", "test", AnswerCache(tmp_path), LMConfig(api_base=server.url, **options))


@pytest.fixture(scope="module")
def expected() -> Any:
    """What is read where answers are plain."""
    with FakeServer() as server:
        options = LMConfig(api_base=server.url)
        return chat_model("openai", "test", AnswerCache(None), options).predict(PROMPTS, TEXTS)


def test_another_model_than_the_one_that_was_asked_is_named_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with FakeServer(shape="falls-back") as server:
        model = model_at(server, tmp_path)
        model.predict(PROMPTS, TEXTS)
        again = model_at(server, tmp_path)
        again.predict(PROMPTS, TEXTS)  # from the cache, which keeps it too
    assert set(model.answered_by) == {"test", "smaller"}
    assert again.answered_by == model.answered_by
    assert model.answered_by.total() == len(PROMPTS) * len(TEXTS)
    assert sum("several models have answered" in line for line in caplog.messages) == 2


@pytest.mark.parametrize(
    ("named", "is_said"), [("test-2024-08-06", False), ("openai/Test:latest", False), ("test-mini", True), ("", False)]
)
def test_where_all_answers_are_of_another_model_it_is_said_once(
    named: str, is_said: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with FakeServer() as server:
        model = model_at(server, tmp_path)
        for _ in range(2):
            model._note_models([Answer("Person", model=named)])
    assert sum("say that they are of" in line for line in caplog.messages) == is_said


@pytest.mark.parametrize(
    "message",
    [
        {
            "content": "Let me sort a Number.",
            "tool_calls": [{"function": {"name": "f", "arguments": '{"label": "b"}'}}],
        },
        {"content": [{"type": "text", "text": "Well."}, {"type": "tool_use", "name": "f", "input": {"label": "b"}}]},
    ],
)
def test_what_is_said_beside_a_tool_call_is_no_answer(message: Any) -> None:
    body = {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "tool_calls"}]}
    assert json.loads(read_completion(json.dumps(body).encode()).text or "") == {"label": "b"}


@pytest.mark.parametrize(("reads", "is_said"), [(0, False), (10_000, False), (300, True), (40, True)])
def test_what_a_server_does_not_read_is_said_once(
    reads: int, is_said: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = [f"{text} {'and so on for a long while ' * 60 * place}" for place, text in enumerate(TEXTS, start=1)]
    with FakeServer(reads=reads) as server:
        model = model_at(server, tmp_path)
        model.predict(PROMPTS, texts)
        model.predict(PROMPTS, texts)
    lines = [line for line in caplog.messages if "the server counts" in line]
    assert len(lines) == is_said
    if is_said:
        assert f"counts {reads} tokens" in lines[0]
        assert "num_ctx" in lines[0]


@pytest.mark.parametrize("shape", [*READ, "error200", "finish-error", "tool-call"])
def test_the_shape_of_an_answer_changes_no_label(tmp_path: Path, shape: Any, expected: Any) -> None:
    with FakeServer(shape=shape) as server:
        found = model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    assert (found == expected).all()


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("error200-final", "HTTP 400 .*Provider returned error"),
        ("list-error", "HTTP 400 .*API key not valid"),
        ("html", "no chat completion: '<html>"),
    ],
)
def test_what_can_not_be_read_is_said_in_one_line_after_a_few_requests(tmp_path: Path, shape: str, said: str) -> None:
    with FakeServer(shape=shape) as server:
        with pytest.raises(ModelError, match=said) as caught:
            model_at(server, tmp_path, concurrency=4).predict(PROMPTS, TEXTS)
        assert server.counts()["requests"] <= 16
    assert "\n" not in str(caught.value)


def test_the_error_in_an_answer_decides_whether_it_passes() -> None:
    for code, status in [(429, 429), ("502", 502), ("unknown", 500)]:
        with pytest.raises(ErrorInAnswerError) as caught:
            read_completion(json.dumps({"error": {"code": code, "message": "no"}}).encode())
        assert caught.value.status == status


def test_a_choice_that_ends_in_an_error_is_no_answer() -> None:
    choice = {"message": {"content": "Number"}, "finish_reason": "error", "error": {"code": 403, "message": "flagged"}}
    with pytest.raises(ErrorInAnswerError) as caught:
        read_completion(json.dumps({"choices": [choice]}).encode())
    assert caught.value.status == 403


def test_a_stream_that_breaks_off_is_a_fault() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Num"}, "finish_reason": None}]}
    with pytest.raises(TransientError, match="no chat completion"):
        read_completion(b"data: " + json.dumps(chunk).encode() + b"\n\n")


def test_an_error_in_a_stream_is_an_error() -> None:
    with pytest.raises(ErrorInAnswerError) as caught:
        read_completion(b'data: {"error": {"code": 503, "message": "overloaded"}}\n\n')
    assert caught.value.status == 503


@pytest.mark.parametrize("content", [[{"type": "text"}], 5, [5], {"text": "x"}])
def test_content_of_no_known_shape_is_a_fault(content: Any) -> None:
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    with pytest.raises(TransientError):
        read_completion(json.dumps({"choices": [choice]}).encode())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}], "no INVALID_ARGUMENT"),
        ({"error": "model not found"}, "model not found"),
        ({"message": "no", "code": "429"}, "no"),
        ({"detail": [{"loc": ["body", "seed"]}]}, "all of it"),
        (None, "all of it"),
    ],
)
def test_errors_are_read_in_their_shapes(body: Any, message: str) -> None:
    assert message_of(body, "all of it") == message


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "maximum context length is 512 tokens .. plus 256 'max_tokens'", "context length"),
        (400, "the request exceeds the available context size exceed_context_size_error", "context length"),
        (500, "Requested tokens (900) exceed context window of 512", "context length"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "context length"),
        (400, "triggering Azure OpenAI's content management policy content_filter", "content filter"),
        (400, "Failed to generate JSON. json_validate_failed", "invalid JSON"),
        (500, "content_filter is down", None),
        (429, "maximum context length", None),
        (400, "Unsupported parameter: 'response_format'", None),
        (400, "max_tokens is not supported with this model", None),
    ],
)
def test_what_a_server_will_never_answer_is_told_from_what_it_does_not_know(
    status: int, message: str, kind: str | None
) -> None:
    assert kind_of_refusal(status, message) == kind


def test_an_empty_answer_is_asked_for_once_more_and_then_it_is_the_answer(tmp_path: Path) -> None:
    with FakeServer(shape="null") as server:
        model = model_at(server, tmp_path)
        answers = model.engine.answers(model.queries(PROMPTS[:1], TEXTS[:5]))
        assert [answer.text for answer in answers] == [None] * 5
        assert server.counts()["requests"] == 10


def test_an_answer_lost_to_thinking_is_asked_for_once(tmp_path: Path) -> None:
    with FakeServer(shape="thought-out") as server:
        model = model_at(server, tmp_path)
        answers = model.engine.answers(model.queries(PROMPTS[:1], TEXTS[:5]))
        assert all(answer.truncated and answer.is_thought for answer in answers)
        assert server.counts()["requests"] == 5


def test_a_server_that_never_sent_an_answer_is_not_waited_for(tmp_path: Path) -> None:
    with FakeServer(faults="nochoices", fault_rate=1.0) as server:
        with pytest.raises(AnswersMissingError, match="failed 4 times"):
            model_at(server, tmp_path, concurrency=1).predict(PROMPTS, TEXTS)
        assert server.counts()["requests"] == 4


def test_dspy_takes_a_text_that_is_never_answered_as_n_a(tmp_path: Path) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    with FakeServer(unanswerable="thing 7 :vllm_context") as server:
        options = LMConfig(api_base=server.url)
        model = chat_model("dspy", "openai/test", AnswerCache(tmp_path), options)
        answers = model.engine.answers(model.queries(PROMPTS[:1], TEXTS[:10]))
        assert [answer.unanswered for answer in answers] == [None] * 7 + ["context length"] + [None] * 2


def test_a_model_that_only_reasons_is_told_from_one_that_names_no_label(tmp_path: Path) -> None:
    said = "none of the first 20 .* sends them as reasoning"
    with FakeServer(shape="all-reasoning", answer="fixed:Something else") as server:
        model = model_at(server, tmp_path)
        with pytest.raises(ModelError, match=said):
            model.predict(PROMPTS, TEXTS)


def test_what_was_written_counts_among_the_likeliest() -> None:
    """llama.cpp lists the likeliest before its grammar, and what was written may be none of them."""
    place = {"token": "Ent", "logprob": -5.0, "top_logprobs": [{"token": "The", "logprob": -0.1}]}
    choice = {"message": {"content": "Ent"}, "logprobs": {"content": [place]}}
    answer = read_completion(json.dumps({"choices": [choice]}).encode())
    assert answer.logprobs == [("Ent", [("The", -0.1), ("Ent", -5.0)])]
