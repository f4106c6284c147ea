"""From a batch's results to answers, failures that may pass, and refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from psopt.errors import PsoptError
from psopt.models.chat._errors import TransientError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from psopt.models.chat._client import Answer, Query
    from psopt.models.chat._openai_client import OpenAIClient
    from psopt.models.chat.batches._lines import Result


@dataclass(slots=True)
class ReadResults:
    """What came of a batch's lines.

    Attributes
    ----------
    answers : dict
        By key.
    failed : list of bytes
        Lines that the server failed at, and may do better next time.
    empty : dict
        Lines whose answers say nothing, and those answers.
    unsupported : set of str
        Features that the server turned out not to take.
    refusal : PsoptError or None
        Why the server will not answer at all, the first time that it said so.
    """

    answers: dict[bytes, Answer] = field(default_factory=dict)
    failed: list[bytes] = field(default_factory=list)
    empty: dict[bytes, Answer] = field(default_factory=dict)
    unsupported: set[str] = field(default_factory=set)
    refusal: PsoptError | None = None


async def read_all(
    results: Iterable[Result], client: OpenAIClient, query_of: Callable[[bytes], Query | None]
) -> ReadResults:
    """Read each result as if it had come alone; of a line that was not sent there is nothing to read."""
    read = ReadResults()
    for result in results:
        if result.status:
            await _read(result, client, query_of(result.key), read)
    return read


async def _read(result: Result, client: OpenAIClient, query: Query | None, read: ReadResults) -> None:
    request = client.request(query) if query else {}
    try:
        read.answers[result.key] = await client.read_response(result.status, result.body, request)
    except TransientError as failure:
        if failure.empty is not None:
            read.empty[result.key] = failure.empty
        else:
            read.failed.append(result.key)
    except UnsupportedError as error:
        read.unsupported.add(error.feature)
    except PsoptError as error:
        read.refusal = read.refusal or error
