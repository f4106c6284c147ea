"""Batches under way, on disk: whoever asks next for what they hold waits for them and pays nothing twice."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

FOLDER = "batches"
_LOCK = "batches.lock"


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """A batch that was sent, or was about to be."""

    tag: str  # psopt's own name for it, which the server keeps with it
    # Where it is, and whom it asks
    server: str
    model: str
    owner: str  # a hash of the key that opened it
    keys: tuple[str, ...]  # those of the answers, hexadecimal, in the order of the lines
    id: str = ""  # the server's name for it; empty until the server has said it
    # What all its lines together can't pass
    most_tokens: int = 0
    most_cost: float = 0.0


class OpenBatches:
    """The open batches of one server, a file each, beside the answer cache.

    `folder` is the answer cache's; None keeps them in memory only.
    """

    def __init__(self, folder: Path | None, server: str) -> None:
        self._folder = folder and folder / FOLDER
        self._server = server
        self._batches: dict[str, OpenBatch] = {}
        self._is_sending = False

    @contextmanager
    def sending(self) -> Iterator[bool]:
        """Say whether nobody else opens batches here; if so, nobody does until this ends, in whatever process."""
        if self._is_sending:
            yield False
            return
        lock = self._folder and FileLock(self._folder.with_name(_LOCK))
        try:
            if lock:
                lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        self._is_sending = True
        try:
            yield True
        finally:
            self._is_sending = False
            if lock:
                lock.release()

    def holding(self, keys: Container[bytes]) -> list[OpenBatch]:
        """Those that hold one of these keys, whichever process sent them."""
        if self._folder:
            files = {file.stem: file for file in sorted(self._folder.glob("*.json"))}
            known = {tag: batch for tag, batch in self._batches.items() if tag in files and batch.id}
            read = {tag: self._read(file) for tag, file in files.items() if tag not in known}
            self._batches = known | {tag: batch for tag, batch in read.items() if batch}
        own = [batch for batch in self._batches.values() if batch.server == self._server]
        return [batch for batch in own if any(bytes.fromhex(key) in keys for key in batch.keys)]

    def keep(self, batch: OpenBatch) -> None:
        """Keep a batch before it is sent, and once the server has named it."""
        self._batches[batch.tag] = batch
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            draft = self._folder / f"{batch.tag}.part"
            draft.write_text(json.dumps(asdict(batch)), "utf-8")
            draft.replace(self._file(self._folder, batch))
        except OSError as error:
            raise InputError(f"{self._folder} can't be written: {error}; choose another --cache-dir") from error

    def drop(self, batch: OpenBatch) -> None:
        """Forget a batch: its answers are kept, or there are none."""
        self._batches.pop(batch.tag, None)
        if self._folder:
            self._file(self._folder, batch).unlink(missing_ok=True)

    def is_open(self, batch: OpenBatch) -> bool:
        """Whether a batch is still to be answered; another process may just have taken it in."""
        return self._file(self._folder, batch).exists() if self._folder else batch.tag in self._batches

    def where(self, batch: OpenBatch) -> str:
        """The file that a batch is kept in, for messages."""
        return str(self._file(self._folder, batch)) if self._folder else "memory"

    @staticmethod
    def _file(folder: Path, batch: OpenBatch) -> Path:
        return folder / f"{batch.tag}.json"

    @staticmethod
    def _read(file: Path) -> OpenBatch | None:
        """Read a file; None where there is none any more."""
        try:
            data = json.loads(file.read_text())
            known = {field.name: data[field.name] for field in fields(OpenBatch) if field.name in data}
            return OpenBatch(**{**known, "keys": tuple(data["keys"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise InputError(
                f"{file} should say which batch is open, and can't be read ({error}): delete it, and what the batch"
                " holds is asked again"
            ) from None
