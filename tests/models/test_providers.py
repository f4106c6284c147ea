"""What providers refuse is found out by one request before the others, whatever its words, and remembered."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.errors import ModelError
from psopt.models import AnswerCache
from psopt.models.chat import LMConfig, chat_model
from psopt.search_spaces import Example, Prompt

from tests.fake_server import PROVIDERS, FakeServer

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("Entity", "Person", "Number")
TEXTS = [f"What is thing {i} ?" for i in range(60)]
PROMPTS = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Say the class.")]
MODELS = {"reasoning": "gpt-5-mini", "deepseek": "deepseek-chat", "mistral": "mistral-small-latest"}


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("psopt.models.chat._request_scheduler._FIRST_WAIT", 0.01)


def model_at(server: FakeServer, tmp_path: Path, name: str = "test", **options: Any) -> Any:
    return chat_model("openai", name, AnswerCache(tmp_path), LMConfig(api_base=server.url, **options))


def refused(server: FakeServer) -> Any:
    return sum(count for status, count in server.counts()["statuses"].items() if status != "200")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_works_at_the_first_try_and_is_asked_nothing_in_vain_at_the_second(
    tmp_path: Path, provider: Any
) -> None:
    with FakeServer(provider=provider) as server:
        model = model_at(server, tmp_path, concurrency=32)
        first = model.predict(PROMPTS[:1], TEXTS)
        assert first.max() < len(LABELS)
        assert refused(server) <= 6
        # on a machine that is busy a call may be given up and sent again
        given_up = model.engine.budget.usage.failed
        assert server.counts()["statuses"]["200"] <= len(TEXTS) + 1 + given_up
        server.reset()
        second = model_at(server, tmp_path, concurrency=32)
        second.predict(PROMPTS[1:], TEXTS)
        assert server.counts()["statuses"] == {"200": len(TEXTS) + second.engine.budget.usage.failed}
        server.reset()
        assert (model_at(server, tmp_path).predict(PROMPTS[:1], TEXTS) == first).all()
        assert server.counts()["requests"] == 0


@pytest.mark.parametrize(("provider", "name"), MODELS.items())
def test_what_is_known_of_a_model_beforehand_is_not_refused(tmp_path: Path, provider: Any, name: Any) -> None:
    with FakeServer(provider=provider) as server:
        model_at(server, tmp_path, name).predict(PROMPTS[:1], TEXTS[:4])
        assert refused(server) == 0
        body = server.last_request()["body"]
    if provider == "reasoning":
        assert body["max_completion_tokens"] >= 4096  # room to think
    if provider == "mistral":
        assert body["random_seed"] == 42


def test_first_requests_wait_for_the_one_that_finds_out(tmp_path: Path) -> None:
    """Two engines of one model at the same time, as a task model and a rephraser are."""
    with FakeServer(provider="gemini", delay_ms=30) as server:
        engines = [model_at(server, tmp_path) for _ in range(2)]
        threads = [
            threading.Thread(target=model.predict, args=([prompt], TEXTS))
            for model, prompt in zip(engines, PROMPTS, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert refused(server) == 1
        assert server.counts()["statuses"]["200"] == 2 * len(TEXTS)


def test_a_refusal_teaches_one_thing_however_many_are_in_flight(tmp_path: Path) -> None:
    """A server that changes its mind during a run, as behind a router: all that are under way are refused at once."""
    with FakeServer() as server:
        model = model_at(server, tmp_path, concurrency=32)
        model.predict(PROMPTS[:1], TEXTS[:1])
        server.change(lacks="seed,temperature", delay_ms=20)
        assert model.predict(PROMPTS[:1], TEXTS).max() < len(LABELS)
        assert model.predict(PROMPTS[1:], TEXTS).max() < len(LABELS)


def test_the_request_that_finds_out_is_no_extra_one(tmp_path: Path) -> None:
    with FakeServer() as server:
        model = model_at(server, tmp_path)
        model.predict(PROMPTS, TEXTS)
        assert server.counts()["requests"] == len(PROMPTS) * len(TEXTS)
    assert model.engine.budget.usage.made == len(PROMPTS) * len(TEXTS)
    assert model.engine.budget.usage.cached == 0


def test_what_was_learnt_is_forgotten_on_demand(tmp_path: Path) -> None:
    with FakeServer(lacks="seed") as server:
        model_at(server, tmp_path).predict(PROMPTS[:1], TEXTS)
        server.change(lacks="")
        server.reset()
        model_at(server, tmp_path).predict(PROMPTS[1:], TEXTS)
        assert "seed" not in server.last_request()["body"]
        model_at(server, tmp_path, renegotiate=True).predict(PROMPTS[1:], TEXTS)
        assert server.last_request()["body"]["seed"] == 42


def test_looking_again_where_nothing_has_changed_pays_for_nothing(tmp_path: Path) -> None:
    with FakeServer(lacks="seed") as server:
        model_at(server, tmp_path).predict(PROMPTS, TEXTS)
        server.reset()
        model_at(server, tmp_path, renegotiate=True).predict(PROMPTS, TEXTS)
        assert server.counts()["statuses"] == {"400": 1}


def test_a_text_that_is_too_long_is_no_missing_feature(tmp_path: Path) -> None:
    """Not even where it is the first that is asked: vLLM names max_tokens in such a refusal."""
    with FakeServer(unanswerable="endless:vllm_context") as server:
        model = model_at(server, tmp_path, max_unanswered=1.0)
        found = model.predict(PROMPTS[:1], ["an endless text", *TEXTS[:3]])
        assert (found[:, 0] == len(LABELS)).tolist() == [True, False, False, False]
        model_at(server, tmp_path).predict(PROMPTS[1:], TEXTS[:3])
        assert server.last_request()["body"]["max_tokens"] == 256
        assert refused(server) == 1


def test_log_probabilities_are_asked_for_as_many_as_the_server_gives(tmp_path: Path) -> None:
    with FakeServer(provider="vllm") as server:
        model = model_at(server, tmp_path, logprobs=True)
        assert model.predict_proba(PROMPTS[:1], TEXTS).shape == (60, 1, 4)
        assert refused(server) == 2  # of 128 and of 20
        assert server.last_request()["body"]["top_logprobs"] == 5


def test_log_probabilities_are_asked_for_with_structure(tmp_path: Path) -> None:
    with FakeServer(structured="yes") as server:
        found = model_at(server, tmp_path, logprobs=True).predict_proba(PROMPTS[:1], TEXTS)
        body = server.last_request()["body"]
        plain = model_at(server, tmp_path, logprobs=True, structured=False).predict_proba(PROMPTS[:1], TEXTS)
        free = server.last_request()["body"]
    assert (body["response_format"]["type"], body["top_logprobs"]) == ("json_schema", 128)
    assert ("response_format" in free, free["top_logprobs"]) == (False, 20)
    np.testing.assert_allclose(found, plain, atol=1e-12)  # the fake server's shares are those of the labels


def test_of_a_structured_answer_only_what_is_read_is_kept(tmp_path: Path) -> None:
    with FakeServer(structured="yes") as server:
        model = model_at(server, tmp_path, logprobs=True)
        model.predict_proba(PROMPTS[:1], TEXTS[:1])
        kept = model.engine.kept(model.queries(PROMPTS[:1], TEXTS[:1]))[0]
    assert kept.logprobs[0] == ['{"label": "', []]
    assert all(alternatives for _, alternatives in kept.logprobs[1:-1])


@pytest.mark.parametrize("refusing", [{"provider": "one-of-two"}, {"logprobs": "free"}])
def test_a_server_that_cannot_do_both_is_asked_for_free_answers_and_keeps_its_form_elsewhere(
    tmp_path: Path, refusing: dict[str, str]
) -> None:
    with FakeServer(structured="yes", **refusing) as server:
        found = model_at(server, tmp_path, logprobs=True).predict_proba(PROMPTS[:1], TEXTS)
        n_asked = server.counts()["requests"]
        assert "response_format" not in server.last_request()["body"]
        model_at(server, tmp_path).predict(PROMPTS[:1], TEXTS)
        assert "response_format" in server.last_request()["body"]
    assert n_asked - len(TEXTS) <= 2  # 128 alternatives without a form are not asked for
    np.testing.assert_allclose(found.max(axis=2), 0.7)


def test_a_known_service_is_not_asked_for_more_than_it_gives(tmp_path: Path) -> None:
    with FakeServer(structured="yes") as server:
        model_at(server, tmp_path, "gpt-4o-mini", logprobs=True).predict_proba(PROMPTS[:1], TEXTS[:1])
        assert server.last_request()["body"]["top_logprobs"] == 20


@pytest.mark.parametrize("provider", ["gemini", "mistral"])
def test_a_server_without_log_probabilities_is_refused_in_one_line(tmp_path: Path, provider: str) -> None:
    with FakeServer(provider=provider) as server:
        with pytest.raises(ModelError, match=r"no log-probabilities.*leave --logprobs out"):
            model_at(server, tmp_path, logprobs=True).predict_proba(PROMPTS[:1], TEXTS)
        assert refused(server) <= 4


def test_a_known_model_without_log_probabilities_is_not_even_asked(tmp_path: Path) -> None:
    with FakeServer() as server:
        with pytest.raises(ModelError, match="leave --logprobs out"):
            model_at(server, tmp_path, "o3-mini", logprobs=True).predict_proba(PROMPTS[:1], TEXTS)
        assert server.counts()["requests"] == 0


def test_a_dummy_key_does_not_hide_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "token")
    with FakeServer(provider="reasoning", key="token") as server:
        assert model_at(server, tmp_path).predict(PROMPTS[:1], TEXTS).max() < len(LABELS)


def test_json_is_asked_for_in_the_messages_where_no_schema_is_taken(tmp_path: Path) -> None:
    with FakeServer(provider="deepseek") as server:
        model_at(server, tmp_path).predict(PROMPTS[:1], TEXTS[:1])
        body = server.last_request()["body"]
    assert body["response_format"] == {"type": "json_object"}
    assert body["messages"][-1]["content"].endswith("Label:")


@pytest.mark.parametrize("provider", ["", "deepseek"])
def test_examples_are_answered_in_the_form_that_is_asked_for(tmp_path: Path, provider: Any) -> None:
    shown = replace(PROMPTS[0], examples=(Example("Hot ?", LABELS[0]),))
    with FakeServer(provider=provider) as server:
        for structured, expected in ((True, '{"label": "Entity"}'), (False, "Entity")):
            model_at(server, tmp_path, structured=structured).predict([shown], TEXTS[:1])
            answered = server.last_request()["body"]["messages"][-2]
            assert answered == {"role": "assistant", "content": expected}


def test_a_wrong_model_name_is_said_with_those_there_are(tmp_path: Path) -> None:
    said = r"did you mean 'llama-3-8b'\?; it has llama-3-8b"
    with FakeServer(model="llama-3-8b") as server, pytest.raises(ModelError, match=said):
        model_at(server, tmp_path, "llama-3").predict(PROMPTS[:1], TEXTS)


def test_an_address_without_v1_is_said(tmp_path: Path) -> None:
    with FakeServer() as server:
        options = LMConfig(api_base=server.url.removesuffix("/v1"))
        model = chat_model("openai", "test", AnswerCache(tmp_path), options)
        with pytest.raises(ModelError, match=rf"HTTP 404.*most addresses end in /v1: --api-base {server.url}"):
            model.predict(PROMPTS[:1], TEXTS)
