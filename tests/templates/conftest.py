"""The run of these tests has no report."""

from tests.without_reports import no_report, report

__all__ = ["no_report", "report"]
