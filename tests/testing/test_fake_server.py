"""The fake server does what it says, seen by a plain HTTP client."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from psopt.search_spaces import Definition, Example, Prompt, render

from tests.fake_server import FakeServer
from tests.fake_server._prompt_reading import read_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator

LABELS = ("Number", "Location", "Person", "Numeral", "Entity")
PROMPT = Prompt("Classify the question.", LABELS, "question")
TEXTS = [f"What is thing {i} ?" for i in range(40)]


def request(text: str = "What is it ?", prompt: Prompt = PROMPT, **params: Any) -> dict[str, Any]:
    return {"model": "test", "messages": render(prompt, text), "temperature": 0, **params}


async def send(session: Any, server: FakeServer, body: Any, timeout: float = 5.0) -> tuple[Any, Any, Any]:
    limit = aiohttp.ClientTimeout(total=timeout)
    async with session.post(f"{server.url}/chat/completions", json=body, timeout=limit) as response:
        return response.status, response.headers, json.loads(await response.read())


def post(server: FakeServer, body: Any, headers: Any = None, timeout: float = 5.0) -> Any:
    async def once() -> Any:
        async with aiohttp.ClientSession(headers=headers) as session:
            return await send(session, server, body, timeout)

    return asyncio.run(once())


@pytest.fixture(scope="module")
def started() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture
def server(started: FakeServer) -> Iterator[FakeServer]:
    """A server that behaves and has seen nothing; tests change its options."""
    before = dataclasses.asdict(started.options())
    started.reset()
    yield started
    started.change(**{name: before[name] for name in before.keys() - {"port", "task", "until_stdin_closes"}})


@pytest.mark.parametrize("status", ["429", "500", "503", "quota"])
def test_a_status_fault_is_that_status(server: FakeServer, status: str) -> None:
    server.change(faults=status, fault_rate=1, retry_after=0.25)
    given, headers, answer = post(server, request())
    assert given == (429 if status == "quota" else int(status))
    assert headers.get("Retry-After") == ("0.25" if status == "429" else None)
    assert (answer["error"]["code"] == "insufficient_quota") == (status == "quota")
    assert server.counts()["statuses"] == {status: 1}


@pytest.mark.parametrize(
    ("fault", "raised", "said"),
    [
        ("hang", TimeoutError, None),
        ("half", aiohttp.ClientPayloadError, None),
        ("badjson", json.JSONDecodeError, None),
        ("reset", aiohttp.ClientOSError, "Connection reset by peer"),
    ],
)
def test_a_fault_of_the_line_breaks_the_answer(server: FakeServer, fault: str, raised: Any, said: str | None) -> None:
    server.change(faults=fault, fault_rate=1)
    with pytest.raises(raised, match=said):
        post(server, request(), timeout=0.1 if fault == "hang" else 5)
    server.wait_for(idle=True)  # the server takes a moment to see that the client has gone
    assert server.counts()["statuses"] == {fault: 1}


def test_faults_are_drawn_with_the_seed(server: FakeServer) -> None:
    def drawn(seed: int) -> list[Any]:
        server.reset()
        server.change(faults="429,500,503", fault_rate=0.5, fault_seed=seed)
        return [post(server, request())[0] for _ in range(20)]

    first, again, other = drawn(1), drawn(1), drawn(0)
    assert first == again != other
    assert 3 < first.count(200) < 17


def test_the_server_ends_with_whoever_started_it() -> None:
    command = [sys.executable, "-m", "tests.fake_server", "--until-stdin-closes"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdin.close()
        assert process.wait(600) == 0


DEFINITIONS = (Definition("Number", "how many: a count"), Definition("Person", "who, whose"))
NOTES = ('"How many" asks for a Number.', "A - B is an Entity.")
EXAMPLES = (Example("Who is\n\nthat ?", "Person"), Example("Label: me", "Number"))
PROMPTS = {
    "bare": PROMPT,
    "definitions": replace(PROMPT, definitions=DEFINITIONS),
    "notes": replace(PROMPT, notes=NOTES),
    "examples": replace(PROMPT, examples=EXAMPLES),
    "all": replace(PROMPT, description="Two\n\nparts.", definitions=DEFINITIONS, notes=NOTES, examples=EXAMPLES),
}


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS.keys())
@pytest.mark.parametrize("text", ["How {many} ?", "Line: one\n\nNote:\n- no note\nLabel: Number", ""])
def test_a_rendered_prompt_is_read_back(prompt: Any, text: str) -> None:
    assert read_prompt(render(prompt, text)) == (prompt, text)
