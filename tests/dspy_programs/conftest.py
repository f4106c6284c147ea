"""Compilations without their report, which other tests look at; and what they say on their way."""

from __future__ import annotations

import pytest
from psopt.search import Observer


class Listener(Observer):
    """Keeps what is said of phases."""

    def __init__(self) -> None:
        self.phases: list[str] = []

    def phase(self, what: str) -> None:
        self.phases.append(what)


@pytest.fixture
def report() -> None:
    """Ask for the report."""


@pytest.fixture(autouse=True)
def no_report_unless_wanted(request: pytest.FixtureRequest) -> None:
    """Leave the report out, unless a test asks for it."""
    if "report" not in request.fixturenames:
        request.getfixturevalue("no_report")
