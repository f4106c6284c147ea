"""`psopt serve`: OpenAI's clients get a run's labels, with how steady they are, and nobody's request is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from psopt.api import Classified
from psopt.serving import QueueFullError, TextQueue

from tests.commands import psopt
from tests.fake_server import FakeServer
from tests.processes import Process

TEXTS = [f"My parcel {number} is late" for number in range(64)]
REFUSED: dict[bytes, str] = {
    b"{": "is no JSON",
    b"[1]": "is no JSON object",
    b"[" * 100_000: "is no JSON",
    b" " * 1_000_001: "more than 1,000,000 bytes",
    b'{"messages": []}': "one message",
    b'{"messages": [{"role": "system", "content": "x"}]}': "must be the user's",
    b'{"messages": [{"role": "user", "content": " "}]}': "must be a text",
    b'{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}': "must be a text",
    b'{"n": null, "messages": []}': "one message",
    b'{"messages": [{"role": "user", "content": "a\\ud800b"}]}': "half a surrogate pair",
    b'{"stream": true, "messages": [{"role": "user", "content": "x"}]}': "leave stream out",
    b'{"n": 2, "messages": [{"role": "user", "content": "x"}]}': "leave n out",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a prompt of two labels, as an export has it."""
    content = {"description": "Sort the message.", "labels": ["Delivery", "Payment"], "noun": "message"}
    (tmp_path / "prompt.json").write_text(json.dumps(content))
    return tmp_path


@contextmanager
def serving(folder: Path, *words: Any, prompt: str = "prompt.json") -> Iterator[tuple[Process, str]]:
    """A running `psopt serve` on a free port, and the address that it has printed."""
    environment = {**os.environ, "PSOPT_CACHE_DIR": str(folder / "cache")}
    process = Process(["serve", prompt, *words, "--port", "0"], cwd=folder, env=environment)
    try:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"answering at (http://\S+)/v1", line):
                yield process, found[1]
                return
        pytest.fail(f"it has not begun: {lines}")
    finally:
        process.kill()


def at(server: FakeServer) -> list[str]:
    return ["--model", "openai/m", "--api-base", server.url]


def ask(address: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"{address}/v1/chat/completions", data, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def saying(text: Any) -> dict[str, Any]:
    return {"model": "any", "messages": [{"role": "user", "content": text}]}


def test_openais_client_gets_the_label_and_how_steady_it_is(folder: Path) -> None:
    with (
        FakeServer(answer="hash") as server,
        serving(folder, *at(server), "--wordings", 5) as (_, address),
        openai.OpenAI(base_url=f"{address}/v1", api_key="-") as client,
    ):
        answers = [client.chat.completions.with_raw_response.create(**saying(text)) for text in TEXTS[:8]]
        (model,) = client.models.list().data

    for answer in answers:
        said = answer.parse()
        measured = said.psopt
        assert said.choices[0].message.content == measured["label"]
        assert measured["label"] in {"Delivery", "Payment"}
        assert said.model == model.id
        assert float(answer.headers["x-psopt-agreement"]) == pytest.approx(measured["agreement"], abs=1e-4)
        assert float(answer.headers["x-psopt-sensitivity"]) == pytest.approx(measured["sensitivity"], abs=1e-4)
        assert (measured["agreement"] == 1) == (measured["sensitivity"] == 0)
    assert any(answer.parse().psopt["sensitivity"] > 0 for answer in answers)  # hashes sway with the wording


def test_a_request_that_can_not_be_answered_says_why(folder: Path) -> None:
    with serving(folder, "--model", "sim") as (_, address):
        for body, why in REFUSED.items():
            status, content = ask(address, body)
            assert status in {400, 413}, body[:60]
            assert why in content["error"]["message"]
        assert ask(address, saying([{"type": "text", "text": "My card was charged twice"}]))[0] == 200
        with urllib.request.urlopen(f"{address}/health") as response:
            assert json.load(response) == {"status": "ok", "waiting": 0}
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}/v1/nothing")
        assert json.load(refused.value)["error"]["message"] == "GET /v1/nothing: Not Found"


def test_rows_come_as_json_objects(folder: Path) -> None:
    (folder / "mine.txt").write_text("Say billing or other.\n\nCase {id}\n{text}\n")
    words = ("--label", "billing", "--label", "other")
    with FakeServer(answer="fixed:billing") as server:
        with serving(folder, *words, *at(server), prompt="mine.txt") as (_, address):
            status, content = ask(address, saying(json.dumps({"id": "17", "text": "twice"})))
            missing, error = ask(address, saying(json.dumps({"id": "17"})))
            alone, _ = ask(address, saying("twice"))
        sent = server.last_request()["body"]["messages"]

    assert (status, content["psopt"]["label"]) == (200, "billing")
    assert "Case 17\ntwice" in sent[-1]["content"]
    assert (missing, alone) == (400, 400), "a text alone is no id"
    assert "'id'" in error["error"]["message"]


