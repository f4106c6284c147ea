"""Compilations without their report, which other tests look at."""

from __future__ import annotations

import pytest


@pytest.fixture
def report() -> None:
    """Ask for the report."""


@pytest.fixture(autouse=True)
def no_report_unless_wanted(request: pytest.FixtureRequest) -> None:
    """Leave the report out, unless a test asks for it."""
    if "report" not in request.fixturenames:
        request.getfixturevalue("no_report")
