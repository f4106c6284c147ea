"""What is waited for, said on standard error: above the progress bar, or as plain lines where there is no terminal."""

from __future__ import annotations

import logging

import typer


class _OnStandardError(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Say it; rich puts it above its bar, for that stands on standard error too."""
        typer.echo(f"psopt: {record.getMessage()}", err=True)


_HANDLER = _OnStandardError()


def show_notices() -> None:
    """Show what the engine around language models says while it waits."""
    logger = logging.getLogger("psopt.waiting")
    logger.addHandler(_HANDLER)
    logger.propagate = False


def hush(*, quiet: bool) -> bool:
    """Show nothing of the kind where --quiet is given."""
    logging.getLogger("psopt.waiting").disabled = quiet
    return quiet
