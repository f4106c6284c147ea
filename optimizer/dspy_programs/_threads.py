"""Jobs in threads, so that the first failure, or Ctrl-C, ends the rest at once."""

from __future__ import annotations

import contextvars
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.models import OnProgress

_SECONDS = 1  # between two looks at how far it is: as often as a progress bar is drawn anew


def run_in_threads(jobs: Sequence[Callable[[], object]], n_threads: int, on_progress: OnProgress | None = None) -> None:
    """Run all jobs; each sees the context variables of the caller, among them DSPy's settings.

    The error of the first that fails is raised, and what has not begun is dropped. What is under way is waited for,
    since it is paid for and will be kept; but not after Ctrl-C, for it may hang.
    """
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="psopt-program")
    is_interrupted = False
    try:
        waiting = {pool.submit(contextvars.copy_context().run, job) for job in jobs}
        n_done = 0
        while waiting:
            done, waiting = wait(waiting, timeout=_SECONDS, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
            n_done += len(done)
            if on_progress:
                on_progress(n_done, len(jobs))
    except KeyboardInterrupt:
        is_interrupted = True
        raise
    finally:
        pool.shutdown(wait=not is_interrupted, cancel_futures=True)
