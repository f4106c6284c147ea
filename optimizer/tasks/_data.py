"""One sample, and where a data set comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Source = Literal["local", "downloaded", "bundled", "file", "hub", "memory"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One text to classify.

    `label` is None where the data carry no labels; `subclass` is a finer label, where the data have one
    (TREC: ``date`` within ``Number``). `id` is unique within a task and stable from run to run.
    A `pinned` sample must stay right, whichever prompt takes the place of another.
    """

    id: str
    text: str
    label: str | None = None
    subclass: str | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """Where the samples come from; written to run.json as `dataset`.

    `source` is ``local`` (found in PSOPT_DATA_DIR or the user's cache), ``downloaded``, ``bundled`` (psopt's
    own small sample in place of the real data), ``file`` (given by the user), ``hub`` (Hugging Face) or ``memory``
    (built in Python).
    `sha256` digests the samples as used, labels and splits included.
    """

    name: str
    source: Source
    sha256: str
    note: str = ""
    """One plain line for the user, e.g. why the bundled sample takes the place of the real data."""
    test_is_drawn: bool = False
    """Whether test was set aside by chance, since the data mark none."""
    revision: str = ""
    """Of a data set on the hub, the commit."""
