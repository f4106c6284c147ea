"""Runs without their report, which takes a third of a small one: for folders whose `conftest` names these fixtures."""

from __future__ import annotations

import pytest


@pytest.fixture
def report() -> None:
    """Ask for the report."""


@pytest.fixture(autouse=True)
def no_report(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave it out, unless a test asks for it, or a run is shared by a whole file."""
    if "report" not in request.fixturenames:
        monkeypatch.setattr("psopt.api._finishing.write_report", lambda _: None)
