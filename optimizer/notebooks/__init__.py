"""What notebooks show: small HTML without scripts, and progress."""

import warnings

from psopt.notebooks._html import card, folded, line, preformatted, shortened, shown_number, table, with_interval
from psopt.notebooks._progress_bar import TerminalBar, progress_bar

# Optuna imports tqdm's notebook bar, which requires ipywidgets; psopt's own bars need none.
warnings.filterwarnings("ignore", message="IProgress not found")