def test_at_sigterm_what_was_taken_is_answered(folder: Path) -> None:
    with (
        FakeServer(answer="hash") as server,
        serving(folder, *at(server), "--concurrency", 64) as (process, address),
        ThreadPoolExecutor(len(TEXTS)) as threads,
    ):
        assert ask(address, saying("the first finds out what the server takes"))[0] == 200
        server.change(delay_ms=1500)
        asked = [threads.submit(ask, address, saying(text)) for text in TEXTS]
        server.wait_for(requests=len(TEXTS))
        process.send_signal(signal.SIGTERM)
        answers = [future.result() for future in asked]
        code = process.wait(20)

    assert [status for status, _ in answers] == [200] * len(TEXTS)
    assert code == 0


def test_after_sigterm_nobody_waits_long_for_a_model_that_fails(folder: Path) -> None:
    with (
        FakeServer(faults="500", fault_rate=1) as server,
        serving(folder, *at(server)) as (process, address),
        ThreadPoolExecutor(1) as threads,
    ):
        asked = threads.submit(ask, address, saying("one"))
        server.wait_for(requests=1)
        process.send_signal(signal.SIGTERM)
        status, _ = asked.result()
        assert (status, process.wait(10)) == (503, 0)


def test_faults_and_limits_are_one_line_and_the_next_request_is_answered(folder: Path) -> None:
    with (
        FakeServer(answer="fixed:Payment", faults="500", fault_rate=1) as server,
        serving(folder, *at(server), "--retries", 0, "--max-calls", 2) as (_, address),
    ):
        status, failed = ask(address, saying("one"))
        server.change(fault_rate=0)
        later, answered = ask(address, saying("one"))
        limited, refused = ask(address, saying("two"))

    assert (status, failed["error"]["type"]) == (502, "upstream_error")
    assert "\n" not in failed["error"]["message"]
    assert (later, answered["psopt"]["label"]) == (200, "Payment")
    assert (limited, refused["error"]["type"]) == (403, "limit_reached")


def test_keys_of_clients_go_to_the_model_and_are_kept_nowhere(folder: Path) -> None:
    keys = {"wrong": "sk-wR0ng9K3y8L7m6N5p4Q", "right": "sk-r1GHt2K3y4L5m6N7p8Q"}
    with (
        FakeServer(answer="fixed:Payment", key=keys["right"]) as server,
        serving(folder, *at(server), "--client-keys") as (process, address),
    ):
        without, error = ask(address, saying("one"))
        wrong, refused = ask(address, saying("one"), Authorization=f"Bearer {keys['wrong']}")
        right, found = ask(address, saying("one"), Authorization=f"Bearer {keys['right']}")
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(20)
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())

    assert (without, wrong, right) == (401, 502, 200), found
    assert "Authorization: Bearer KEY" in error["error"]["message"]
    assert not any(key.encode() in kept or key in told for key in keys.values())
    assert "***" in refused["error"]["message"]  # the server has said it again
    assert keys["wrong"] not in refused["error"]["message"]


def test_where_it_answers_is_said_and_a_port_that_is_taken_is_one_line(folder: Path) -> None:
    process = Process(["serve", "prompt.json", "--model", "sim", "--port", "0", "--json"], cwd=folder, env=os.environ)
    try:
        told = json.loads(process.stdout.readline())
        assert set(told) == {"schema_version", "url", "prompt"}
        assert told["url"].startswith("http://127.0.0.1:")
    finally:
        process.kill()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = psopt(folder, "serve", "prompt.json", "--model", "sim", "--port", port, code=2)
    assert f"--port {port}" in done.stderr.splitlines()[-1]
    assert "give another --port" in done.stderr
    done = psopt(folder, "serve", "prompt.json", "--model", "sim", "--host", "999.1.1.1", code=2)
    assert "give another --host" in done.stderr


def test_texts_that_wait_are_shared_out_and_others_are_turned_away() -> None:
    groups: list[list[str]] = []

    def classify(texts: Any) -> list[Classified]:
        groups.append([*texts])
        return [Classified(text, text.upper(), 1.0) for text in texts]

    async def ask_all() -> list[Any]:
        queue = TextQueue(classify, n_threads=1, most_waiting=3)
        answers = [queue.answer(text, key) for text, key in (("a", ""), ("b", ""), ("c", ""), ("d", "k"), ("e", ""))]
        return await asyncio.gather(*answers, return_exceptions=True)

    *answers, turned_away = asyncio.run(ask_all())

    assert [answer.label for answer in answers] == ["A", "B", "C", "D"]
    assert groups == [["a"], ["b", "c"], ["d"]]
    assert isinstance(turned_away, QueueFullError)
