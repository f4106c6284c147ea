"""A GGUF file as a model that writes: rephrasings, proposals and verdicts, by llama.cpp in this process."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from psopt.errors import ModelError
from psopt.models.chat._client import ChatClient, ModelRefusedError
from psopt.models.chat._completion import ErrorInAnswerError, read_completion
from psopt.models.chat._worker_pool import in_a_thread
from psopt.models.gguf import GGUFModel, find_gguf, n_processors

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.models.chat._client import Answer, Query
    from psopt.settings import LMConfig

SLOTS = min(8, n_processors())  # texts written at once: one per processor, few since each takes memory
_CONTEXT = 4096  # tokens per slot, including what is written


class GGUFClient(ChatClient):
    """Answers from a GGUF file, in this process.

    Where a conversation ends by asking for JSON, a grammar restricts the answer to JSON, and to a schema where there is
    one: small models often write a sentence before it.
    """

    def __init__(self, name: str, path: Path, options: LMConfig) -> None:
        self._path, stat = find_gguf(name, path)
        self._options = options
        self.name = name
        self.endpoint = f"gguf:{stat.st_size}:{stat.st_mtime_ns}"

    def prepare(self) -> None:
        """Load the file: that takes seconds, which must not count as part of the first answer's time."""
        _ = self._server

    def request(self, query: Query) -> dict[str, Any]:
        """Build the body of a chat completion; an option sets how many tokens a text may have."""
        temperature = self._options.temperature if query.temperature is None else query.temperature
        body: dict[str, Any] = {
            "messages": query.messages,
            "temperature": temperature,
            "seed": self._options.request_seed + query.sample + query.asking,
            "max_tokens": query.max_tokens or self._options.most_tokens("text"),
        }
        if query.response_format:
            schema = {"name": "answer", "schema": json.loads(query.response_format)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif "JSON" in query.messages[-1]["content"]:
            body["response_format"] = {"type": "json_object"}
        return body

    async def send(self, request: dict[str, Any]) -> Answer:
        completion = await in_a_thread(lambda: self._server.handle_chat_completions(request))
        try:
            return read_completion(json.dumps(completion).encode())
        except ErrorInAnswerError as error:
            raise ModelRefusedError(f"{self.name} can't write: {completion['error']['message']}") from error

    @cached_property
    def _server(self) -> Any:
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(self._path)
        parameters.hostnames = ["127.0.0.1"]
        parameters.port = 0
        parameters.cpuparams.n_threads = n_processors()
        parameters.n_parallel = SLOTS
        parameters.n_ctx = _CONTEXT * SLOTS
        parameters.verbosity = -1
        try:
            return xllamacpp.Server(parameters)
        except (RuntimeError, ValueError, OSError) as error:
            _ = GGUFModel(self._path, name=self.name).weights  # where it can't be loaded either, the error says why
            raise ModelError(f"{self.name} can't be loaded: {error}") from error
