"""Grids asked by the batch API, at a server on the loopback that behaves as the published one."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import BudgetReachedError, InputError, ModelError, UnansweredError
from psopt.models import AnswerCache, load_model
from psopt.models.chat import Budget, LMConfig, chat_model, price_of
from psopt.models.chat.batches import BatchRunner
from psopt.tasks import Task

from tests.fake_server import FakeServer
from tests.models.conftest import LABELS, PROMPTS, TEXTS, model_at
from tests.sweeps import each

MORE_TEXTS = [f"What is item {i} ?" for i in range(30)]
N = len(TEXTS) * len(PROMPTS)
N_IN_BATCH = N - 1  # one is asked alone, to see what the server takes; it names a label, which is enough
NEVER = 1e6  # ms


@dataclass
class Place:
    """A server and a cache, and the batches opened there since the test began."""

    server: FakeServer
    folder: Path
    n_before: int

    def model(self, budget: Budget | None = None, **options: Any) -> Any:
        return model_at(self.server, self.folder, budget, **{"batch": True, "batch_tick": 0.01, **options})

    def predict(self, texts: list[str] = TEXTS, **options: Any) -> Any:
        return self.model(**options).predict(PROMPTS, texts)

    def opened(self) -> list[dict[str, Any]]:
        return self.server.batches()[self.n_before :]

    def files(self) -> list[Path]:
        return list((self.folder / "batches").glob("*"))


@pytest.fixture(scope="module")
def expected(running_server: FakeServer) -> Any:
    """What is answered call by call."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("OPENAI_API_KEY", "sk-alone")
        return model_at(running_server).predict(PROMPTS, TEXTS)


