"""A pytest plugin: a test marked ``@pytest.mark.psopt(..)`` fails if its prompt misses a bound.

pytest loads this in every session of an environment with psopt: what a marked test needs is imported by that test.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from psopt.api import Threshold

_MARKER = (
    "psopt(dataset, prompt, model, max_sensitivity=.., min_f1=.., ..): before the test, check a prompt against bounds; "
    "takes the arguments of psopt.load_task and psopt.check, and sure for use_ci_bound"
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check a marked test's prompt before its body runs; missed bounds fail the test, with one line per bound."""
    markers = list(item.iter_markers("psopt"))
    if not markers:
        return
    from psopt.errors import PsoptError
    from psopt.settings import spelled_for_python

    if any(marker.args for marker in markers):
        pytest.fail("psopt: the marker takes arguments by name only, such as dataset='tickets.csv'", pytrace=False)
    wanted: dict[str, Any] = {}
    for marker in reversed(markers):  # the closest comes last, and takes precedence
        wanted |= marker.kwargs
    try:
        with spelled_for_python():
            missed = _missed(wanted, item.config.rootpath)
    except PsoptError as error:
        fault = f"psopt: {error}"
    else:
        fault = "\n".join(map(str, missed))
    if fault:  # outside of the handler, or pytest shows the error twice
        pytest.fail(fault, pytrace=False)


def _missed(wanted: dict[str, Any], root: Path) -> list[Threshold]:
    """The missed bounds; raises PsoptError if an argument is unknown, or the check can't be carried out."""
    from psopt.api import check
    from psopt.errors import InputError
    from psopt.settings import DataOptions, leaves
    from psopt.tasks import Task, load_task

    of_check = {**wanted, **{name: _resolved(wanted[name], root) for name in _PATHS if name in wanted}}
    if "sure" in of_check:
        of_check["use_ci_bound"] = of_check.pop("sure")
    of_data = {leaf.key: of_check.pop(leaf.key) for leaf in leaves(DataOptions) if leaf.key in of_check}
    task = of_data.pop("dataset", None)
    if task is None:
        raise InputError("the marker lacks a dataset: a file, a built-in name or a psopt.Task")
    if not isinstance(task, Task):
        task = load_task(task, **of_data, seed=of_check.get("seed", 42))
    result = check(task, progress=False, **of_check)
    return [threshold for threshold in result.thresholds if not threshold.met]


_PATHS = ("dataset", "prompt", "task_file", "test_file", "rephrasings_file")


def _resolved(value: Any, root: Path) -> Any:
    """A path below pytest's root folder, wherever pytest was started; other values stay unchanged."""
    if isinstance(value, str | Path) and (root / value).exists():
        return str(root / value)
    return value
