"""What confirms a prompt is set aside where the data mark no test samples, and a task says so."""

from __future__ import annotations

import pytest
from psopt.tasks import Task

ROWS = [{"text": f"text {number}", "label": "ab"[number % 2]} for number in range(40)]


@pytest.mark.parametrize(("marks", "is_drawn"), [(False, True), (True, False)])
def test_a_task_knows_whether_its_test_samples_were_drawn(*, marks: bool, is_drawn: bool) -> None:
    rows = [{**row, "split": "test" if number < 10 else "train"} if marks else row for number, row in enumerate(ROWS)]
    task = Task.from_records(rows)
    assert task.info.test_is_drawn is is_drawn
    assert not {sample.text for sample in task.test} & {sample.text for sample in (*task.train, *task.val)}
