"""The `psopt` command, its exit codes, and its one-line errors."""

from __future__ import annotations

import sys
from typing import Any

import click
import psopt
from psopt.errors import PsoptError

_COMMANDS = {
    "optimize": "psopt.cli._optimize",
    "resume": "psopt.cli._optimize",
    "worker": "psopt.cli._worker",
    "diagnose": "psopt.cli._diagnose",
    "compare": "psopt.cli._compare",
    "check": "psopt.cli._check",
    "classify": "psopt.cli._classify",
    "rephrase": "psopt.cli._rephrase",
    "report": "psopt.cli._report",
    "export": "psopt.cli._export",
    "dashboard": "psopt.cli._dashboard",
    "data": "psopt.cli._data",
}

_GUIDE = """Make the prompts of LLM classifiers robust: right, insensitive to wording, consistent.

\b
Start here:
  psopt optimize --dataset trec          search for better prompts, offline and free
  psopt diagnose --dataset my.csv        where does a prompt shake?
  psopt export RUN --format text         use the result
"""


class _Commands(click.Group):
    """Commands that are imported when used, so that `psopt --help` comes at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        import importlib

        return getattr(importlib.import_module(_COMMANDS[cmd_name]), cmd_name)  # type: ignore[no-any-return]


@click.group(
    cls=_Commands,
    help=_GUIDE,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    invoke_without_command=False,
)
@click.version_option(psopt.__version__, "--version", prog_name="psopt")
def cli() -> None:
    pass


def main(args: list[str] | None = None) -> Any:
    """Run the command line and exit: 0 done, 2 bad input or usage, 130 interrupted (more in DESIGN: exit codes)."""
    try:
        code = cli.main(args=args, prog_name="psopt", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        code = 0
    except click.ClickException as error:
        hint = f" (see: {error.ctx.command_path} --help)" if isinstance(error, click.UsageError) and error.ctx else ""
        click.echo(f"psopt: {_one_line(error.format_message())}{hint}", err=True)
        code = 2
    except PsoptError as error:
        click.echo(f"psopt: {_one_line(str(error))}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = 130
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


def _one_line(message: str) -> str:
    return " ".join(message.split())
