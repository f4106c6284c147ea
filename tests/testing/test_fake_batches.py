"""The fake server's batch API, seen by a plain HTTP client: as OpenAI publishes it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGES = [{"role": "user", "content": "Pick one."}]


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer(answer="fixed:Number", labels=["Number", "Entity"], batch_ms=10.0) as started:
        yield started


def call(server: FakeServer, method: str, path: str, key: str = "a", **sent: Any) -> tuple[int, Any]:
    async def once() -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.request(method, f"{server.url}{path}", **sent) as response,
        ):
            content = await response.read()
            is_json = response.content_type == "application/json"
            return response.status, json.loads(content) if is_json else content

    return asyncio.run(once())


def line(name: str, url: str = "/v1/chat/completions", model: str = "test") -> bytes:
    body = {"model": model, "messages": MESSAGES}
    return json.dumps({"custom_id": name, "method": "POST", "url": url, "body": body}).encode() + b"\n"


def uploaded(server: FakeServer, content: bytes, purpose: str = "batch") -> tuple[int, Any]:
    form = aiohttp.FormData()
    form.add_field("purpose", purpose)
    form.add_field("file", content, filename="lines.jsonl")
    return call(server, "POST", "/files", data=form)


def opened(server: FakeServer, content: bytes) -> Any:
    wish = {
        "input_file_id": uploaded(server, content)[1]["id"],
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {"mine": "yes"},
    }
    return call(server, "POST", "/batches", json=wish)[1]


def ended(server: FakeServer, name: str) -> Any:
    while True:
        _, batch = call(server, "GET", f"/batches/{name}")
        if batch["status"] in {"completed", "failed", "expired", "cancelled"}:
            return batch


def results(server: FakeServer, file: str) -> dict[str, Any]:
    _, content = call(server, "GET", f"/files/{file}/content")
    return {result["custom_id"]: result for result in map(json.loads, content.splitlines())}


def test_a_batch_goes_from_validating_to_completed(server: FakeServer) -> None:
    batch = opened(server, line("x") + line("y"))
    assert (batch["object"], batch["status"], batch["metadata"]) == ("batch", "validating", {"mine": "yes"})
    done = ended(server, batch["id"])
    assert done["status"] == "completed"
    assert done["request_counts"] == {"total": 2, "completed": 2, "failed": 0}
    assert done["error_file_id"] is None
    answers = results(server, done["output_file_id"])
    assert answers.keys() == {"x", "y"}
    assert answers["x"]["response"]["body"]["choices"][0]["message"]["content"] == "Number"
    assert call(server, "POST", f"/batches/{batch['id']}/cancel")[0] == 409


@pytest.mark.parametrize(
    ("content", "code", "where"),
    [
        (b"{", "invalid_json_line", 1),
        (b"", "empty_file", None),
        (line("x") + line("x"), "duplicate_custom_id", 2),
        (line("x") + line("y", "/v1/embeddings"), "mismatched_url", 2),
    ],
)
def test_a_file_that_does_not_pass_fails_the_batch(
    server: FakeServer, content: bytes, code: str, where: int | None
) -> None:
    batch = ended(server, opened(server, content)["id"])
    (error,) = batch["errors"]["data"]
    assert (batch["status"], error["code"], error["line"]) == ("failed", code, where)
    assert batch["output_file_id"] is None
