"""DBPedia's csv files: class number (1 to 14), title, text; no header."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._data import Builtin, RemoteFile
from psopt.tasks._formats import Record, in_words, wide_fields
from psopt.tasks._samples import read_train_test, samples_of
from psopt.tasks._strata import draw_balanced

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psopt.tasks._data import Sample, TrainTest

TRAIN = "train.csv"
TEST = "test.csv"
LABELS = (
    "Company",
    "Educational Institution",
    "Artist",
    "Athlete",
    "Office Holder",
    "Mean Of Transportation",
    "Building",
    "Natural Place",
    "Village",
    "Animal",
    "Plant",
    "Album",
    "Film",
    "Written Work",
)
SIZE = 2000  # as in E25, the paper behind psopt
_BY_NUMBER = {str(number): label for number, label in enumerate(LABELS, start=1)}


def read_published(folder: Path) -> TrainTest:
    """Read (train, test) from the published files: 2,000 samples of each, balanced."""
    return read_articles(folder / TRAIN, "train", stream=1), read_articles(folder / TEST, "test", stream=2)


def read_articles(path: Path, prefix: str, *, stream: int) -> tuple[Sample, ...]:
    """Draw 2,000 articles from a file, balanced; sample ids are the prefix and the line number."""
    rows = draw_balanced(((row.values["label"], row) for row in _rows(path)), LABELS, SIZE, stream=stream)
    if not rows:
        raise DataError(f"{path}: is empty")
    return samples_of(path, rows, prefix)


def _rows(path: Path) -> Iterator[Record]:
    """Read line by line, since train.csv has 560,000 lines."""
    line = 1
    try:
        with path.open(encoding="utf-8", newline="") as file, wide_fields():
            reader = csv.reader(file, strict=True)
            for fields in reader:
                if fields:
                    yield _row(path, line, fields)
                line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}, line {line}: {in_words(error)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, after line {line}: is not UTF-8; fetch the file again") from error
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror}") from error


def _row(path: Path, line: int, fields: list[str]) -> Record:
    if len(fields) != 3:
        raise DataError(f"{path}, line {line}: {len(fields)} fields; expected 3: class number, title, text")
    number, title, text = (field.strip() for field in fields)
    if number not in _BY_NUMBER:
        raise DataError(f"{path}, line {line}: the class is {number!r}; it must be a number from 1 to {len(LABELS)}")
    if not text:
        raise DataError(f"{path}, line {line}: the text is empty; fetch the file again, or remove the line")
    return Record(f"line {line}", {"id": str(line), "text": f"{title}: {text}", "label": _BY_NUMBER[number]})


DBPEDIA = Builtin(
    name="dbpedia",
    description="encyclopedia articles by what they are about: 14 classes, 2,000 of the test file (Zhang et al.)",
    files=(
        RemoteFile(
            "dbpedia_csv.tgz",
            "https://s3.amazonaws.com/fast-ai-nlp/dbpedia_csv.tgz",
            "42db5221ddedddb673a4cabcc5f3a7d869714c878bcfe4ba94b29d14aa38e417",
            68_341_743,
            members=(f"dbpedia_csv/{TRAIN}", f"dbpedia_csv/{TEST}"),
        ),
    ),
    read=read_published,
    package="psopt.tasks.bundled_dbpedia",
    read_bundled=read_train_test,
    page="https://course.fast.ai/datasets",
)
