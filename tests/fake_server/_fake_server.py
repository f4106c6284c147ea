"""`FakeServer`: the server in a process of its own, and talking to it."""

from __future__ import annotations

import dataclasses
import json
import os
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_server._options import FIXED_AT_START, FakeServerOptions
from tests.processes import SERVER, Process

if TYPE_CHECKING:
    from typing import Self

_LOOK = 0.005  # seconds between two looks at counts that somebody waits for
# A proxy in the environment is for the outside; this server is on our own machine.
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class FakeServer:
    """An OpenAI server for tests, in a process of its own, with the options of `FakeServerOptions`.

    It ends with the `with` statement, or with whoever started it. Point any client at `url`, such as
    ``http://127.0.0.1:43211/v1``. Equal requests get equal answers, and faults are drawn with a seed, so tests repeat.
    An option that there is none of, or that makes no sense, is a TypeError or a ValueError.

    >>> with FakeServer(answer="fixed:Number", faults="429", fault_rate=0.3) as server:  # doctest: +SKIP
    ...     ask(server.url)
    ...     server.change(fault_rate=0)
    ...     server.counts()["requests"], server.last_request()["body"]["messages"]
    """

    def __init__(self, **options: Any) -> None:
        self._options = FakeServerOptions(**options)  # in this process, so that a wrong one is told here
        self.url = ""
        self.port = 0

    def __enter__(self) -> Self:
        """Start it and wait until it is ready."""
        told = {**dataclasses.asdict(self._options), "until_stdin_closes": True}
        words = [f"--{name.replace('_', '-')}={value}" for name, value in told.items() if value is not False]
        self._process = Process(words, cwd=Path.cwd(), env=os.environ, program=SERVER)
        ready = self._process.stdout.readline()
        if not ready:
            raise RuntimeError(f"the fake server did not start: {words}: {self._process.stderr.read()}")
        address = json.loads(ready)
        self.port = address["port"]
        self.url = address["url"]
        return self

    def __exit__(self, *_: object) -> None:
        """End the process at once, as a crash would."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()

    def change(self, **options: Any) -> None:
        """Change options while it runs; all but `port`, the task and `until_stdin_closes` can be changed."""
        if fixed := FIXED_AT_START & options.keys():
            raise ValueError(f"no options that can be changed: {fixed}")
        self._options = dataclasses.replace(self._options, **options)
        self._call("/control", options)

    def reset(self) -> None:
        """Set the counts to 0 and forget the requests."""
        self._call("/control", {"reset": True})

    def counts(self) -> dict[str, Any]:
        """What it has seen: see `Seen.summary`."""
        counts: dict[str, Any] = self._call("/control")
        return counts

    def wait_for(self, *, seconds: float = 60.0, **at_least: int) -> dict[str, Any]:
        """Wait until it has seen as much, such as ``answered=10``; return the counts.

        Raises TimeoutError if it takes longer.
        """
        end = time.monotonic() + seconds
        while any(self.counts()[name] < least for name, least in at_least.items()):
            if time.monotonic() > end:
                raise TimeoutError(f"not in time: {at_least}; seen: {self.counts()}")
            time.sleep(_LOOK)
        return self.counts()

    def requests(self) -> list[dict[str, Any]]:
        """Each different request: `sha256` of its canonical JSON, its `count`, and how often it was `answered`."""
        log: list[dict[str, Any]] = self._call("/control/log")["log"]
        return log

    def batches(self) -> list[dict[str, Any]]:
        """Each batch, whoever opened it, as the API shows it, and its `files` that are there."""
        batches: list[dict[str, Any]] = self._call("/control/log")["batches"]
        return batches

    def last_request(self) -> dict[str, Any]:
        """The last request: `path`, `query`, `headers` (names in small letters), `body`; empty before the first."""
        request: dict[str, Any] = self._call("/control/log")["last_request"]
        return request

    def _call(self, path: str, message: dict[str, Any] | None = None) -> Any:
        body = json.dumps(message).encode() if message else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body)
        with _DIRECTLY.open(request, timeout=60) as response:
            return json.load(response)
