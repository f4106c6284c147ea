"""What is waited for, said on standard error: above the progress bar, or as plain lines where there is no terminal."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

_WAITING = logging.getLogger("psopt.waiting")


class _OnStandardError(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Say it; rich puts it above its bar, for that stands on standard error too."""
        typer.echo(f"psopt: {record.getMessage()}", err=True)


@contextlib.contextmanager
def notices_on_standard_error() -> Iterator[None]:
    """Show what the engine around language models says while it waits; who called from Python logs as before after."""
    handler = _OnStandardError()
    propagates = _WAITING.propagate
    _WAITING.addHandler(handler)
    _WAITING.propagate = False
    try:
        yield
    finally:
        _WAITING.removeHandler(handler)
        _WAITING.propagate = propagates
        _WAITING.disabled = False


def hush(*, quiet: bool) -> bool:
    """Show nothing of the kind where --quiet is given."""
    _WAITING.disabled = quiet
    return quiet
