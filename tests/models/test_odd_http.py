"""Responses that are hardly HTTP, over a real socket: sent again, then one line without control characters."""

from __future__ import annotations

import json
import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from psopt.cli import main
from psopt.errors import ModelError
from psopt.models import AnswerCache
from psopt.models.chat import LMConfig, chat_model
from psopt.search_spaces import Prompt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LABELS = ("Entity", "Person", "Number")
PROMPT = Prompt("Sort it.", LABELS, "question")
TEXTS = ["What is this ?", "What is that ?"]
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
    "a bad length": response(ANSWER, length="abc"),
    "a negative length": response(ANSWER, length=-5),
    "two lengths": response(ANSWER, headers="Content-Length: 3\r\n"),
    "a header over 8 KB": response(ANSWER, headers=f"X-Long: {'a' * 9_000}\r\n"),
    "a header with a null byte": response(ANSWER, headers="X: a\0b\r\n"),
    "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n",
    "bytes behind the body": response(ANSWER) + b"and more",
    "no gzip": response(ANSWER, headers="Content-Encoding: gzip\r\n"),
    "bad chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nabc\r\n0\r\n\r\n",
    "brackets without end": response(b"[" * 100_000),
    "nested brackets": response(b"[" * 100_000 + b"]" * 100_000),
    "a stream of brackets": response(b"data: " + b"[" * 100_000 + b"\n\n"),
    "a failure in nested braces": response(b'{"a":' * 900 + b"1" + b"}" * 900, status="HTTP/1.1 500 Failed"),
    "a failure with escape sequences": response(ESCAPES.encode(), status="HTTP/1.1 500 \x1b[31mFailed"),
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


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True  # connections are kept open


@contextmanager
def server_that_sends(reply: bytes) -> Iterator[Any]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        running: Any = server
        running.reply, running.n_requests = reply, 0
        running.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield running
        finally:
            server.shutdown()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    monkeypatch.setattr("psopt.models.chat._request_scheduler._FIRST_WAIT", 0.01)


def predictions(url: str, tmp_path: Path) -> list[list[int]]:
    model = chat_model("openai", "test", AnswerCache(tmp_path), LMConfig(api_base=url, retries=2, timeout=5.0))
    model.few_may_fail = True
    return model.predict([PROMPT], TEXTS).tolist()


@pytest.mark.parametrize("reply", ODD.values(), ids=ODD.keys())
def test_an_odd_response_is_a_failing_call_that_is_sent_again(tmp_path: Path, reply: bytes) -> None:
    with server_that_sends(reply) as server:
        with pytest.raises(ModelError, match=r"failed 3 times, at last with: ") as caught:
            predictions(server.url, tmp_path)
        assert server.n_requests == 3
    assert str(caught.value).isprintable()


def test_half_a_surrogate_pair_in_an_answer_ends_nothing(tmp_path: Path) -> None:
    with server_that_sends(response(rb'{"choices": [{"message": {"content": "Number \ud800"}}]}')) as server:
        assert predictions(server.url, tmp_path) == [[2], [2]]
        assert predictions(server.url, tmp_path) == [[2], [2]]
        assert server.n_requests == 2


def test_an_answer_of_nested_brackets_names_no_label(tmp_path: Path) -> None:
    with server_that_sends(response(completion("[" * 100_000))) as server:
        assert predictions(server.url, tmp_path) == [[3], [3]]


@pytest.mark.parametrize("headers", ["", f"Location: http://elsewhere/{ESCAPES}\r\n"])
def test_escape_sequences_of_a_refusal_are_cut_out(tmp_path: Path, headers: str) -> None:
    status = "HTTP/1.1 302 Found" if headers else "HTTP/1.1 401 No"
    with server_that_sends(response(REFUSAL, status, headers=headers)) as server, pytest.raises(ModelError) as caught:
        predictions(server.url, tmp_path)
    assert str(caught.value).isprintable()
    assert "31m" not in str(caught.value)


@pytest.mark.parametrize("name", ["a bad status line", "another protocol", "nested brackets", "no such model"])
def test_a_command_ends_in_one_line_and_not_as_a_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    rows = [f"thing {i},{'ab'[i % 2]}" for i in range(8)]
    (tmp_path / "data.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    with server_that_sends(ODD.get(name, response(REFUSAL, "HTTP/1.1 404 No"))) as server:
        command = ["diagnose", "--dataset", "data.csv", "--split", "all", "--model", "openai/test", "--retries", "1"]
        with pytest.raises(SystemExit) as stop:
            main([*command, "--api-base", server.url])
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert [line.startswith("psopt: ") for line in said.splitlines()].count(True) == 1
    assert "bug" not in said
    assert "owned" not in said
