"""The seven data sets that edits are measured on with language models, each with its task in people's wordings.

TREC, CB, RTE and samples of DBpedia and of Web of Science are read from a given folder; messages to a shop and
sentences about products come from `_public_sets`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _public_sets import SETS as PUBLIC
from _public_sets import load_splits, wordings_by_hand
from psopt.tasks import Task, load_task, subset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from psopt.tasks import Sample

NAMES = ("trec", "messages", "cb", "products", "rte", "wos", "dbpedia")
_SIZES = (120, 120, 120)  # train, val, test of the sets that are drawn here
_SEED = 0
_FEWEST = 40  # val samples
# The sample's publisher names the fields differently from psopt's task for the whole data set.
_FIELDS = {"medical": "Medical Science"}


def lm_task(name: str, folder: Path, sizes: tuple[int, int, int] = _SIZES) -> Task:
    """One of `NAMES` or another of `_public_sets`; `folder` holds trec/ and, in more/, the files of the others.

    `sizes` are those of the splits that are drawn here.
    """
    if name in PUBLIC:
        splits = load_splits(name, Path.home() / ".cache" / "psopt-experiments", sizes, _SEED)
        chosen = PUBLIC[name]
        rows = [row for split in splits for row in split]
        return Task.from_records(rows, name=name, description=chosen.instructions, noun=chosen.field, seed=_SEED)
    if name in ("trec", "cb", "rte"):
        os.environ["PSOPT_DATA_DIR"] = str(folder if name == "trec" else folder / "more")
        return load_task(name, seed=_SEED, strict_data=True)
    whole = load_task(name)  # for its words
    label_of = {label.lower(): label for label in whole.labels} | _FIELDS
    lines = [
        line for part in ("train", "test") for line in _lines(folder / "more" / f"{name}_sample" / f"{part}.jsonl")
    ]
    rows = [(row["text"], label_of[row["label"].lower()]) for row in map(json.loads, lines)]
    return Task.from_records(
        rows,
        name=name,
        description=whole.description,
        noun=whole.noun,
        labels=whole.labels,
        definitions=whole.definitions,
        seed=_SEED,
    )


def enough(task: Task) -> Sequence[Sample]:
    """Val; for CB, with only 11 val samples, the first half of its large test split, which has no other use here."""
    return task.val if len(task.val) >= _FEWEST else task.test[: len(task.test) // 2]


def drawn_texts(task: Task, n_held: int, n_prior: int) -> tuple[Sequence[Sample], Sequence[Sample], NDArray[np.int64]]:
    """Val samples (`enough`), train texts to measure label priors on, and the classes of the former."""
    held = subset(enough(task), n_held, seed=_SEED)
    return held, subset(task.train, n_prior, seed=_SEED), classes_of(held, task)


def classes_of(samples: Sequence[Sample], task: Task) -> NDArray[np.int64]:
    """The samples' labels as indices into the task's: (N,)."""
    return np.array([task.labels.index(str(sample.label)) for sample in samples])


def wordings_by_people(name: str, folder: Path, n: int) -> list[str]:
    """People's wordings of the task, spread over all that there are; no optimizer has seen them."""
    path = folder / "more" / "wordings" / f"{name}.txt"
    wordings = list(_lines(path)) if path.exists() else wordings_by_hand(name)
    return wordings[:: max(1, len(wordings) // n)][:n]


def _lines(path: Path) -> Iterable[str]:
    return path.read_text("utf-8").splitlines()
