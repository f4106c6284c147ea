"""What the fake server reads a batch's file for before it answers any of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.fake_server._batch import error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fake_server._batch import Batch
    from tests.fake_server._options import FakeServerOptions

# OpenAI's first URL; Azure's deployments are asked at the second.
ENDPOINTS = ("/v1/chat/completions", "/chat/completions")


def read_lines(content: bytes) -> list[dict[str, Any]]:
    """The requests of a batch's file.

    Raises
    ------
    ValueError
        If a line is no JSON object.
    """
    lines = [json.loads(line) for line in content.decode().split("\n") if line.strip()]
    if not all(isinstance(line, dict) for line in lines):
        raise ValueError("a line is no object")
    return lines


def errors_in(content: bytes, batch: Batch, options: FakeServerOptions) -> list[dict[str, Any]]:
    """What is wrong with a batch; its lines are taken in."""
    if batch.ending == "tokens":
        told = "Enqueued token limit reached for test. Please try again once some in_progress batches have completed."
        return [error("token_limit_exceeded", told)]
    if batch.ending == "failed":
        return [error("billing_hard_limit_reached", "Billing hard limit has been reached.")]
    try:
        batch.lines = read_lines(content)
    except ValueError:
        return [error("invalid_json_line", "This line is not parseable as valid JSON.", 1)]
    if not batch.lines:
        return [error("empty_file", "The input file is empty.")]
    if batch.ending == "rejected":
        return [error("invalid_request", "This line can't be processed.", 1)]
    return list(_errors_of_lines(batch, options.model))


def _errors_of_lines(batch: Batch, model: str) -> Iterator[dict[str, Any]]:
    names: set[str] = set()
    for number, line in enumerate(batch.lines, 1):
        name = line.get("custom_id")
        if not isinstance(name, str) or name in names:
            yield error("duplicate_custom_id", "The custom_id for this request is missing or no one's alone.", number)
            continue
        names.add(name)
        if line.get("method") != "POST" or line.get("url") != batch.endpoint:
            yield error("mismatched_url", f"The URL does not match the batch's, {batch.endpoint}.", number, "url")
        elif model and line["body"].get("model") != model:
            told = f"The provided model '{line['body'].get('model')}' is not supported by the Batch API."
            yield error("model_not_found", told, number, "body.model")
