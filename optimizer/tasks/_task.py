"""What is classified: samples, labels, and what is known about the labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING: Mapping[str, str] = MappingProxyType({})
_NO_SUBCLASSES: Mapping[str, Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sample:
    """One text to classify.

    `label` is None where the data carry no labels; `subclass` is a finer label, where the data have one
    (TREC: ``date`` within ``Number``). `id` is unique within a task and stable from run to run.
    """

    id: str
    text: str
    label: str | None = None
    subclass: str | None = None


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """Where the samples come from; written to run.json as `dataset`.

    `source` is ``local`` (found in PSOPT_DATA_DIR or the user's cache), ``downloaded``, ``bundled`` (psopt's own small
    sample in place of the real data), ``file`` (given by the user) or ``memory`` (built in Python). `sha256` digests the
    samples as used, labels and splits included.
    """

    name: str
    source: Literal["local", "downloaded", "bundled", "file", "memory"]
    sha256: str
    note: str = ""
    """One plain line for the user, e.g. why the bundled sample takes the place of the real data."""


@dataclass(frozen=True, slots=True)
class Task:
    """A classification task: three disjoint splits of samples, and the words that describe it.

    Attributes
    ----------
    name : str
        Short name, used for run folders and studies.
    description : str
        The task description rho_0: the sentence(s) that rephrasings say differently.
    labels : tuple of str
        The classes, in the order in which prompts list them; at least two.
    train, val, test : tuple of Sample
        Edits are drawn from `train`, candidates compared on `val`, the front reported on `test`.
    definitions : mapping of label to str
        What each class means, for the *detail* strategy. May be empty or partial.
    subclasses : mapping of label to mapping of subclass to str
        Finer classes and what they mean. May be empty or partial.
    noun : str
        What one sample is called in prompts: ``text``, ``question``, ``review``.
    """

    name: str
    description: str
    labels: tuple[str, ...]
    train: tuple[Sample, ...]
    val: tuple[Sample, ...]
    test: tuple[Sample, ...]
    info: DatasetInfo
    definitions: Mapping[str, str] = field(default=_NOTHING)
    subclasses: Mapping[str, Mapping[str, str]] = field(default=_NO_SUBCLASSES)
    noun: str = "text"
