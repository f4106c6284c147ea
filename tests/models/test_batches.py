"""Grids asked by the batch API, at a server on the loopback that behaves as the published one."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import AnswersMissingError, BudgetReachedError, InputError, ModelError, UnansweredError
from psopt.models import AnswerCache
from psopt.models.chat import Budget, LMConfig, chat_model, price_of
from psopt.models.chat._client import ModelRefusedError, TransientError
from psopt.models.chat.batches import BatchRunner, BatchService
from psopt.search_spaces import Prompt

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LABELS = ("Entity", "Person", "Number")
TEXTS = [f"What is thing {i} ?" for i in range(30)]
PROMPTS = [Prompt(description, LABELS, "question") for description in ("Sort it.", "Say the class.")]
N = len(TEXTS) * len(PROMPTS)
N_FIRST = 1  # asked alone, to see what the server takes; it names a label, which is enough
DEFAULTS: dict[str, Any] = {
    "batch_ms": 10.0,
    "batch_endings": "",
    "batch_share": 0.5,
    "batches": "yes",
    "poll_faults": 0,
    "lacks": "",
    "unanswerable": "",
    "model": "",
    "faults": "",
    "structured": "ignore",
}


@pytest.fixture(scope="module")
def started() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture
def server(started: FakeServer) -> FakeServer:
    started.change(**DEFAULTS)
    started.reset()
    return started


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A key of each test's own, so that none sees another's batches."""
    monkeypatch.setenv("OPENAI_API_KEY", f"sk-{request.node.name}")


def model_at(server: FakeServer, folder: Path, budget: Budget | None = None, **options: Any) -> Any:
    chosen = LMConfig(api_base=server.url, **{"batch": True, "batch_tick": 0.01, **options})
    return chat_model("openai", "test", AnswerCache(folder), chosen, budget)


def own_batches(server: FakeServer, since: int) -> list[dict[str, Any]]:
    return server.batches()[since:]


def alone(server: FakeServer, folder: Path, texts: list[str] = TEXTS) -> Any:
    return model_at(server, folder / "alone", batch=False).predict(PROMPTS, texts)


def files_in(folder: Path) -> list[Path]:
    return list((folder / "batches").glob("*"))


def test_a_grid_is_answered_by_a_batch_as_it_is_alone(server: FakeServer, tmp_path: Path) -> None:
    expected = alone(server, tmp_path)
    server.reset()
    before = len(server.batches())
    model = model_at(server, tmp_path)
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    (batch,) = own_batches(server, before)
    assert batch["request_counts"] == {"total": N - N_FIRST, "completed": N - N_FIRST, "failed": 0}
    assert (batch["endpoint"], batch["completion_window"]) == ("/v1/chat/completions", "24h")
    assert model.engine.budget.usage.made == N
    assert files_in(tmp_path) == []
    assert (model_at(server, tmp_path).predict(PROMPTS, TEXTS) == expected).all()
    assert server.counts()["requests"] == N


def test_batches_keep_to_their_size_and_number(server: FakeServer, tmp_path: Path) -> None:
    before = len(server.batches())
    server.change(batch_ms=60.0)
    most_open = 0
    model = model_at(server, tmp_path, batch_size=10, max_batches=2)
    send = model.engine.batches._send

    async def watched(lines: dict[bytes, bytes]) -> Any:
        nonlocal most_open
        sent = await send(lines)
        most_open = max(most_open, len(files_in(tmp_path)))
        return sent

    model.engine.batches._send = watched
    model.predict(PROMPTS, TEXTS)
    assert [batch["request_counts"]["total"] for batch in own_batches(server, before)] == [10, 10, 10, 10, 10, 9]
    assert most_open == 2


