"""WoS-46985: ``X.txt`` has one abstract per line, ``YL1.txt`` its domain's number, ``YL2.txt`` that of its area."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._data import Builtin, RemoteFile
from psopt.tasks._files import read_filled
from psopt.tasks._formats import Record
from psopt.tasks._samples import read_train_test, samples_of
from psopt.tasks._strata import draw_balanced

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks._data import TrainTest

TEXTS = "X.txt"
DOMAINS = "YL1.txt"
AREAS = "YL2.txt"
LABELS = (
    "Computer Science",
    "Electrical Engineering",
    "Psychology",
    "Mechanical Engineering",
    "Civil Engineering",
    "Medical Science",
    "Biochemistry",
)
SIZE = 2000  # as in E25, the paper behind psopt


def read_published(folder: Path) -> TrainTest:
    """Read (train, test) from the published files: 2,000 samples of each, balanced.

    There is no test file, so test is drawn first, and train from the rest. Sample ids contain the line number.
    """
    rows = _rows(folder)
    labelled = [(row.values["label"], row) for row in rows]
    test = draw_balanced(labelled, LABELS, SIZE, stream=3)
    taken = {row.where for row in test}
    train = draw_balanced([(label, row) for label, row in labelled if row.where not in taken], LABELS, SIZE, stream=4)
    path = folder / TEXTS
    if not train:
        raise DataError(f"{path}: {len(rows)} abstracts are too few; {len(LABELS)} or more must be left beside test")
    return samples_of(path, train, "train"), samples_of(path, test, "test")


def _rows(folder: Path) -> list[Record]:
    texts = _lines(folder / TEXTS)
    domains = _lines(folder / DOMAINS)
    areas = _lines(folder / AREAS) if (folder / AREAS).is_file() else []
    for name, numbers in ((DOMAINS, domains), (AREAS, areas or texts)):
        if len(texts) != len(numbers):
            n_lines = f"{TEXTS} has {len(texts):,} lines and {name} {len(numbers):,}"
            raise DataError(f"{folder}: {n_lines}; they must have one for each abstract: fetch both again")
    rows = []
    for index, (text, domain) in enumerate(zip(texts, domains, strict=True)):
        label = LABELS[_number(folder / DOMAINS, index, domain, len(LABELS))]
        if not text:
            path = folder / TEXTS
            raise DataError(f"{path}, line {index + 1}: the abstract is empty; remove the line here and in {DOMAINS}")
        values = {"id": str(index + 1), "text": text, "label": label}
        if areas:
            values["subclass"] = f"area {_number(folder / AREAS, index, areas[index])}"
        rows.append(Record(f"line {index + 1}", values))
    return rows


def _lines(path: Path) -> list[str]:
    """Lines without empty ones at the end; Unicode's separators don't end a line."""
    lines = [line.strip() for line in io.StringIO(read_filled(path), newline=None)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _number(path: Path, index: int, line: str, below: int = 1000) -> int:
    if not (line.isdecimal() and int(line) < below):
        raise DataError(f"{path}, line {index + 1}: is {line[:40]!r}; it must be a number from 0 to {below - 1}")
    return int(line)


WOS = Builtin(
    name="wos",
    description="abstracts by field of research: 7 classes, 134 areas, 2,000 of WoS-46985 (Kowsari et al.)",
    files=(
        RemoteFile(
            "WebOfScience.zip",
            "https://data.mendeley.com/public-files/datasets/9rw3vkcfy4/files/"
            "c9ea673d-5542-44c0-ab7b-f1311f7d61df/file_downloaded",
            "b787d484bff88b0dcdb3fa291d06ec9d2f025dc2a67ce1045d0c688cd96ccf8a",
            60_222_421,
            members=(f"WOS46985/{TEXTS}", f"WOS46985/{DOMAINS}"),
            optional=(f"WOS46985/{AREAS}",),
        ),
    ),
    read=read_published,
    package="psopt.tasks.bundled_wos",
    read_bundled=read_train_test,
    page="https://data.mendeley.com/datasets/9rw3vkcfy4",
)
