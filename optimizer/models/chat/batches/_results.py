"""From a batch's results to answers, failures that may pass, and refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from psopt.errors import PsoptError
from psopt.models.chat._errors import TransientError, UnsupportedError
from psopt.models.chat._server_json import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from psopt.models.chat._client import Answer, Query
    from psopt.models.chat._openai_client import OpenAIClient


@dataclass(slots=True)
class Results:
    """What came of a batch's lines: answers by key, those that say nothing apart; lines that the server failed at.

    And the features that it turned out not to take, and why it will not answer at all, if it said so.
    """

    answers: dict[bytes, Answer] = field(default_factory=dict)
    failed: list[bytes] = field(default_factory=list)
    empty: dict[bytes, Answer] = field(default_factory=dict)
    unsupported: set[str] = field(default_factory=set)
    refusal: PsoptError | None = None

    async def read(
        self, line: bytes, asked: Container[bytes], client: OpenAIClient, query_of: Callable[[bytes], Query | None]
    ) -> None:
        """Read a line of an output or an error file as if it had come alone.

        One that can't be read, that has no key of ours, or whose request was not sent, is one without an answer.
        """
        try:
            result = read_json(line)
            key = bytes.fromhex(result["custom_id"])
            response = result.get("response") or {}
            status = int(response.get("status_code") or 0)
        except (ValueError, LookupError, TypeError, AttributeError):
            return
        if not status or key not in asked:
            return
        query = query_of(key)
        try:
            request = client.request(query) if query else {}
            self.answers[key] = await client.read_response(status, response.get("body"), request)
        except TransientError as failure:
            if failure.empty is not None:
                self.empty[key] = failure.empty
            else:
                self.failed.append(key)
        except UnsupportedError as error:
            self.unsupported.add(error.feature)
        except PsoptError as error:
            self.refusal = self.refusal or error
