"""Trackers hear of runs without a report, unless a test asks for it."""

from tests.without_reports import no_report, report

__all__ = ["no_report", "report"]
