"""`FakeServer`: OpenAI's chat completions on a free port of this machine, answered by a function or a rule."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

Answer = str | Mapping[str, str] | Callable[[list[dict[str, Any]]], str]
FAULTS = ("429", "500", "503", "hang", "half")


class FakeServer:
    """A chat server for tests, without a model, a key or a network; it serves within the `with` statement.

    Parameters
    ----------
    answer : str, mapping or function
        The answer: ``"fixed:TEXT"``, or a mapping from words to answers, of which the first applies whose words are in
        the last message (``""`` is in all), or a function from the request's messages to a text. If that fails, the
        server answers with status 500 and the error.
    faults : str
        Any of ``429``, ``500``, ``503``, ``hang`` (no answer for `hang_ms`, then the connection is cut) and ``half``
        (cut in the middle of an answer), separated by commas.
    fault_rate : float
        The share of requests that get one of them, drawn with `seed`.
    delay_ms : float
        The time from a request to its answer.

    Attributes
    ----------
    url : str
        Such as ``http://127.0.0.1:43211/v1``, for ``--api-base`` and `LMConfig.api_base`.

    Examples
    --------
    >>> from openai import OpenAI
    >>> with FakeServer({"broke": "fault", "": "refund"}) as server, OpenAI(base_url=server.url, api_key="-") as client:
    ...     answer = client.chat.completions.create(model="any", messages=[{"role": "user", "content": "It broke"}])
    >>> answer.choices[0].message.content
    'fault'
    """

    def __init__(
        self,
        answer: Answer = "fixed:yes",
        *,
        faults: str = "",
        fault_rate: float = 0.3,
        seed: int = 0,
        delay_ms: float = 0.0,
        hang_ms: float = 1000.0,
    ) -> None:
        if not (isinstance(answer, (str, Mapping)) or callable(answer)):
            raise ValueError(f"answer must be a text, a mapping or a function, not {answer!r}")
        if not 0 <= fault_rate <= 1:
            raise ValueError(f"fault_rate must be from 0 to 1, not {fault_rate!r}")
        if min(delay_ms, hang_ms) < 0:
            raise ValueError("delay_ms and hang_ms must be 0 or more")
        self.url = ""
        self._answer = answer
        self._faults = [fault for fault in faults.split(",") if fault]
        if unknown := set(self._faults) - set(FAULTS):
            raise ValueError(f"no such fault: {min(unknown)!r}; there are {', '.join(FAULTS)}")
        self._fault_rate = fault_rate
        self._random = random.Random(seed)  # noqa: S311  # faults are not secret
        self._delay, self._hang = delay_ms / 1000, hang_ms / 1000
        self._seen = threading.Condition()
        self._requests: list[dict[str, Any]] = []
        self._statuses: Counter[str] = Counter()

    def __enter__(self) -> Self:
        """Serve, on a separate thread."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Accept no more requests."""
        self._server.shutdown()
        self._server.server_close()

    def counts(self) -> dict[str, Any]:
        """Count `requests`, those `answered`, and the `statuses`: HTTP codes, ``hang`` and ``half``."""
        with self._seen:
            statuses = dict(self._statuses)
            return {"requests": len(self._requests), "answered": statuses.get("200", 0), "statuses": statuses}

    def last_request(self) -> dict[str, Any]:
        """The last request: `path`, `headers` (names in lower case) and `body`; empty before the first."""
        with self._seen:
            return next(reversed(self._requests), {})

    def wait_for(self, *, seconds: float = 60.0, **at_least: int) -> dict[str, Any]:
        """Wait until there are at least this many, such as ``answered=10``, and return the counts.

        Raises
        ------
        TimeoutError
            If that takes longer than `seconds`.
        """
        with self._seen:
            if not self._seen.wait_for(lambda: all(self.counts()[name] >= n for name, n in at_least.items()), seconds):
                raise TimeoutError(f"{at_least}: the fake server has seen {self.counts()}")
        return self.counts()

    def _arrived(self, request: dict[str, Any]) -> str:
        """Record a request; return its outcome: ``200``, or a fault."""
        with self._seen:
            self._requests.append(request)
            if self._faults and self._random.random() < self._fault_rate:
                return self._random.choice(self._faults)
        return "200"

    def _leaves(self, status: str) -> None:
        with self._seen:
            self._statuses[status] += 1
            self._seen.notify_all()

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        messages = body["messages"]
        if isinstance(self._answer, str):
            text = self._answer.removeprefix("fixed:")
        elif isinstance(self._answer, Mapping):
            text = next((text for words, text in self._answer.items() if words in str(messages[-1]["content"])), "")
        else:
            text = str(self._answer(messages))
        n_in, n_out = len(json.dumps(messages)) // 4, max(1, len(text) // 4)  # a token is about four characters
        usage = {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        about = {"id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": body.get("model", "any")}
        return {**about, "choices": [choice], "usage": usage}


class _Handler(BaseHTTPRequestHandler):
    fake: FakeServer
    protocol_version = "HTTP/1.1"  # connections stay open

    def do_GET(self) -> None:
        if "/models" in self.path:
            self._send(200, {"object": "list", "data": [{"id": "any", "object": "model"}]})
        else:
            self._fail(404, f"no such path: {self.path}")

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if "/chat/completions" not in self.path:
            self._fail(404, f"no such path: {self.path}")
            return
        body = json.loads(content)
        headers = {name.casefold(): value for name, value in self.headers.items()}
        status = self.fake._arrived({"path": self.path, "headers": headers, "body": body})
        time.sleep(self.fake._hang if status == "hang" else self.fake._delay)
        self.fake._leaves(status)
        if status in ("hang", "half"):
            if status == "half":
                self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"choices": [{"mess')
            self.close_connection = True
        elif status == "200":
            try:
                completion = self.fake._completion(body)
            except Exception as error:  # noqa: BLE001  # whatever the test's own function raises
                self._fail(500, f"the answer's function failed: {error!r}")
            else:
                self._send(200, completion)
        else:
            self._fail(int(status), "a fault, as told")

    def _fail(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "fake", "code": status}})

    def _send(self, status: int, message: dict[str, Any]) -> None:
        content = json.dumps(message).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
