"""The command line: `psopt`."""

from psopt.cli._main import main

__all__ = ["main"]