def test_a_file_keeps_to_the_most_bytes(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psopt.models.chat.batches._runner.MOST_BYTES", 8_000)
    server.change(batch_most_bytes=8_000)
    before = len(server.batches())
    try:
        model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    finally:
        server.change(batch_most_bytes=200_000_000)
    assert len(own_batches(server, before)) > 1
    assert server.counts()["answered_twice"] == 0


@pytest.mark.parametrize("endings", ["partial", "expired", "cancelled", "rejected", "partial,expired,cancelled"])
def test_what_a_batch_leaves_is_asked_again_and_nothing_twice(server: FakeServer, tmp_path: Path, endings: str) -> None:
    expected = alone(server, tmp_path)
    server.reset()
    server.change(batch_endings=endings)
    before = len(server.batches())
    model = model_at(server, tmp_path)
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    batches = own_batches(server, before)
    n_batches = 2 + endings.count(",")
    assert len(batches) == n_batches
    assert server.counts()["answered_twice"] == 0
    assert model.engine.budget.usage.made == N
    assert files_in(tmp_path) == []


def test_a_line_that_batches_fail_at_is_asked_alone(server: FakeServer, tmp_path: Path) -> None:
    server.change(batch_endings="partial,partial,partial")
    before = len(server.batches())
    model = model_at(server, tmp_path)
    model.predict(PROMPTS, TEXTS)
    totals = [batch["request_counts"]["total"] for batch in own_batches(server, before)]
    assert totals == [59, 30, 15]
    assert model.engine.budget.usage.failed == 30 + 15 + 8


def test_a_batch_that_the_server_refuses_ends_the_run(server: FakeServer, tmp_path: Path) -> None:
    server.change(batch_endings="tokens,failed")
    with pytest.raises(ModelError, match=r"did not take batch_\d+ for openai/test: Billing hard limit"):
        model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    assert files_in(tmp_path) == []


def test_expired_batches_without_answers_end_the_grid(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> bytes:
        return b""

    monkeypatch.setattr(BatchService, "content", nothing)
    with pytest.raises(AnswersMissingError, match=r"3 batches in a row ended without an answer; the last, batch_\d+"):
        model_at(server, tmp_path).predict(PROMPTS, TEXTS)


def test_too_many_tokens_waiting_make_smaller_batches(server: FakeServer, tmp_path: Path) -> None:
    server.change(batch_endings="tokens")
    before = len(server.batches())
    model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    statuses = [(batch["status"], batch["request_counts"]["total"]) for batch in own_batches(server, before)]
    assert statuses == [("failed", 0), ("completed", 29), ("completed", 29), ("completed", 1)]


def test_an_interrupted_grid_is_gone_on_with_by_its_batch(server: FakeServer, tmp_path: Path) -> None:
    expected = alone(server, tmp_path)
    server.reset()
    before = len(server.batches())
    server.change(batch_ms=1e6)
    model = model_at(server, tmp_path)
    run_until_open(model, tmp_path)
    (file,) = files_in(tmp_path)
    batch = json.loads(file.read_text())
    assert (batch["server"], len(batch["keys"])) == (server.url, N - N_FIRST)
    assert "sk-" not in file.read_text()
    assert model.engine.budget._reserved.calls == 0
    server.change(batch_ms=10.0)
    model = model_at(server, tmp_path)
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    assert len(own_batches(server, before)) == 1
    assert server.counts()["answered_twice"] == 0
    assert model.engine.budget.usage.made == N - N_FIRST


def run_until_open(model: Any, folder: Path) -> None:
    """Predict until a batch is open, then Ctrl-C, as it arrives at the loop."""
    from psopt.models.chat import _worker_pool

    queries = model.queries(PROMPTS, TEXTS)
    with pytest.MonkeyPatch.context() as patched:
        tasks: list[asyncio.Task[Any]] = []
        answer = BatchRunner.answer

        async def watched(self: Any, *arguments: Any) -> Any:
            task = asyncio.current_task()
            assert task
            tasks.append(task)
            return await answer(self, *arguments)

        patched.setattr(BatchRunner, "answer", watched)
        failures: list[BaseException] = []

        def ask() -> None:
            try:
                model.predict(PROMPTS, TEXTS)
            except BaseException as error:  # noqa: BLE001  # looked at below
                failures.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not any(json.loads(file.read_text())["id"] for file in (folder / "batches").glob("*.json")):
            time.sleep(0.005)
        _worker_pool._loop().call_soon_threadsafe(tasks[0].cancel)
        thread.join()
    assert len(queries) == N
    assert failures


@pytest.mark.parametrize("was_opened", [True, False])
def test_who_was_killed_while_opening_a_batch_finds_it(server: FakeServer, tmp_path: Path, was_opened: bool) -> None:
    server.change(batch_ms=1e6)
    model = model_at(server, tmp_path)
    run_until_open(model, tmp_path)
    (file,) = files_in(tmp_path)
    batch = {**json.loads(file.read_text()), "id": "", "process": 2**22 + 1}  # more than Linux gives out
    tag = batch["tag"] if was_opened else "0" * 32
    file.unlink()
    (tmp_path / "batches" / f"{tag}.json").write_text(json.dumps({**batch, "tag": tag}))
    server.change(batch_ms=10.0)
    before = len(server.batches())
    model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    assert len(own_batches(server, before)) == (0 if was_opened else 1)
    assert files_in(tmp_path) == []


def test_who_asks_for_the_same_at_the_same_time_waits_for_the_same_batch(server: FakeServer, tmp_path: Path) -> None:
    server.change(batch_ms=60.0)
    before = len(server.batches())
    models = [model_at(server, tmp_path) for _ in range(3)]
    models[0].predict(PROMPTS[:1], TEXTS[:1])
    send = models[0].engine.batches._send
    others = [threading.Thread(target=model.predict, args=(PROMPTS, TEXTS)) for model in models[1:]]

    async def first(lines: dict[bytes, bytes]) -> Any:
        sent = await send(lines)
        for thread in others:
            thread.start()
        return sent

    models[0].engine.batches._send = first
    models[0].predict(PROMPTS, TEXTS)
    for thread in others:
        thread.join()
    assert len(own_batches(server, before)) == 1
    assert server.counts()["answered_twice"] == 0
    assert files_in(tmp_path) == []


def test_a_batch_of_another_key_is_one_clear_line(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.change(batch_ms=1e6)
    run_until_open(model_at(server, tmp_path), tmp_path)
    server.change(batch_ms=10.0)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    with pytest.raises(InputError) as refused:
        model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    (file,) = files_in(tmp_path)
    text = str(refused.value)
    assert "it was opened with another key: set that one" in text
    assert str(file) in text
    assert "\n" not in text
    file.unlink()
    model_at(server, tmp_path).predict(PROMPTS, TEXTS)


def test_a_server_that_is_away_for_long_is_waited_for(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "psopt.waiting")
    server.change(batch_ms=30.0, poll_faults=100)
    clock = iter(range(10**9, 0, -3_600))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))  # set back by an hour whenever somebody looks
    model_at(server, tmp_path, batch_tick=0.001).predict(PROMPTS, TEXTS)
    assert server.options().poll_faults == 0
    assert any("no word of its batches since" in record.message for record in caplog.records)
    assert any("the server answers again" in record.message for record in caplog.records)


def test_a_server_that_stays_away_ends_the_run_and_the_batch_is_kept(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psopt.models.chat.batches._service.LONGEST_OUTAGE", 0.05)
    server.change(poll_faults=10_000)
    model = model_at(server, tmp_path)
    with pytest.raises(ModelError, match="no word of its batches for"):
        model.predict(PROMPTS, TEXTS)
    assert len(files_in(tmp_path)) == 1
    server.change(poll_faults=0)
    before = len(server.batches())
    model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    assert own_batches(server, before) == []


def test_a_server_without_batches_is_one_line_before_anything_is_sent(server: FakeServer, tmp_path: Path) -> None:
    server.change(batches="no")
    with pytest.raises(InputError, match=r"--batch needs a server .* \(GET /batches answered HTTP 404\): leave"):
        model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    assert server.counts()["requests"] == 0


def test_models_that_are_asked_call_by_call_refuse_batches(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--batch is for openai/ and azure/ models"):
        chat_model("dspy", "openai/test", AnswerCache(tmp_path), LMConfig(batch=True))


def test_a_part_of_requests_that_lines_are_refused_for_is_left_out(server: FakeServer, tmp_path: Path) -> None:
    expected = alone(server, tmp_path)
    model = model_at(server, tmp_path)
    model.predict(PROMPTS[:1], TEXTS[:1])  # all is taken yet
    server.change(lacks="seed")
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    assert "seed" not in server.last_request()["body"]


def test_a_model_that_batches_do_not_have_ends_the_run(server: FakeServer, tmp_path: Path) -> None:
    model = model_at(server, tmp_path)
    model.predict(PROMPTS[:1], TEXTS[:1])
    server.change(model="other")
    with pytest.raises(ModelError, match="The provided model 'test' is not supported by the Batch API"):
        model.predict(PROMPTS, TEXTS)
    assert model.engine.budget._reserved.calls == 0


def test_what_an_open_batch_may_cost_is_set_aside_by_whoever_goes_on(server: FakeServer, tmp_path: Path) -> None:
    server.change(batch_ms=1e6)
    run_until_open(model_at(server, tmp_path), tmp_path)
    server.change(batch_ms=10.0)
    n_open = N - N_FIRST
    budget = Budget(max_calls=n_open + 5)
    more = [f"What is item {i} ?" for i in range(30)]
    with pytest.raises(BudgetReachedError, match=f"--max-calls {n_open + 5} is reached"):
        model_at(server, tmp_path, budget).predict(PROMPTS, [*TEXTS, *more])
    assert budget.usage.made == n_open + 5  # not a line more than the open batch has left
    assert budget._reserved.calls == 0


def test_lines_of_a_batch_that_nobody_asks_for_yet_are_set_aside_too(server: FakeServer, tmp_path: Path) -> None:
    server.change(batch_ms=1e6)
    run_until_open(model_at(server, tmp_path), tmp_path)
    server.change(batch_ms=10.0)
    budget = Budget(max_calls=N - N_FIRST + 2)
    model_at(server, tmp_path, budget).predict(PROMPTS[:1], TEXTS)
    assert budget.usage.made == N - N_FIRST  # all of the batch is paid and kept
    assert model_at(server, tmp_path).engine.missing(model_at(server, tmp_path).queries(PROMPTS, TEXTS)) == []


@pytest.mark.parametrize("content", [b"{}", b"[1]", b"5", b"not JSON", b"[" * 100_000, b'{"id": "b", "errors": [1]}'])
def test_what_is_no_answer_of_the_api_may_pass(content: bytes) -> None:
    async def call(*_: object, **__: object) -> bytes:
        return content

    service = BatchService(SimpleNamespace(call=call, is_azure=False), 1.0)  # type: ignore[arg-type]
    with pytest.raises(TransientError, match="GET /batches/b was answered by"):
        asyncio.run(service.state("b"))


@pytest.mark.parametrize("keeps", [False, True])
def test_files_are_deleted_once_their_answers_are_kept(server: FakeServer, tmp_path: Path, keeps: bool) -> None:
    server.change(batch_endings="partial,completed" if keeps else "partial")
    before = len(server.batches())
    model_at(server, tmp_path, batch_keep_files=keeps).predict(PROMPTS, TEXTS)
    batches = own_batches(server, before)
    assert [len(batch["files"]) for batch in batches] == ([3, 2] if keeps else [0, 0])


def test_a_server_that_keeps_its_files_is_left_alone(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise ModelRefusedError("deleting is not for this key")

    monkeypatch.setattr(BatchService, "delete", refuse)
    model_at(server, tmp_path).predict(PROMPTS, TEXTS)
    assert files_in(tmp_path) == []


def test_a_batch_that_another_process_has_just_taken_in_is_read_from_the_cache(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one deletes the files after this one has looked whether it had to read them."""
    expected = alone(server, tmp_path)
    server.reset()
    model, other = model_at(server, tmp_path), model_at(server, tmp_path)
    content = BatchService.content
    threads: list[threading.Thread] = []

    async def late(self: BatchService, file: str, n_lines: int) -> bytes:
        if self is model.engine.batches._service and not threads:
            threads.append(threading.Thread(target=other.predict, args=(PROMPTS, TEXTS)))
            threads[0].start()
            while threads[0].is_alive():
                await asyncio.sleep(0.002)
        return await content(self, file, n_lines)

    monkeypatch.setattr(BatchService, "content", late)
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    assert server.counts()["answered_twice"] == 0
    assert files_in(tmp_path) == []


def test_texts_refused_for_good_are_answers_and_too_many_cancel_what_is_open(
    server: FakeServer, tmp_path: Path
) -> None:
    server.change(unanswerable="thing 7 :content_filter")
    model = model_at(server, tmp_path)
    assert (model.predict(PROMPTS, TEXTS)[7] == len(LABELS)).all()
    server.change(unanswerable="item:content_filter")
    before = len(server.batches())
    texts = [f"What is item {i} ?" for i in range(30)]
    with pytest.raises(UnansweredError):
        model.predict(PROMPTS, texts)
    assert own_batches(server, before)


def test_the_price_is_half_and_limits_hold(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('"openai/test" = { in = 1.0, out = 2.0 }')
    monkeypatch.setenv("PSOPT_PRICES", str(prices))
    model = model_at(server, tmp_path)
    model.predict(PROMPTS, TEXTS[:10])  # twenty, alone
    usage = model.engine.budget.usage
    single = usage.cost
    price = price_of("openai/test")
    assert price
    assert single == pytest.approx(price.of(usage.tokens_in, usage.tokens_out))
    read, written = usage.tokens_in, usage.tokens_out
    model.predict(PROMPTS, TEXTS)
    in_batches = price.of(usage.tokens_in - read, usage.tokens_out - written) / 2
    assert usage.cost - single == pytest.approx(in_batches)
    budget = Budget(max_calls=45)
    with pytest.raises(BudgetReachedError, match="--max-calls 45 is reached"):
        model_at(server, tmp_path / "limited", budget).predict(PROMPTS, TEXTS)
    assert budget.usage.made == 45
    assert budget._reserved.calls == 0


def test_progress_says_how_many_batches_are_open_and_done(
    server: FakeServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "psopt.waiting")
    seen: list[tuple[int, int]] = []
    model_at(server, tmp_path, batch_size=30).predict(PROMPTS, TEXTS, lambda *done: seen.append(done))
    assert any("2 batches open, 0 done; 1 of 60 answered" in record.message for record in caplog.records)
    assert seen[-1] == (N, N)


def test_batches_at_azure_are_the_resources_own(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", f"sk-{request.node.name}")
    before = len(server.batches())
    base = f"http://127.0.0.1:{server.port}"
    options = LMConfig(api_base=base, batch=True, batch_tick=0.01)
    server.change(provider="azure")
    try:
        chat_model("azure", "test", AnswerCache(tmp_path), options).predict(PROMPTS, TEXTS)
    finally:
        server.change(provider="")
    (batch,) = own_batches(server, before)
    assert (batch["endpoint"], batch["status"]) == ("/chat/completions", "completed")


def test_a_file_of_an_open_batch_that_cannot_be_read_is_one_line(server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "tag.json").write_text('{"tag": ')
    with pytest.raises(InputError, match=r"tag\.json should say which batch is open, and can't be read"):
        model_at(server, tmp_path).predict(PROMPTS, TEXTS)
