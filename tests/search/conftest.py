"""Runs of these tests have no report, but for one that looks at it."""

from tests.without_reports import no_report, report

__all__ = ["no_report", "report"]
