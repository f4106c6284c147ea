"""The `psopt` command, its exit codes, and its one-line errors."""

from __future__ import annotations

import sys
from typing import Any

import click
from psopt._version import __version__
from psopt.cli._encoding import write_what_can_be_shown
from psopt.cli._failures import failure
from psopt.cli._interrupting import INTERRUPTED, catch_signals, leave
from psopt.cli._notices import show_notices
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
    "doctor": "psopt.cli._doctor",
    "report": "psopt.cli._report",
    "select": "psopt.cli._select",
    "export": "psopt.cli._export",
    "dashboard": "psopt.cli._dashboard",
    "data": "psopt.cli._data",
    "completion": "psopt.cli._completion",
}

_HELP = "Make the prompts of LLM classifiers robust: right, insensitive to wording, consistent."
_GUIDE = """makes the prompts of LLM classifiers robust

Say a task in other words, and a prompt's answers change. psopt measures that
(sensitivity S, consistency C, beside F1), finds the samples that shake, and
searches for edits that mend the prompt.

  psopt optimize --dataset trec             try it: offline, free, some minutes
  psopt diagnose --dataset my.csv           where does my prompt shake?
  psopt optimize --dataset my.csv --model openai/gpt-4o-mini --dry-run
                                            what would mending it cost?
  psopt select runs/my 'max F1 with S<=.05' choose from what was found
  psopt export runs/my                      use it: text, JSON, DSPy, OpenAI
  psopt check --dataset my.csv --prompt p.json --max-sensitivity .1
                                            guard it: exit code 1 if missed

my.csv has the columns text and label. All commands: psopt --help;
of one: psopt optimize --help.
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
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    invoke_without_command=False,
)
@click.version_option(__version__, "--version", prog_name="psopt")
def cli() -> None:
    pass


def main(args: list[str] | None = None) -> Any:
    """Run the command line and exit.

    Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 3 a limit reached, 70 a bug of psopt, 130 interrupted.
    """
    write_what_can_be_shown()
    catch_signals()
    show_notices()
    try:
        code = cli.main(args=args, prog_name="psopt", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        alone = error.ctx is None or error.ctx.parent is None
        click.echo(f"psopt {__version__}: {_GUIDE}" if alone else error.ctx.get_help(), nl=not alone)
        code = 0
    except click.ClickException as error:
        hint = f" (see: {error.ctx.command_path} --help)" if isinstance(error, click.UsageError) and error.ctx else ""
        click.echo(f"psopt: {_one_line(error.format_message())}{hint}", err=True)
        code = 2
    except PsoptError as error:
        click.echo(f"psopt: {_one_line(str(error))}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("psopt: interrupted; answers are kept: the same command goes on from there", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        code = 0
    except Exception as error:  # noqa: BLE001  # whatever it is: one line, and the traceback in a file
        message, code = failure(error)
        click.echo(f"psopt: {_one_line(message)}", err=True)
    leave(code if isinstance(code, int) else 0)


def _one_line(message: str) -> str:
    return " ".join(message.split())
