"""What providers refuse is found out by one request before the others, whatever its words, and remembered."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.errors import ModelError
from psopt.models import AnswerCache
from psopt.models.chat import LMConfig, TransientError, chat_model
from psopt.models.chat._openai_client import OpenAIClient
from psopt.search_spaces import Example

from tests.fake_server import PROVIDERS, FakeServer
from tests.models.conftest import LABELS, PROMPTS, TEXTS, model_at
from tests.sweeps import each

pytestmark = pytest.mark.usefixtures("quick")


def becomes(server: FakeServer, **options: Any) -> None:
    """Have the server be another, that has seen nothing."""
    server.change(**{"provider": "", "structured": "ignore", "logprobs": "yes", **options})
    server.reset()


def refused(server: FakeServer) -> Any:
    return sum(count for status, count in server.counts()["statuses"].items() if status != "200")


def body_of(server: FakeServer) -> Any:
    return server.last_request()["body"]


@each("provider", [*PROVIDERS, ""])
def test_a_provider_works_at_the_first_try_and_is_asked_nothing_in_vain_at_the_second(
    provider: str, server: FakeServer, tmp_path: Path
) -> None:
    becomes(server, provider=provider, lacks="" if provider else "response_format,seed,temperature,max_tokens")
    folder, texts = tmp_path / provider, TEXTS[:12]
    model = model_at(server, folder)
    first = model.predict(PROMPTS[:1], texts)
    assert first.max() < len(LABELS)
    assert refused(server) <= 6
    # on a machine that is busy a call may be given up and sent again
    assert server.counts()["statuses"]["200"] <= len(texts) + 1 + model.engine.budget.usage.failed
    server.reset()
    second = model_at(server, folder)
    second.predict(PROMPTS[1:], texts)
    assert server.counts()["statuses"] == {"200": len(texts) + second.engine.budget.usage.failed}
    server.reset()
    assert (model_at(server, folder).predict(PROMPTS[:1], texts) == first).all()
    assert server.counts()["requests"] == 0


def test_what_is_known_of_a_model_beforehand_is_not_refused_and_a_dummy_key_hides_no_refusal(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for provider, name, field, value in (
        ("reasoning", "gpt-5-mini", "max_completion_tokens", 256 + 8_000),  # room to think
        ("deepseek", "deepseek-chat", "max_tokens", 256),
        ("mistral", "mistral-small-latest", "random_seed", 42),
    ):
        becomes(server, provider=provider)
        model_at(server, name=name).predict(PROMPTS[:1], TEXTS[:4])
        assert refused(server) == 0, provider
        assert body_of(server)[field] == value
    monkeypatch.setenv("OPENAI_API_KEY", "token")
    becomes(server, provider="reasoning", key="token")
    assert model_at(server).predict(PROMPTS[:1], TEXTS).max() < len(LABELS)


def test_first_requests_wait_for_the_one_that_finds_out(server: FakeServer, tmp_path: Path) -> None:
    """Two engines of one model at the same time, as a task model and a rephraser are."""
    server.change(provider="gemini", delay_ms=30)
    with ThreadPoolExecutor(2) as threads:
        for prompt in PROMPTS:
            threads.submit(model_at(server, tmp_path).predict, [prompt], TEXTS)
    assert refused(server) == 1
    assert server.counts()["statuses"]["200"] == 2 * len(TEXTS)


def test_what_was_learnt_is_forgotten_on_demand_and_looking_again_in_vain_pays_for_nothing(
    server: FakeServer, tmp_path: Path
) -> None:
    server.change(lacks="seed")
    model_at(server, tmp_path).predict(PROMPTS[:1], TEXTS)
    server.reset()
    model_at(server, tmp_path, renegotiate=True).predict(PROMPTS[:1], TEXTS)
    assert server.counts()["statuses"] == {"400": 1}
    server.change(lacks="")
    model_at(server, tmp_path).predict(PROMPTS[1:], TEXTS)
    assert "seed" not in body_of(server)
    model_at(server, tmp_path, renegotiate=True).predict(PROMPTS[1:], TEXTS)
    assert body_of(server)["seed"] == 42


def test_a_text_that_is_too_long_is_no_missing_feature(server: FakeServer, tmp_path: Path) -> None:
    """Not even where it is the first that is asked: vLLM names max_tokens in such a refusal."""
    server.change(unanswerable="endless:vllm_context")
    found = model_at(server, tmp_path, max_unanswered=1.0).predict(PROMPTS[:1], ["an endless text", *TEXTS[:3]])
    assert (found[:, 0] == len(LABELS)).tolist() == [True, False, False, False]
    model_at(server, tmp_path).predict(PROMPTS[1:], TEXTS[:3])
    assert body_of(server)["max_tokens"] == 256
    assert refused(server) == 1


def test_log_probabilities_are_asked_for_with_structure(server: FakeServer) -> None:
    server.change(structured="yes")
    model = model_at(server, logprobs=True)
    found = model.predict_proba(PROMPTS[:1], TEXTS)
    asked = body_of(server)
    plain = model_at(server, logprobs=True, structured=False).predict_proba(PROMPTS[:1], TEXTS)
    free = body_of(server)
    assert (asked["response_format"]["type"], asked["top_logprobs"]) == ("json_schema", 128)
    assert ("response_format" in free, free["top_logprobs"]) == (False, 20)
    np.testing.assert_allclose(found, plain, atol=1e-12)  # the fake server's shares are those of the labels
    np.testing.assert_allclose(found.sum(axis=2), 1.0)
    assert (found.argmax(axis=2) == model.predict(PROMPTS[:1], TEXTS)).all()
    kept = model.engine.kept(model.queries(PROMPTS[:1], TEXTS[:1]))[0]  # no more than what is read
    assert kept.logprobs[0] == ['{"label": "', []]
    assert all(alternatives for _, alternatives in kept.logprobs[1:-1])
    model_at(server, name="gpt-4o-mini", logprobs=True).predict_proba(PROMPTS[:1], TEXTS[:1])
    assert body_of(server)["top_logprobs"] == 20  # a known service gives no more


@each("refusing", [{"provider": "one-of-two"}, {"logprobs": "free"}])
def test_a_server_that_cannot_do_both_is_asked_for_free_answers_and_keeps_its_form_elsewhere(
    refusing: dict[str, str], server: FakeServer, tmp_path: Path
) -> None:
    becomes(server, structured="yes", **refusing)
    folder = tmp_path / next(iter(refusing))
    found = model_at(server, folder, logprobs=True).predict_proba(PROMPTS[:1], TEXTS)
    assert "response_format" not in body_of(server)
    assert server.counts()["requests"] - len(TEXTS) <= 2  # 128 alternatives without a form are not asked for
    model_at(server, folder).predict(PROMPTS[:1], TEXTS)
    assert "response_format" in body_of(server)
    np.testing.assert_allclose(found.max(axis=2), 0.7)


@each("provider, name, most", [("gemini", "test", 4), ("mistral", "test", 4), ("", "o3-mini", 0)])
def test_a_server_without_log_probabilities_is_refused_in_one_line_and_a_known_one_is_not_even_asked(
    provider: str, name: str, most: int, server: FakeServer
) -> None:
    becomes(server, provider=provider)
    with pytest.raises(ModelError, match=r"log-probabilities.*leave --logprobs out") as caught:
        model_at(server, name=name, logprobs=True).predict_proba(PROMPTS[:1], TEXTS)
    assert "\n" not in str(caught.value)
    assert server.counts()["requests"] == refused(server) <= most


def test_the_form_of_examples_is_the_one_that_is_asked_for_in_the_messages_where_no_schema_is_taken(
    server: FakeServer,
) -> None:
    shown = replace(PROMPTS[0], examples=(Example("Hot ?", LABELS[0]),))
    for provider in ("", "deepseek"):
        server.change(provider=provider)
        for structured, expected in ((False, "Entity"), (True, '{"label": "Entity"}')):
            model_at(server, structured=structured).predict([shown], TEXTS[:1])
            assert body_of(server)["messages"][-2] == {"role": "assistant", "content": expected}
    assert body_of(server)["response_format"] == {"type": "json_object"}
    assert body_of(server)["messages"][-1]["content"].endswith("Label:")


def test_a_wrong_model_name_and_an_address_without_v1_are_said(server: FakeServer) -> None:
    bare = chat_model("openai", "test", AnswerCache(None), LMConfig(api_base=server.url.removesuffix("/v1")))
    with pytest.raises(ModelError, match=rf"HTTP 404.*most addresses end in /v1: --api-base {server.url}"):
        bare.predict(PROMPTS[:1], TEXTS)
    server.change(model="llama-3-8b")
    with pytest.raises(ModelError, match=r"did you mean 'llama-3-8b'\?; it has llama-3-8b"):
        model_at(server, name="llama-3").predict(PROMPTS[:1], TEXTS)


def test_what_speaks_no_tls_and_a_proxy_that_is_not_there_are_told_from_a_server_that_is_not(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = OpenAIClient("x", LMConfig(api_base=server.url.replace("http:", "https:")))
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    behind = OpenAIClient("x", LMConfig(api_base="http://gate.test/v1"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    alone = OpenAIClient("x", LMConfig(api_base="http://127.0.0.1:9/v1"))
    said = ("/v1: it speaks no TLS", "the proxy 127.0.0.1:9 ", "127.0.0.1:9/v1: is the server running?")

    async def ask(client: Any) -> None:
        try:
            await client.send({"model": "x", "messages": []})
        finally:
            await client.close()

    for client, words in zip((plain, behind, alone), said, strict=True):
        with pytest.raises(TransientError, match=re.escape(words)) as caught:
            asyncio.run(ask(client))
        assert caught.value.unreachable
