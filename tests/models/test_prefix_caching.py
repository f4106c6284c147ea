"""What prompts have in common is asked next to each other, and what servers had read before is counted and priced."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psopt
import pytest
from psopt.models.chat import LMConfig
from psopt.runs import Grid
from psopt.search_spaces import Prompt
from psopt.tasks import Task

from tests.fake_server import FakeServer
from tests.fake_server._answering import digest
from tests.models.conftest import LABELS, PROMPTS, TEXTS, model_at

pytestmark = pytest.mark.usefixtures("quick")
LONG = "Sort the question by what it asks for, and by nothing else that it may hold. " * 10
CONCURRENCY = 4


def test_requests_go_out_prompt_by_prompt_with_the_text_last(server: FakeServer) -> None:
    server.change(delay_ms=2.0)
    model = model_at(server, concurrency=CONCURRENCY)
    queries = model.queries(PROMPTS, TEXTS)
    model.predict(PROMPTS, TEXTS)
    arrived = [request["sha256"] for request in server.requests()]
    places = {digest(model.engine.client.request(query)): place for place, query in enumerate(queries)}
    late = [abs(places[name] - place) for place, name in enumerate(arrived)]
    assert len(late) == len(queries)
    assert max(late) <= CONCURRENCY
    asked = zip(queries, TEXTS * len(PROMPTS), strict=True)
    assert all(query.messages[-1]["content"].endswith(f"{text}\nLabel:") for query, text in asked)


def test_cached_input_is_counted_and_costs_what_the_table_says(
    server: FakeServer, priced: Callable[[str], None]
) -> None:
    priced("in = 1.0, cached = 0.1, out = 2.0")
    server.change(cached_from=128)
    model, prompts = model_at(server), [Prompt(LONG, LABELS, "question")]
    model.predict(prompts, TEXTS)
    usage = model.engine.budget.usage
    assert usage.cached_in == 128 * (len(TEXTS) - 1)
    read_anew = usage.tokens_in - usage.cached_in
    assert usage.cost == pytest.approx((read_anew + 0.1 * usage.cached_in + 2.0 * usage.tokens_out) / 1e6)
    to_come = Grid.of(model, prompts, [f"What is it {i} ?" for i in range(40)])
    assert to_come.cached_share == usage.cached_in / usage.tokens_in
    price = model.engine.meter.price
    saved = replace(to_come, cached_share=0.0).need(price).cost - to_come.need(price).cost
    assert saved == pytest.approx(0.9 * to_come.tokens * to_come.cached_share / 1e6)
    assert Grid.of(model, prompts, TEXTS).need(price.in_batches()).cost == 0.0  # all known


def test_a_run_tells_it(server: FakeServer, task: Task, tmp_path: Path) -> None:
    server.change(cached_from=128)
    small: dict[str, Any] = {"trials": 2, "rephrasings": 2, "heldout": 2, "rounds": 1, "samples": 8}
    lm = LMConfig(api_base=server.url)
    run = tmp_path / "run"
    psopt.optimize(replace(task, description=LONG), model="openai/test", lm=lm, out=run, cache_dir=tmp_path, **small)
    told = json.loads((run / "run.json").read_text())["calls"]["cached_input_tokens"]
    assert told > 0
    assert f"({told:,} of them from the server's own cache)" in html.unescape((run / "report.html").read_text())
