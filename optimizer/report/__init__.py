"""The report: a run, or a diagnosis, as one page that opens offline."""

from psopt.report._diagnosis_page import diagnosis_page
from psopt.report._run_report import write_report
from psopt.report._static import save_figures
from psopt.report._theme import Figure

__all__ = ["Figure", "diagnosis_page", "save_figures", "write_report"]
