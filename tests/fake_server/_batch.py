"""One batch of the fake server's: what it holds, what is wrong with it, how it stands, and how the API shows it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# OpenAI's first URL; Azure's deployments are asked at the second.
ENDPOINTS = ("/v1/chat/completions", "/chat/completions")

ENDINGS = {
    "completed": "every line is answered",
    "partial": "completed, but the lines after a half of them are errors of the server",
    "expired": "the window closes after half of the lines",
    "cancelled": "somebody cancels it after half of the lines",
    "rejected": "its first line does not pass the validation",
    "tokens": "failed: too many tokens wait in batches already",
    "failed": "failed: the account's limit is reached",
}
_WINDOW = 86_400  # seconds: the 24 h of the only window that there is


@dataclass(slots=True, eq=False)
class Batch:
    """A batch, whose JSON is OpenAI's; no other key than its owner's sees it."""

    id: str
    owner: str
    input_file_id: str
    endpoint: str
    metadata: dict[str, str] | None
    ending: str  # what becomes of it, see `ENDINGS`
    lines: list[dict[str, Any]] = field(default_factory=list)
    status: str = "validating"
    errors: list[dict[str, Any]] = field(default_factory=list)
    n_completed: int = 0
    n_failed: int = 0
    output_file_id: str | None = None
    error_file_id: str | None = None
    times: dict[str, int] = field(default_factory=lambda: {"created_at": int(time.time())})

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.status in {"completed", "failed", "expired", "cancelled"}

    @property
    def files(self) -> list[str]:
        """Its input file and what it has written."""
        return [file for file in (self.input_file_id, self.output_file_id, self.error_file_id) if file]

    def enter(self, status: str) -> None:
        """Pass on to a status."""
        self.status = status
        self.times[f"{status}_at"] = int(time.time())

    def fail(self, errors: list[dict[str, Any]]) -> None:
        """End before anything was answered."""
        self.errors = errors
        self.enter("failed")

    def to_dict(self) -> dict[str, Any]:
        """The batch as the API shows it."""
        created = self.times["created_at"]
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": self.endpoint,
            "errors": {"object": "list", "data": self.errors} if self.errors else None,
            "input_file_id": self.input_file_id,
            "completion_window": "24h",
            "status": self.status,
            "output_file_id": self.output_file_id,
            "error_file_id": self.error_file_id,
            "expires_at": created + _WINDOW,
            "request_counts": {"total": len(self.lines), "completed": self.n_completed, "failed": self.n_failed},
            "metadata": self.metadata,
            **self.times,
        }


def errors_in(content: bytes, batch: Batch, model: str) -> list[dict[str, Any]]:
    """What is wrong with a batch; its lines are taken in."""
    if batch.ending == "tokens":
        told = "Enqueued token limit reached for test. Please try again once some in_progress batches have completed."
        return [_error("token_limit_exceeded", told)]
    if batch.ending == "failed":
        return [_error("billing_hard_limit_reached", "Billing hard limit has been reached.")]
    try:
        batch.lines = [dict(json.loads(line)) for line in content.decode().split("\n") if line.strip()]
    except (ValueError, TypeError):
        return [_error("invalid_json_line", "This line is not parseable as valid JSON.", 1)]
    if batch.ending == "rejected":
        return [_error("invalid_request", "This line can't be processed.", 1)]
    return list(_errors_of_lines(batch, model))


def _errors_of_lines(batch: Batch, model: str) -> Iterator[dict[str, Any]]:
    names: set[str] = set()
    for number, line in enumerate(batch.lines, 1):
        name = line.get("custom_id")
        if not isinstance(name, str) or name in names:
            yield _error("duplicate_custom_id", "The custom_id for this request is missing or no one's alone.", number)
            continue
        names.add(name)
        if line.get("method") != "POST" or line.get("url") != batch.endpoint:
            yield _error("mismatched_url", f"The URL does not match the batch's, {batch.endpoint}.", number, "url")
        elif model and line["body"].get("model") != model:
            told = f"The provided model '{line['body'].get('model')}' is not supported by the Batch API."
            yield _error("model_not_found", told, number, "body.model")


def _error(code: str, message: str, line: int | None = None, param: str | None = None) -> dict[str, Any]:
    return {"code": code, "line": line, "message": message, "param": param}