@pytest.fixture
def place(expected: Any, server: FakeServer, tmp_path: Path, request: Any, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A key of each test's own, so that none sees another's batches."""
    monkeypatch.setenv("OPENAI_API_KEY", f"sk-{request.node.name}")
    server.change(batch_ms=10.0)
    return Place(server, tmp_path, len(server.batches()))


@pytest.fixture
def interrupted(place: Place) -> Place:
    """A place where Ctrl-C, as it arrives at the loop, has ended a grid when its batch was open."""

    async def cancelled(*_: object) -> None:
        raise asyncio.CancelledError

    place.server.change(batch_ms=NEVER)
    model = place.model()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(BatchRunner, "_state", cancelled)
        with pytest.raises(CancelledError):
            model.predict(PROMPTS, TEXTS)
    assert model.engine.budget._reserved.calls == 0
    place.server.change(batch_ms=10.0)
    return place


def test_a_grid_is_answered_by_a_batch_as_it_is_alone(place: Place, expected: Any) -> None:
    model = place.model()
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    (batch,) = place.opened()
    assert batch["request_counts"] == {"total": N_IN_BATCH, "completed": N_IN_BATCH, "failed": 0}
    assert (batch["endpoint"], batch["completion_window"]) == ("/v1/chat/completions", "24h")
    assert model.engine.budget.usage.made == N
    assert place.files() == []
    assert (place.predict() == expected).all()
    assert place.server.counts()["requests"] == N


def test_batches_keep_to_their_size_and_number_and_say_how_many_are_open(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "psopt.waiting")
    place.server.change(batch_ms=60.0)
    seen: list[tuple[int, int]] = []
    model = place.model(batch_size=10, max_batches=2)
    model.predict(PROMPTS, TEXTS, lambda *done: seen.append(done))
    assert [batch["request_counts"]["total"] for batch in place.opened()] == [10, 10, 10, 10, 10, 9]
    assert "batches: 2 open, 0 done; 1 of 60 answered" in caplog.text
    assert set(re.findall(r"batches: (\d+) open", caplog.text)) <= {"0", "1", "2"}
    assert seen[-1] == (N, N)


def test_a_file_keeps_to_the_most_bytes_and_is_kept_where_that_is_asked_for(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psopt.models.chat.batches._runner.MOST_BYTES", 8_000)
    place.server.change(batch_most_bytes=8_000, batch_endings="partial")
    place.predict(batch_keep_files=True)
    assert len(place.opened()) > 2
    assert [len(batch["files"]) for batch in place.opened()][:2] == [3, 2]
    assert place.server.counts()["answered_twice"] == 0


@pytest.mark.parametrize(("endings", "n_batches"), [("rejected", 2), ("partial,expired,cancelled", 3)])
def test_what_three_batches_leave_is_asked_alone_and_nothing_twice(
    place: Place, expected: Any, endings: str, n_batches: int
) -> None:
    place.server.change(batch_endings=endings)
    model = place.model()
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    assert [len(batch["files"]) for batch in place.opened()] == [0] * n_batches  # they are deleted
    assert place.server.counts()["answered_twice"] == 0
    assert model.engine.budget.usage.made == N
    assert place.files() == []


@each(
    "refusing, said",
    [
        ({"batch_endings": "tokens,failed"}, r"did not take batch_\d+ for openai/test: Billing hard limit"),
        ({"batch_most_bytes": 100}, "answered HTTP 400 for openai/test: The file has no purpose 'batch', or is"),
        ({"batch_endings": "unheard,unheard,unheard"}, "3 batches in a row ended without an answer; .* --no-batch"),
    ],
)
def test_batches_or_files_that_the_server_refuses_or_never_answers_end_the_run(
    place: Place, refusing: Any, said: str
) -> None:
    place.server.change(**{"batch_most_bytes": 10_000_000, **refusing})
    with pytest.raises(ModelError, match=said):
        place.predict()
    assert place.files() == []


def test_an_interrupted_grid_is_gone_on_with_by_its_batch_and_all_of_it_is_kept(
    interrupted: Place, expected: Any
) -> None:
    (file,) = interrupted.files()
    batch = json.loads(file.read_text())
    assert (batch["server"], len(batch["keys"])) == (interrupted.server.url, N_IN_BATCH)
    assert "sk-" not in file.read_text()
    budget = Budget(max_calls=N_IN_BATCH + 2)  # what nobody asks for yet is set aside, too
    kept: list[int] = []
    budget.ledger = lambda usage: kept.append(usage.failed)
    model = interrupted.model(budget)
    assert (model.predict(PROMPTS[:1], TEXTS) == expected[:, :1]).all()
    assert budget.usage.made == N_IN_BATCH
    assert min(kept[1:]) == 0 == kept[-1]  # the batch's file remembers its lines: after a kill they are no failures
    assert model.engine.missing(model.queries(PROMPTS, TEXTS)) == []
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    assert len(interrupted.opened()) == 1
    assert interrupted.server.counts()["answered_twice"] == 0


@pytest.mark.parametrize("was_opened", [True, False])
def test_who_was_killed_while_opening_a_batch_finds_it(interrupted: Place, expected: Any, was_opened: bool) -> None:
    (file,) = interrupted.files()
    batch = {**json.loads(file.read_text()), "id": "", "process": 2**22 + 1}  # more than Linux gives out
    tag = batch["tag"] if was_opened else "0" * 32
    file.unlink()
    file.with_stem(tag).write_text(json.dumps({**batch, "tag": tag}))
    assert (interrupted.predict() == expected).all()
    assert len(interrupted.opened()) == (1 if was_opened else 2)
    assert interrupted.files() == []


def test_a_batch_of_another_key_is_one_line_that_names_the_file_to_delete(
    interrupted: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    (file,) = interrupted.files()
    with pytest.raises(InputError, match=rf"or opened with another key: set that one; .*{re.escape(str(file))}"):
        interrupted.predict()
    file.unlink()
    interrupted.predict()


def test_who_asks_for_the_same_at_the_same_time_waits_for_the_same_batch(place: Place) -> None:
    place.server.change(batch_ms=60.0)
    first = place.model()
    first.predict(PROMPTS[:1], TEXTS[:1])
    send = first.engine.batches._send
    with ThreadPoolExecutor(2) as threads:

        async def send_first(*lines: Any) -> Any:
            sent = await send(*lines)
            for _ in range(2):
                threads.submit(place.model().predict, PROMPTS, TEXTS)
            return sent

        first.engine.batches._send = send_first
        first.predict(PROMPTS, TEXTS)
    assert len(place.opened()) == 1
    assert place.server.counts()["answered_twice"] == 0
    assert place.files() == []


def test_a_server_that_stays_away_ends_the_run_and_the_batch_is_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psopt.models.chat.batches._service.LONGEST_OUTAGE", 0.05)
    place.server.change(poll_faults=10_000)
    with pytest.raises(ModelError, match="no word of its batches for"):
        place.predict()
    assert len(place.files()) == 1
    place.server.change(poll_faults=0)
    place.predict()
    assert len(place.opened()) == 1


def test_what_keeps_batches_from_being_asked_is_one_line(place: Place) -> None:
    (place.folder / "batches").mkdir()
    (place.folder / "batches" / "tag.json").write_text('{"tag": ')
    with pytest.raises(InputError, match=r"tag\.json should say which batch is open, and can't be read"):
        place.predict()
    place.server.change(batches="no")
    place.server.reset()
    with pytest.raises(InputError, match=r"--batch needs a server .* \(GET /batches answered HTTP 404\): leave"):
        place.predict()
    assert place.server.counts()["requests"] == 0
    task = Task.from_records([(f"text {number}", "ab"[number % 2]) for number in range(12)])
    for name in ("dspy/openai/test", "minilm"):
        with pytest.raises(InputError, match="--batch is for openai/ and azure/ models"):
            load_model(name, task, options=LMConfig(batch=True))


def test_what_lines_are_refused_for_is_left_out_and_another_model_ends_the_run(place: Place, expected: Any) -> None:
    model = place.model()
    model.predict(PROMPTS[:1], TEXTS[:1])  # all is taken yet
    place.server.change(lacks="seed")
    assert (model.predict(PROMPTS, TEXTS) == expected).all()
    assert "seed" not in place.server.last_request()["body"]
    place.server.change(model="other")
    with pytest.raises(ModelError, match="The provided model 'test' is not supported by the Batch API"):
        model.predict(PROMPTS, MORE_TEXTS)
    assert model.engine.budget._reserved.calls == 0


def test_texts_refused_for_good_are_answers_and_too_many_end_the_grid(place: Place) -> None:
    place.server.change(unanswerable="thing 7 :content_filter")
    model = place.model()
    assert (model.predict(PROMPTS, TEXTS)[7] == len(LABELS)).all()
    n_opened = len(place.opened())
    place.server.change(unanswerable="item:content_filter")
    with pytest.raises(UnansweredError):
        model.predict(PROMPTS, MORE_TEXTS)
    assert len(place.opened()) > n_opened


def test_the_price_is_half_and_limits_hold(place: Place, priced: Callable[[str], None]) -> None:
    priced("in = 1.0, out = 2.0")
    price = price_of("openai/test")
    assert price
    model = place.model()
    model.predict(PROMPTS, TEXTS[:10])  # twenty, alone
    usage = model.engine.budget.usage
    single, read, written = usage.cost, usage.tokens_in, usage.tokens_out
    assert single == pytest.approx(price.of(read, written))
    model.predict(PROMPTS, TEXTS)
    in_batches = price.of(usage.tokens_in - read, usage.tokens_out - written) / 2
    assert usage.cost - single == pytest.approx(in_batches)
    budget = Budget(max_calls=45)
    with pytest.raises(BudgetReachedError, match="--max-calls 45 is reached"):
        place.predict(MORE_TEXTS, budget=budget)
    assert budget.usage.made == 45
    assert budget._reserved.calls == 0


def test_batches_at_azure_are_the_resources_own(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sk-at-azure")
    place.server.change(provider="azure")
    options = LMConfig(api_base=f"http://127.0.0.1:{place.server.port}", batch=True, batch_tick=0.01)
    chat_model("azure", "test", AnswerCache(place.folder), options).predict(PROMPTS, TEXTS)
    (batch,) = place.opened()
    assert (batch["endpoint"], batch["status"]) == ("/chat/completions", "completed")
