"""`psopt` from its first moment to its exit code, and its one-line errors."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import typer
from psopt.cli._commands import command_line
from psopt.cli._encoding import write_what_can_be_shown
from psopt.cli._failures import failure
from psopt.cli._interrupting import INTERRUPTED, catch_signals, leave, signals_given_back
from psopt.cli._notices import notices_on_standard_error
from psopt.cli._typer import Interrupted
from psopt.cli._usage_errors import usage_line
from psopt.errors import PsoptError
from psopt.text import one_line


def main(args: list[str] | None = None) -> Any:
    """Run the command line and exit.

    Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 3 a limit reached, 70 a bug of psopt, 130 interrupted.

    Parameters
    ----------
    args : list of str, optional
        By default those of the process; a program that gives some gets its own handlers of signals back.
    """
    if args is None:
        _run(args)
    with signals_given_back():
        _run(args)


def _run(args: list[str] | None) -> NoReturn:
    write_what_can_be_shown()
    catch_signals()
    try:
        with notices_on_standard_error():
            code = command_line().main(args=args, prog_name="psopt", standalone_mode=False)
    except typer.TyperException as error:
        typer.echo(f"psopt: {one_line(usage_line(error))}", err=True)
        code = 2
    except PsoptError as error:
        typer.echo(f"psopt: {one_line(str(error))}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, Interrupted, typer.Abort):
        typer.echo("psopt: interrupted; answers are kept: the same command goes on from there", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except Exception as error:  # noqa: BLE001  # whatever it is: one line, and the traceback in a file
        message, code = failure(error)
        typer.echo(f"psopt: {one_line(message)}", err=True)
    leave(code if isinstance(code, int) else 0)
