"""Responses that are hardly HTTP, over a real socket: sent again, then one line without control characters."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import BudgetReachedError, ModelError
from psopt.models.chat import Budget

from tests.models.conftest import KEY, PROMPTS, TEXTS, model_at
from tests.sweeps import each

pytestmark = pytest.mark.usefixtures("quick")
HEADER = "gate-a1B2c3D4e5F6g7H8"
ESCAPES = "\x1b]0;owned\x07 \x1b[31mred \x9b31m\u202e"


def completion(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()


def response(body: bytes, status: str = "HTTP/1.1 200 OK", length: Any = None, headers: str = "") -> bytes:
    size = len(body) if length is None else length
    return f"{status}\r\nContent-Type: application/json\r\n{headers}Content-Length: {size}\r\n\r\n".encode() + body


ANSWER = completion("Number")
REFUSAL = json.dumps({"error": {"message": f"no {ESCAPES}"}}).encode()
ODD = {
    "a bad status line": response(ANSWER, status="HTTP/1.1 twohundred OK"),
    "a negative length": response(ANSWER, length=-5),
    "a header over 8 KB": response(ANSWER, headers=f"X-Long: {'a' * 9_000}\r\n"),
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "bytes behind the body": response(ANSWER) + b"and more",
    "no gzip": response(ANSWER, headers="Content-Encoding: gzip\r\n"),
    "bad chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nabc\r\n0\r\n\r\n",
    "nested brackets": response(b"[" * 100_000 + b"]" * 100_000),
    "a stream that nobody asked for": response(b'data: {"choices": []}\n\n'),
    "a failure without a word": response(b" \n", status="HTTP/1.1 500 Failed"),
    "a failure in nested braces": response(b'{"a":' * 900 + b"1" + b"}" * 900, status="HTTP/1.1 500 Failed"),
}


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        server: Any = self.server
        read = b""
        while b"\r\n\r\n" not in read or (read.startswith(b"POST") and not read.endswith(b"}")):
            received = self.request.recv(65_536)
            if not received:
                return
            read += received
        server.n_requests += 1
        self.request.sendall(server.reply)


@pytest.fixture(scope="module")
def odd_server() -> Iterator[Any]:
    """A server that sends its `reply` to everything."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True  # connections are kept open
        running: Any = server
        running.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield running
        server.shutdown()


def answers_to(server: Any, reply: bytes, folder: Path | None = None, **options: Any) -> list[list[int]]:
    server.reply, server.n_requests = reply, 0
    model = model_at(server, folder, **{"retries": 2, "timeout": 5.0, **options})
    model.few_may_fail = True
    return model.predict(PROMPTS[:1], TEXTS[:2]).tolist()


@each("what", ODD)
def test_an_odd_response_is_a_failing_call_that_is_sent_again(what: str, odd_server: Any) -> None:
    with pytest.raises(ModelError, match=r"failed 3 times, at last with: ") as caught:
        answers_to(odd_server, ODD[what])
    assert odd_server.n_requests == 3
    assert str(caught.value).isprintable()
    assert ("HTTP 500: no reason given" in str(caught.value)) == (what == "a failure without a word")


def test_a_request_whose_connection_is_closed_without_a_word_counts(odd_server: Any) -> None:
    odd_server.reply, odd_server.n_requests = b"", 0
    model = model_at(odd_server, budget=Budget(max_calls=2), retries=5)
    with pytest.raises(BudgetReachedError, match="--max-calls 2 is reached"):
        model.predict(PROMPTS[:1], TEXTS[:1])
    assert odd_server.n_requests == 2


def test_half_a_surrogate_pair_or_nested_brackets_in_an_answer_end_nothing(odd_server: Any, tmp_path: Path) -> None:
    half = response(rb'{"choices": [{"message": {"content": "Number \ud800"}}]}')
    assert answers_to(odd_server, half, tmp_path) == [[2], [2]]
    assert odd_server.n_requests == 2
    assert answers_to(odd_server, half, tmp_path) == [[2], [2]]  # as it was kept
    assert odd_server.n_requests == 0
    assert answers_to(odd_server, response(completion("[" * 100_000))) == [[3], [3]]


@each("status, headers", [("401 No", ""), ("404 No", ""), ("302 Found", f"Location: http://elsewhere/{ESCAPES}\r\n")])
def test_escape_sequences_of_a_refusal_and_keys_in_what_is_no_completion_are_cut_out(
    status: str, headers: str, odd_server: Any
) -> None:
    with pytest.raises(ModelError) as caught:
        answers_to(odd_server, response(REFUSAL, f"HTTP/1.1 {status}", headers=headers))
    assert str(caught.value).isprintable()
    assert "31m" not in str(caught.value)
    for filler in ("", " " * 300):
        said = json.dumps({"message": f"{filler}Invalid key Bearer {KEY}, {HEADER}"}).encode()
        with pytest.raises(ModelError, match="no chat completion: ") as caught:
            answers_to(odd_server, response(said), headers={"X-Gate": HEADER}, retries=0)
        assert not any(secret[:6] in str(caught.value) for secret in (KEY, HEADER))
