"""Compilations without their report, which other tests look at."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("dspy") else ["test_*.py"]  # the extra `dspy` is not installed


@pytest.fixture
def report() -> None:
    """Ask for the report."""


@pytest.fixture(autouse=True)
def no_report(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the report out, unless a test asks for it: drawing it takes a third of a small compilation."""
    if "report" not in request.fixturenames:
        monkeypatch.setattr("psopt.api._finishing.write_report", lambda _: None)
