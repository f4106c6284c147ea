"""The samples written for this project in place of published data: ``train.jsonl`` and ``test.jsonl``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.tasks._files import read_rows
from psopt.tasks._samples import samples_of

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks._dataset import Pair


def read_bundled(folder: Path) -> Pair:
    """Read (train, test): one object a line with text, label and, where there is one, subclass.

    Raises
    ------
    DataError
        If a file can't be read, or a line is not such an object.
    """
    train, test = (
        samples_of(folder / f"{split}.jsonl", read_rows(folder / f"{split}.jsonl"), split)
        for split in ("train", "test")
    )
    return train, test
