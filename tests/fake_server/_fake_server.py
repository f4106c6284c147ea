"""`FakeServer`: the server in a process of its own, and talking to it."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_server._options import FakeServerOptions
from tests.processes import SERVER, Process

if TYPE_CHECKING:
    from typing import Self

# A proxy in the environment is for the outside; this server is on our own machine.
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class FakeServer:
    """An OpenAI server for tests, in a process of its own.

    It ends with the `with` statement, or with whoever started it. Point any client at `url`. Equal requests get equal
    answers, and faults are drawn with a seed, so tests repeat.

    Parameters
    ----------
    **options
        See `FakeServerOptions`. The usual ones:

        answer
            ``hash`` (the default: one of the labels that the prompt lists, by a hash of the messages), ``fixed:TEXT``,
            or ``minilm`` or ``sim/accuracy=0.7,wobble=0.3`` (psopt's embedded or simulated model reads the prompt: it
            sways with the wording, and gets better by notes, definitions and examples).
        labels
            What prompts that psopt has not built may be answered with: a list. The answer has the form that the prompt
            shows: a bare label, JSON, a tag, reasons and a last line.
        task, inputs, label_column
            The data that minilm and ``sim/`` know: a file, its columns. A text of theirs is found wherever a prompt
            has it, in the midst of it or in an example; their labels need not be told.
        faults, fault_rate
            Such as ``"429,hang,half"`` or ``"all"``, and how probable one is.
        structured, logprobs, lacks, provider, model, key
            What the server takes and refuses.
        shape, unanswerable, reads, reasoning_tokens
            What its answers look like.
        delay_ms, rate_limit, serial
            How quick it is.
        batches, batch_ms, batch_endings, batch_share, poll_faults
            Whether there is a batch API, how long a batch takes, what becomes of it.
        cached_from
            Whether it counts the tokens that it has read before.

    Attributes
    ----------
    url : str
        Such as ``http://127.0.0.1:43211/v1``, for ``--api-base`` and `LMConfig.api_base`.
    port : int

    Raises
    ------
    TypeError, ValueError
        If there is no such option, or it makes no sense.

    Examples
    --------
    >>> with FakeServer(answer="fixed:Number", faults="429", fault_rate=0.3) as server:  # doctest: +SKIP
    ...     ask(server.url)
    ...     server.change(fault_rate=0)
    ...     server.counts()["requests"], server.last_request()["body"]["messages"]
    """

    def __init__(self, **options: Any) -> None:
        self._options = {name: _as_option(value) for name, value in options.items()}
        FakeServerOptions(**self._options)  # in this process, so that a wrong one is told here
        self.url = ""
        self.port = 0

    def __enter__(self) -> Self:
        """Start it and wait until it is ready."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    def start(self) -> None:
        """Start the server and wait until it is ready.

        Raises
        ------
        RuntimeError
            If it does not start.
        """
        words = ["--until-stdin-closes"]
        for name, value in self._options.items():
            option = f"--{name.replace('_', '-')}"
            if value is True:
                words.append(option)
            elif value is not False:
                words.append(f"{option}={value}")
        self._process = Process(words, cwd=Path.cwd(), env=os.environ, program=SERVER)
        ready = self._process.stdout.readline()
        if not ready:
            raise RuntimeError(f"the fake server did not start: {words}: {self._process.stderr.read()}")
        address = json.loads(ready)
        self.port = address["port"]
        self.url = address["url"]

    def stop(self) -> None:
        """End the process at once, as a crash would."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()

    def change(self, **options: Any) -> None:
        """Change options while it runs; all but `port`, the task and `until_stdin_closes` can be changed.

        Raises
        ------
        ValueError
            If an option can't be changed, or makes no sense.
        """
        try:
            self._call("/control", {name: _as_option(value) for name, value in options.items()})
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)["error"]) from None

    def reset(self) -> None:
        """Set the counts to 0 and forget the requests."""
        self._call("/control", {"reset": True})

    def counts(self) -> dict[str, Any]:
        """Count what it has seen.

        Returns
        -------
        dict
            `requests`, `different` (requests), `answered`, `answered_twice`, `in_flight`, `most_in_flight`,
            `authorized` (requests with a key), `keys` (different ones), and `statuses`: how often each HTTP status or
            fault was the answer, and ``gone`` for clients that did not wait.
        """
        counts: dict[str, Any] = self._call("/control")
        del counts["options"]
        return counts

    def wait_for(self, *, seconds: float = 60.0, idle: bool = False, **at_least: int) -> dict[str, Any]:
        """Wait until it has seen as much; nothing is polled.

        Parameters
        ----------
        seconds : float
        idle : bool
            Wait until nothing is in flight.
        **at_least : int
            Counts, such as ``requests=1`` or ``answered=10``.

        Returns
        -------
        dict
            The counts.

        Raises
        ------
        TimeoutError
            If that takes longer.
        ValueError
            If there is no such count.
        """
        try:
            wish = {"at_least": at_least, "idle": idle, "seconds": seconds}
            counts: dict[str, Any] = self._call("/control/wait", wish, timeout=seconds + 10)
        except urllib.error.HTTPError as error:
            message = json.load(error)["error"]
            if error.code == 408:  # Request Timeout
                raise TimeoutError(
                    f"{at_least or 'idle'}: {message}; the fake server has seen {self.counts()}"
                ) from None
            raise ValueError(message) from None
        return counts

    def options(self) -> FakeServerOptions:
        """The options that hold now."""
        return FakeServerOptions(**self._call("/control")["options"])

    def requests(self) -> list[dict[str, Any]]:
        """Each different request: `sha256` of its canonical JSON, its `count`, and how often it was `answered`."""
        log: list[dict[str, Any]] = self._call("/control/log")["log"]
        return log

    def batches(self) -> list[dict[str, Any]]:
        """Each batch, whoever opened it, as the API shows it, and its `polls`: how often it was asked for."""
        batches: list[dict[str, Any]] = self._call("/control/batches")
        return batches

    def last_request(self) -> dict[str, Any]:
        """The last request: `path`, `query`, `headers` (names in small letters), `body`; empty before the first."""
        request: dict[str, Any] = self._call("/control/log")["last_request"]
        return request

    def _call(self, path: str, message: dict[str, Any] | None = None, timeout: float = 60.0) -> Any:
        body = json.dumps(message).encode() if message else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body)
        with _DIRECTLY.open(request, timeout=timeout) as response:
            return json.load(response)


def _as_option(value: Any) -> Any:
    """Lists go as JSON, so that commas may stand in labels; paths as text."""
    if isinstance(value, list | tuple):
        return json.dumps(value)
    return str(value) if isinstance(value, os.PathLike) else value
