"""Pinned samples must be right under every wording: `check` asks about them whatever it measures on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import psopt
from psopt.search.gating import gate
from psopt.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest
    from psopt.evaluation import Predictions
    from psopt.models import OnProgress
    from psopt.search_spaces import Prompt

WRONG = "text 7"  # of which the model is never right
SHAKY = "text 8"  # of which it is right under the first wording alone


class Knowing:
    """A model that knows the answers, but for one text, and one under all wordings but the first."""

    name = "knowing"

    def predict(self, prompts: Sequence[Prompt], texts: Sequence[str], _: OnProgress | None = None) -> Any:
        answers = np.array([[int(text.split()[1]) % 2] * len(prompts) for text in texts], dtype=np.int64)
        for row, text in zip(answers, texts, strict=True):
            first_wrong = {WRONG: 0, SHAKY: 1}.get(text, len(prompts))
            row[first_wrong:] = 1 - row[first_wrong:]
        return answers


def task(*pinned: int) -> Task:
    rows = [{"id": f"s{i}", "text": f"text {i}", "label": "ab"[i % 2], "pinned": str(i in pinned)} for i in range(60)]
    return Task.from_records({**row, "split": ("train", "val", "test")[i % 3]} for i, row in enumerate(rows))


def test_pinned_samples_of_any_split_must_be_right_under_every_wording() -> None:
    result = psopt.check(task(1, 7, 8, 9), model=Knowing(), rephrasings=4)
    (threshold,) = result.thresholds
    assert not result.met
    assert (threshold.option, threshold.value, threshold.n_samples) == ("pinned", 0.5, 4)
    assert [(sample.id, sample.right) for sample in threshold.failing] == [("s7", 0.0), ("s8", 0.25)]
    assert str(threshold) == "missed: pinned samples right under all wordings 50.0 < 100: s7, s8"
    assert psopt.check(task(1, 9), model=Knowing(), rephrasings=4).met


def test_pinned_samples_are_in_no_score() -> None:
    alone = psopt.check(task(), model=Knowing(), rephrasings=4, samples=10, min_f1=0)
    beside = psopt.check(task(7), model=Knowing(), rephrasings=4, samples=10, min_f1=0)
    assert alone.scores.to_dict() == beside.scores.to_dict()
    assert [threshold.option for threshold in beside.thresholds] == ["min_f1", "pinned"]


def test_the_gate_looks_at_what_the_data_pin_and_at_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[set[str], set[str]]] = []

    def watched(baseline: Predictions, nominees: Any, *, pinned: set[str], **options: Any) -> Any:
        seen.append((pinned, {sample.id for sample in baseline.samples}))
        return gate(baseline, nominees, pinned=pinned, **options)

    monkeypatch.setattr("psopt.api._finishing.gate", watched)
    small: Any = {"trials": 3, "rounds": 1, "rephrasings": 2, "heldout": 2, "test_samples": 8, "cache_dir": tmp_path}
    pinned_too = task(2, 7, 56)  # of test are those whose number is 2 more than a multiple of three
    psopt.optimize(pinned_too, model="sim/wobble=0.5,accuracy=0.6", pinned=["s5"], out=tmp_path / "run", **small)
    ((pinned, samples),) = seen
    assert pinned == {"s2", "s5", "s56"}
    assert pinned <= samples
    assert len(samples) == 8
