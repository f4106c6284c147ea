"""The fake server does what it says, seen by a plain HTTP client."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from psopt.search_spaces import Prompt, render

from tests.sweeps import each

if TYPE_CHECKING:
    from tests.fake_server import FakeServer

LABELS = ("Number", "Location", "Person", "Numeral", "Entity")
PROMPT = Prompt("Classify the question.", LABELS, "question")
REQUEST = {"model": "test", "messages": render(PROMPT, "What is it ?"), "temperature": 0}


def post(server: FakeServer, timeout: float = 5.0) -> Any:
    async def once() -> Any:
        limit = aiohttp.ClientTimeout(total=timeout)
        url, body = f"{server.url}/chat/completions", REQUEST
        async with aiohttp.ClientSession(timeout=limit) as session, session.post(url, json=body) as response:
            return response.status, response.headers, json.loads(await response.read())

    return asyncio.run(once())


@each("status", ["429", "500", "503", "quota"])
def test_a_status_fault_is_that_status(status: str, server: FakeServer) -> None:
    server.reset()
    server.change(faults=status, fault_rate=1, retry_after=0.25)
    given, headers, answer = post(server)
    assert given == (429 if status == "quota" else int(status))
    assert headers.get("Retry-After") == ("0.25" if status == "429" else None)
    assert (answer["error"]["code"] == "insufficient_quota") == (status == "quota")
    assert server.counts()["statuses"] == {status: 1}


@each(
    "fault, raised, said",
    [
        ("hang", TimeoutError, None),
        ("half", aiohttp.ClientPayloadError, None),
        ("badjson", json.JSONDecodeError, None),
        ("reset", aiohttp.ClientOSError, "Connection reset by peer"),
    ],
)
def test_a_fault_of_the_line_breaks_the_answer(fault: str, raised: Any, said: str | None, server: FakeServer) -> None:
    server.reset()
    server.change(faults=fault, fault_rate=1)
    with pytest.raises(raised, match=said):
        post(server, timeout=0.1 if fault == "hang" else 5)
    server.wait_for(idle=True)  # the server takes a moment to see that the client has gone
    assert server.counts()["statuses"] == {fault: 1}


def test_the_server_ends_with_whoever_started_it() -> None:
    command = [sys.executable, "-m", "tests.fake_server", "--until-stdin-closes"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdin.close()
        assert process.wait(600) == 0
