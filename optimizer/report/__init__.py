"""The report: a run, several runs, a comparison or a diagnosis, as one page that opens offline."""

from psopt.report._class_figures import MOST_CLASSES
from psopt.report._lone_figures import diagnosis_figure, run_figure, save_figures
from psopt.report._measured_pages import comparison_page, diagnosis_page
from psopt.report._page import fixed_and_broken
from psopt.report._prompt_figures import compared_figure
from psopt.report._run_report import most_severe, write_report
from psopt.report._several_runs import ComparedRuns, compare_runs, unlike
from psopt.report._theme import Figure
