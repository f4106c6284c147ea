"""What a notebook prints of a task, a run and a diagnosis is a line, whatever they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psopt

if TYPE_CHECKING:
    from pathlib import Path


def test_a_line_says_what_it_is(tmp_path: Path) -> None:
    records = [
        {"text": f"{word} number {n}, {'long ' * 200}", "label": label}
        for n in range(40)
        for word, label in (("a bill", "billing"), ("a sale", "sales"))
    ]
    task = psopt.Task.from_records(records, name="mails")
    assert repr(task) == "<Task 'mails': 2 labels; 48 train, 16 val, 16 test>"
    numbers = psopt.Task.from_records(
        [{"text": f"{n} and {n}", "label": 2 * n} for n in range(20)], name="sums", answers="number"
    )
    assert repr(numbers).startswith("<Task 'sums': answers number; ")
    model = "sim/accuracy=0.6,wobble=0.4"
    report = psopt.diagnose(task, model=model, rephrasings=3)
    assert repr(report).startswith(f"<PromptReport {report.prompt.id}: S 0.")
    assert repr(report).endswith("samples x 3 rephrasings>")
    assert (
        repr(report.predictions) == f"<Predictions: {len(report.predictions.samples)} samples x 3 rephrasings, label>"
    )
    run = psopt.optimize(task, model=model, trials=2, rounds=1, rephrasings=3, heldout=3, out=tmp_path / "run")
    assert repr(run).startswith("<Run '")
    assert "recommended " in repr(run)
    assert max(len(repr(of)) for of in (task, report, report.predictions, run)) < 300
