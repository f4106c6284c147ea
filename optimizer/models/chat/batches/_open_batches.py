"""Batches under way, on disk: whoever asks next for what they hold waits for them and pays nothing twice."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

FOLDER = "batches"
# Seconds after which nobody is taken to be sending a batch's file any more; 200 MB take minutes. A choice.
_LONGEST_SENDING = 3_600.0


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """A batch that was sent, or was about to be.

    Attributes
    ----------
    tag : str
        psopt's own name for it, which the server keeps with it.
    server, model : str
        Where it is, and whom it asks.
    owner : str
        A hash of the key that opened it.
    keys : tuple of str
        Those of the answers, hexadecimal, in the order of the lines.
    id : str
        The server's name for it; empty until the server has said it.
    process : int
        Who sends it.
    most_tokens, most_cost
        What all its lines together can't pass.
    """

    tag: str
    server: str
    model: str
    owner: str
    keys: tuple[str, ...]
    id: str = ""
    process: int = 0
    most_tokens: int = 0
    most_cost: float = 0.0


class OpenBatches:
    """The open batches of one server, a file each, beside the answer cache.

    Parameters
    ----------
    folder : path or None
        The answer cache's; None keeps them in memory only.
    server : str
    """

    def __init__(self, folder: Path | None, server: str) -> None:
        self._folder = folder and folder / FOLDER
        self._server = server
        self._batches: dict[str, OpenBatch] = {}

    def holding(self, keys: Container[bytes]) -> list[OpenBatch]:
        """Those that hold one of these keys, whichever process sent them."""
        self._batches |= {batch.tag: batch for batch in self._read() if batch.tag not in self._batches}
        batches = self._batches.values()
        return [batch for batch in batches if any(bytes.fromhex(key) in keys for key in batch.keys)]

    def add(self, batch: OpenBatch) -> None:
        """Keep a batch, before it is sent."""
        self._batches[batch.tag] = batch
        self._write(batch)

    def name(self, batch: OpenBatch, id: str) -> OpenBatch:  # noqa: A002  # the API's word
        """Keep what the server calls a batch."""
        named = replace(batch, id=id)
        self.add(named)
        return named

    def drop(self, batch: OpenBatch) -> None:
        """Forget a batch: its answers are kept, or there are none."""
        self._batches.pop(batch.tag, None)
        if self._folder:
            self.place(batch).unlink(missing_ok=True)

    def refresh(self, batch: OpenBatch) -> OpenBatch | None:
        """A batch as it is on disk now, where another process may have named or dropped it."""
        if self._folder is None:
            return self._batches.get(batch.tag)
        now = self._read_file(self.place(batch))
        self._batches.pop(batch.tag, None)
        if now:
            self._batches[now.tag] = now
        return now

    def is_being_sent(self, batch: OpenBatch) -> bool:
        """Whether another process that still runs is about to send it."""
        if batch.process == os.getpid() or not _is_running(batch.process):
            return False
        try:
            return time.time() - self.place(batch).stat().st_mtime < _LONGEST_SENDING
        except OSError:
            return False

    def place(self, batch: OpenBatch) -> Path:
        """The file that a batch is kept in."""
        if self._folder is None:
            raise InputError("batches that are kept in memory have no file")
        return self._folder / f"{batch.tag}.json"

    def where(self, batch: OpenBatch) -> str:
        """That file, for messages."""
        return str(self.place(batch)) if self._folder else "memory"

    def _read(self) -> Iterator[OpenBatch]:
        """Those on disk that are not in memory yet."""
        files = sorted(self._folder.glob("*.json")) if self._folder and self._folder.is_dir() else []
        for file in files:
            if file.stem not in self._batches and (batch := self._read_file(file)) and batch.server == self._server:
                yield batch

    def _read_file(self, file: Path) -> OpenBatch | None:
        """Read a file; None where there is none any more."""
        try:
            data = json.loads(file.read_text())
            return OpenBatch(**{**data, "keys": tuple(data["keys"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise InputError(
                f"{file} should say which batch is open, and can't be read ({error}): delete it, and what the batch"
                " holds is asked again"
            ) from None

    def _write(self, batch: OpenBatch) -> None:
        """Write a file whole or not at all."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            draft = self.place(batch).with_suffix(".part")
            draft.write_text(json.dumps(asdict(batch)), "utf-8")
            draft.replace(self.place(batch))
        except OSError as error:
            raise InputError(f"{self._folder} can't be written: {error}; choose another --cache-dir") from error


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return process > 0
