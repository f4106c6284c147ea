"""Notices about waiting, on standard error: above the progress bar, or as plain lines without a terminal."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

import typer
from psopt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTICES = (logging.getLogger("psopt.waiting"), logging.getLogger("psopt.tracking"))


class _OnStandardError(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Print it; rich puts it above its bar, which is also on standard error."""
        typer.echo(f"psopt: {one_line(record.getMessage())}", err=True)


@contextlib.contextmanager
def notices_on_standard_error() -> Iterator[None]:
    """Show the engine's notices while it waits, and which tracker has failed; then callers log as before."""
    handler = _OnStandardError()
    propagates = [logger.propagate for logger in _NOTICES]
    for logger in _NOTICES:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagated in zip(_NOTICES, propagates, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagated
            logger.disabled = False


def hush(*, quiet: bool) -> None:
    """Show no such notices if --quiet is given."""
    for logger in _NOTICES:
        logger.disabled = quiet
