"""What minilm does not read of long texts names no topic."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

from tests.commands import psopt

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="the extra `local` is not installed")

_KINDS = {"sport": "the match ended after a late goal", "money": "the shares fell on the stock exchange"}
_BEHIND = "penguins on the moon"


def _write_long_texts(folder: Path) -> None:
    """Texts of 400 words: those of one class that are about the other end in what nobody reads."""
    with (folder / "data.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        for number in range(10):
            for label, beginning in _KINDS.items():
                other = next(kind for kind in _KINDS if kind != label)
                is_odd = label == "sport" and number % 2 == 0
                start = _KINDS[other] if is_odd else beginning
                end = _BEHIND if is_odd else "so much for today"
                rows.writerow([f"Report {number}: {start} {'and then some more was said ' * 70}{end}", label])


def test_topics_come_only_from_what_was_read(tmp_path: Path) -> None:
    _write_long_texts(tmp_path)
    words = ["--dataset", "data.csv", "--model", "minilm", "--split", "all", "--rephrasings", "2", "--json"]
    done = psopt(tmp_path, "diagnose", *words, code=0)
    assert "20 of 20 texts are longer" in done.stderr
    groups = json.loads(done.stdout)["groups"]
    assert groups  # half of a class is taken for the other
    told = json.dumps([{name: group[name] for name in ("topic", "phrases", "words")} for group in groups])
    assert not any(word in told for word in _BEHIND.split() if len(word) > 3)
