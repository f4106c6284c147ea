"""The command line: `psopt`."""

from psopt.cli._commands import command_line
from psopt.cli._main import main
