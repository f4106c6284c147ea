"""The report: a run as one page that opens offline."""

from psopt.report._html import WEAK_SPOTS, write_report

__all__ = ["WEAK_SPOTS", "write_report"]
