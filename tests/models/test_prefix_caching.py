"""What prompts have in common is asked next to each other, and what servers had read before is counted and priced."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from psopt.evaluation import Grid
from psopt.models import AnswerCache
from psopt.models.chat import Budget, LMConfig, Price, chat_model, price_of
from psopt.report._run_report import _facts
from psopt.runs._manifest import calls
from psopt.search_spaces import Prompt

from tests.fake_server import FakeServer
from tests.fake_server._answering import digest
from tests.fake_server._prefix_cache import PrefixCache

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("Entity", "Person", "Number")
TEXTS = [f"What is thing {i} ?" for i in range(40)]
LONG = "Sort the question by what it asks for, and by nothing else that it may hold. " * 10
CONCURRENCY = 4


def test_requests_go_out_prompt_by_prompt_with_the_text_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    prompts = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Say it.", "Name it.")]
    with FakeServer(delay_ms=2.0) as server:
        options = LMConfig(api_base=server.url, concurrency=CONCURRENCY)
        model = chat_model("openai", "test", AnswerCache(tmp_path), options)
        queries = model.queries(prompts, TEXTS)
        model.predict(prompts, TEXTS)
        arrived = [request["sha256"] for request in server.requests()]
    places = {digest(model.engine.client.request(query)): place for place, query in enumerate(queries)}
    late = [abs(places[name] - place) for place, name in enumerate(arrived)]
    assert len(late) == len(queries)
    assert max(late) <= CONCURRENCY
    asked = zip(queries, TEXTS * len(prompts), strict=True)
    assert all(query.messages[-1]["content"].endswith(f"{text}\nLabel:") for query, text in asked)


def test_cached_input_is_counted_and_costs_what_the_table_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('"openai/test" = { in = 1.0, cached = 0.1, out = 2.0 }')
    monkeypatch.setenv("PSOPT_PRICES", str(prices))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    with FakeServer(cached_from=128) as server:
        model = chat_model("openai", "test", AnswerCache(tmp_path), LMConfig(api_base=server.url))
        model.predict([Prompt(LONG, LABELS, "question")], TEXTS)
    usage = model.engine.budget.usage
    assert usage.cached_in == 128 * (len(TEXTS) - 1)
    read_anew = usage.tokens_in - usage.cached_in
    assert usage.cost == pytest.approx((read_anew + 0.1 * usage.cached_in + 2.0 * usage.tokens_out) / 1e6)
    first = calls(Budget(usage=usage))
    assert first["cached_input_tokens"] == usage.cached_in
    assert calls(Budget(usage=usage, earlier=usage))["cached_input_tokens"] == 2 * usage.cached_in
    to_come = Grid.of(model, [Prompt(LONG, LABELS, "question")], [f"What is it {i} ?" for i in range(40)])
    assert to_come.cached_share == usage.cached_in / usage.tokens_in
    price = model.engine.meter.price
    saved = replace(to_come, cached_share=0.0).need(price).cost - to_come.need(price).cost
    assert saved == pytest.approx(0.9 * to_come.tokens.middle * to_come.cached_share / 1e6)
    run = {
        "dataset": {"name": "d", "source": "file", "sha256": "0" * 64, "evaluated": {"train": 1, "val": 1, "test": 1}},
        "calls": first,
        "rephrasings": {"search": [""], "heldout": [""]},
        "settings": {"trials": 1, "sampler": "tpe"},
        "seconds": 1.0,
        "seed": 1,
        "model": "openai/test",
        "psopt_version": "0",
        "command": "",
    }
    assert f"({usage.cached_in:,} of them from the server's own cache)" in dict(_facts(run))["answers"]
    assert Grid.of(model, [Prompt(LONG, LABELS, "question")], TEXTS).need(price.in_batches()).cost == 0.0  # all known


def test_without_a_price_of_its_own_cached_input_costs_as_much_as_the_rest() -> None:
    assert Price(2.0, 8.0).of(1e6, 0, 5e5) == 2.0
    assert Price(2.0, 8.0, 0.5).of(1e6, 1e6, 5e5) == 1.0 + 0.25 + 8.0
    assert Price(2.0, 8.0, 0.5).in_batches().of(1e6, 1e6, 5e5) == 5.0  # no discount on the discount is counted on
    shipped = price_of("openai/gpt-4o-mini")
    assert shipped
    assert shipped.cached_in == shipped.tokens_in / 2


def test_the_server_counts_beginnings_in_steps_of_128_tokens() -> None:
    cache = PrefixCache()
    body = {"messages": [{"role": "user", "content": "a" * 4 * 300}]}
    longer = {"messages": [{"role": "user", "content": "a" * 4 * 300 + "b"}]}
    assert cache.cached_tokens(body, 256) == 0
    assert cache.cached_tokens(longer, 256) == 256
    assert cache.cached_tokens(longer, 1024) == 0
