"""A run whose gate is `likely` goes by an estimate from test and val, and keeps it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.tasks import Task

if TYPE_CHECKING:
    from pathlib import Path


def test_the_estimate_is_that_of_the_test_and_of_val_at_half_its_weight(tmp_path: Path) -> None:
    task = Task.from_records(
        {
            "text": f"text {i} of {'ab'[i % 2]}",
            "label": "ab"[i % 2],
            "split": ("train", "val", "test", "val", "val")[i % 5],
        }
        for i in range(160)
    )
    options: Any = {"trials": 5, "rounds": 1, "rephrasings": 3, "heldout": 2, "cache_dir": tmp_path / "cache"}
    run = psopt.optimize(task, model="sim/wobble=0.5,accuracy=0.6", gate="likely", out=tmp_path / "run", **options)
    recommended = json.loads((tmp_path / "run" / "run.json").read_text())["recommended"]
    assert recommended["mode"] == "likely"
    candidates = {candidate.id: candidate for candidate in (*run.front, run.short)}
    assert recommended["tests"]
    for test in recommended["tests"]:
        estimate = test["estimate"]
        assert estimate["n_samples"] == len(task.val) + len(task.test)
        share = len(task.val) / 2 / (len(task.val) / 2 + len(task.test))
        on_val = candidates[test["id"]].val.f1 - run.baseline.val.f1
        assert estimate["f1"] == pytest.approx(share * on_val + (1 - share) * test["f1"]["difference"])
        total = estimate["f1"] - estimate["sensitivity"] + estimate["consistency"]
        assert test["passed"] == (estimate["f1"] >= 0 and total > 0)
    assert recommended["sentence"].startswith(("Likely better: ", "Keep yours. The best found is not likely better: "))
