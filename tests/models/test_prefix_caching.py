"""What prompts have in common is asked next to each other, and what servers had read before is counted and priced."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.evaluation import Grid
from psopt.models import AnswerCache
from psopt.models.chat import LMConfig, Price, chat_model, price_of
from psopt.search_spaces import Prompt

from tests.fake_server import FakeServer
from tests.fake_server._answering import digest
from tests.fake_server._prefix_cache import PrefixCache

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

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
    to_come = Grid.of(model, [Prompt(LONG, LABELS, "question")], [f"What is it {i} ?" for i in range(40)])
    assert to_come.cached_share == usage.cached_in / usage.tokens_in
    price = model.engine.meter.price
    saved = replace(to_come, cached_share=0.0).need(price).cost - to_come.need(price).cost
    assert saved == pytest.approx(0.9 * to_come.tokens.middle * to_come.cached_share / 1e6)
    assert Grid.of(model, [Prompt(LONG, LABELS, "question")], TEXTS).need(price.in_batches()).cost == 0.0  # all known


def test_a_run_tells_it_and_adds_up_its_parts(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    task = replace(task, description=LONG)
    given: dict[str, Any] = {"rephrasings": 2, "heldout": 2, "rounds": 1, "samples": 8, "cache_dir": tmp_path}
    told = []
    with FakeServer(cached_from=128) as server:
        lm = LMConfig(api_base=server.url)
        for trials in (2, 3):
            out, is_second = tmp_path / "run", trials == 3
            psopt.optimize(task, model="openai/test", trials=trials, out=out, lm=lm, resume=is_second, **given)
            told.append(json.loads((out / "run.json").read_text())["calls"]["cached_input_tokens"])
    assert 0 < told[0] < told[1]
    report = html.unescape((out / "report.html").read_text())
    assert f"({told[1]:,} of them from the server's own cache)" in report


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
