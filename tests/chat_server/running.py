"""Starting the test server, and talking to it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("openai_server.py")
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class RunningServer:
    """The test server in a process of its own, for a `with` statement; it ends with the statement or with us.

    Its options are those of the program's command line, with underscores.

    >>> with RunningServer(answer="hash", faults="429,hang", fault_rate=0.3) as server:  # doctest: +SKIP
    ...     ask(server.url)  # "http://127.0.0.1:43211/v1"
    ...     server.control(fault_rate=0)  # change options
    ...     server.control()["requests"], server.log()[0]["count"]  # what it has seen
    """

    def __init__(self, **options: Any) -> None:
        self._options = [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not True]
        self._options += [f"--{name.replace('_', '-')}" for name, value in options.items() if value is True]

    def __enter__(self) -> RunningServer:
        """Start it and wait until it is ready."""
        command = [sys.executable, str(PROGRAM), "--until-stdin-closes", *self._options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline()
        if not ready:
            self.kill()
            raise RuntimeError(f"the test server did not start: {' '.join(command)}")
        told = json.loads(ready)
        self.port, self.url = told["port"], told["url"]
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.kill()

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        with self.process:
            self.process.kill()

    def control(self, **changes: Any) -> dict[str, Any]:
        """Change options (`fault_rate=0`) or set the counts to 0 (`reset=True`); return options and counts."""
        return self._call("/control", changes)

    def log(self) -> list[dict[str, Any]]:
        """Return each different request: `sha256` of its canonical JSON, its `count`, and how often `answered`."""
        return self._call("/control/log", {})["log"]

    def last_body(self) -> dict[str, Any] | None:
        """Return the last request, whole."""
        return self._call("/control/log", {})["last_body"]

    def _call(self, path: str, changes: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps(changes).encode() if changes else None
        with _DIRECTLY.open(f"http://127.0.0.1:{self.port}{path}", data=body, timeout=60) as response:
            return json.load(response)
