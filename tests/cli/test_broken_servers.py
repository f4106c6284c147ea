"""Servers that speak no proper HTTP, or send what no terminal may get: calls that failed, and one line."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands import run_command

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def completion(content: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return json.dumps({"id": "x", "object": "chat.completion", "model": "t", "choices": [choice]}).encode()


def sized(body: bytes, head: bytes = HEAD) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


GOOD = completion("a")
BROKEN = {
    "status line": sized(GOOD, b"HTTP/1.1 abc OK\r\n"),
    "length": HEAD + b"Content-Length: many\r\n\r\n" + GOOD,
    "negative length": HEAD + b"Content-Length: -5\r\n\r\n" + GOOD,
    "two lengths": HEAD + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\n" + GOOD,
    "long header": sized(GOOD, HEAD + b"X-Long: " + b"a" * 200_000 + b"\r\n"),
    "other protocol": b"SSH-2.0-OpenSSH_9.0\r\n",
    "bytes behind": sized(GOOD) + b"garbage\r\n\r\nmore",
    "chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + GOOD,
    "brackets": sized(b"[" * 100_000 + b"]" * 100_000),
}


@contextmanager
def serving(raw: bytes) -> Iterator[str]:
    """Answer every request with these bytes."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with connection:
            connection.settimeout(5)
            read = b""
            while b"\r\n\r\n" not in read:
                read += connection.recv(65536) or b"\r\n\r\n"
            connection.sendall(raw)

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.close()


@pytest.fixture
def diagnosed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("psopt.models.chat._retry_policy._FIRST_WAIT", 0.01)
    rows = [f"what is {number},{'ab'[number % 2]}" for number in range(10)]
    (tmp_path / "data.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    env = {**os.environ, "OPENAI_API_KEY": "none", "PSOPT_CACHE_DIR": str(tmp_path / "cache")}

    def call(raw: bytes) -> subprocess.CompletedProcess[str]:
        with serving(raw) as url:
            given = ["--dataset", "data.csv", "--model", "openai/t", "--api-base", url, "--rephrasings", "2"]
            return run_command("diagnose", *given, "--split", "all", "--retries", "1", "--plain", cwd=tmp_path, env=env)

    return call


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_answer_is_asked_for_again_and_ends_in_one_line(name: str, diagnosed: Any) -> None:
    done = diagnosed(BROKEN[name])
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("psopt: openai/t: a call failed 2 times, at last with: ")
    assert "bug" not in last


def test_half_a_surrogate_pair_in_answers_ends_no_run(diagnosed: Any) -> None:
    done = diagnosed(sized(completion("a").replace(b'"a"', b'"a\\n\\ud800"')))
    assert done.returncode == 0, done.stderr


def test_escape_sequences_never_reach_the_terminal(diagnosed: Any) -> None:
    said = json.dumps({"error": {"message": "no \x1b]0;title\x07\x1b[31mred \u009b31m way", "type": "bad"}}).encode()
    done = diagnosed(sized(said, b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"))
    assert done.returncode == 2
    assert "red" in done.stderr
    assert all(sign.isprintable() or sign == "\n" for sign in done.stderr)
