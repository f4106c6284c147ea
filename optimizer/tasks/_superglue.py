"""SuperGLUE's files of premises and hypotheses, CB and RTE: one JSON object per line.

The labelled files are ``train.jsonl`` and ``val.jsonl`` (``test.jsonl`` has no labels). As in the paper behind
psopt (E25), the larger one is the test set, and the smaller one is used for learning.
"""

from __future__ import annotations

import reprlib
from functools import partial
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._data import Builtin, RemoteFile
from psopt.tasks._files import read_rows
from psopt.tasks._formats import Record
from psopt.tasks._row import Row
from psopt.tasks._samples import samples_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from psopt.tasks._data import Sample, TrainTest

TRAIN = "val.jsonl"
TEST = "train.jsonl"
FIELDS = ("premise", "hypothesis")
LAYOUT = "Premise: {premise} Hypothesis: {hypothesis}"
CB_LABELS = {label: label for label in ("entailment", "contradiction", "neutral")}
RTE_LABELS = {"entailment": "entailment", "not_entailment": "contradiction/neutral"}
_OWN_LABELS = {label: label for label in (*CB_LABELS.values(), *RTE_LABELS.values())}


def read_pair_files(train: str, test: str, labels: Mapping[str, str], folder: Path) -> TrainTest:
    """Read (train, test) from two files; `labels` as for `read_pairs`."""
    return read_pairs(folder / train, "train", labels), read_pairs(folder / test, "test", labels)


def read_pairs(path: Path, prefix: str, labels: Mapping[str, str]) -> tuple[Sample, ...]:
    """Read a file of pairs; `labels` maps the labels in the file to psopt's names."""
    return samples_of(path, [_row(f"{path}, {row.where}", row, labels) for row in read_rows(path)], prefix)


def _row(where: str, row: Record, labels: Mapping[str, str]) -> Record:
    fields = {}
    for name in FIELDS:
        value = row.values.get(name)
        if not isinstance(value, str) or not value.strip():
            raise DataError(f"{where}: the {name} is missing, empty or no text; expected premise, hypothesis and label")
        fields[name] = " ".join(value.split())
    label = row.values.get("label")
    if not isinstance(label, str) or label not in labels:
        raise DataError(f"{where}: the label is {reprlib.repr(label)}; it must be one of {', '.join(labels)}")
    text = Row(LAYOUT.format_map(fields), fields, FIELDS)
    return Record(row.where, {"text": text, "label": labels[label]})


_ORIGIN = "https://dl.fbaipublicfiles.com/glue/superglue/data/v2/"


def _builtin(name: str, description: str, labels: Mapping[str, str], sha256: str, n_bytes: int) -> Builtin:
    archive, folder = f"{name.upper()}.zip", name.upper()
    members = (f"{folder}/{TEST}", f"{folder}/{TRAIN}")
    return Builtin(
        name=name,
        description=description,
        files=(RemoteFile(archive, _ORIGIN + archive, sha256, n_bytes, members),),
        read=partial(read_pair_files, TRAIN, TEST, labels),
        package=f"psopt.tasks.bundled_{name}",
        read_bundled=partial(read_pair_files, "train.jsonl", "test.jsonl", _OWN_LABELS),
        page="https://super.gluebenchmark.com/tasks",
        fields=FIELDS,
        layout=LAYOUT,
    )


CB = _builtin(
    "cb",
    "does a premise entail a hypothesis, contradict it, or neither: 3 classes (CommitmentBank, SuperGLUE)",
    CB_LABELS,
    "8d641383298d54554066ba1c93f56ae7410af75df621b90c63028806bbbbb535",
    75_482,
)
RTE = _builtin(
    "rte",
    "does a hypothesis follow from a premise: 2 classes (SuperGLUE)",
    RTE_LABELS,
    "6310aab3f000424c9d0318a1ff20692e07c7f4aa15e8f17a5972ea0a35c398b9",
    750_920,
)
