"""What the files of a finished batch say: the answers to its lines, and what became of the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from psopt.errors import PsoptError
from psopt.models.chat._client import TransientError, UnsupportedError
from psopt.models.chat._completion import read_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from psopt.models.chat._client import Answer
    from psopt.models.chat._openai_client import OpenAIClient
    from psopt.models.chat.batches._under_way import Grid


@dataclass
class Results:
    """The lines of a batch's output and error file, each read as if it had come alone, by the keys of their answers."""

    answers: dict[bytes, Answer] = field(default_factory=dict)
    empty: dict[bytes, Answer] = field(default_factory=dict)  # answers without a text
    failed: list[bytes] = field(default_factory=list)
    unsupported: set[str] = field(default_factory=set)  # features that the server lacks
    refusal: PsoptError | None = None  # the first


async def read_results(lines: Iterable[bytes], keys: Collection[bytes], client: OpenAIClient, grid: Grid) -> Results:
    """Read the lines that belong to requests with these keys; others are passed over."""
    results = Results()
    for line in lines:
        key, status, body = _read(line)
        if not status or key not in keys:
            continue
        query = grid.query(key)
        try:
            request = client.request(query) if query else {}
            results.answers[key] = await client.read_response(status, body, request)
        except TransientError as failure:
            if failure.empty is None:
                results.failed.append(key)
            else:
                results.empty[key] = failure.empty
        except UnsupportedError as error:
            results.unsupported.add(error.feature)
        except PsoptError as error:
            results.refusal = results.refusal or error
    return results


def _read(line: bytes) -> tuple[bytes, int, object]:
    """The key, the HTTP status and the body of a result; status 0 if it is not a result, or was not sent."""
    try:
        result = read_json(line)
        response = result.get("response") or {}
        return bytes.fromhex(result["custom_id"]), int(response.get("status_code") or 0), response.get("body")
    except (ValueError, LookupError, TypeError, AttributeError):
        return b"", 0, None
