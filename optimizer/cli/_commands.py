"""The commands of psopt, and the level above them: `psopt` alone, `--help`, `--version`."""

from typing import Annotated, cast

import typer
from psopt._version import __version__
from psopt.cli._typer import SETTINGS, Group, get_command

# A command's module is only imported when it is used, so that the general help is fast. Its first sentence is therefore
# repeated here, and a test compares both.
COMMANDS = {
    "diagnose": "Measure a prompt's sensitivity and consistency, and find the unstable samples.",
    "optimize": "Search for prompts that are right, insensitive to wording and consistent.",
    "compare": (
        "Compare prompts, or models, on the same samples and rephrasings: who is better in what, and is it chance?"
    ),
    "check": "Check a prompt against bounds, for continuous integration: exit code 0 if all are kept, 1 if not.",
    "classify": (
        "Classify texts (one per line) or the rows of a table, from FILE or standard input: one label per line."
    ),
    "serve": "Answer OpenAI's clients with a run's prompt: the text is the last message, the label is the answer.",
    "export": "Print a run's prompt: in the format that it came in, as text to paste, or as JSON to use elsewhere.",
    "report": "Rebuild report.html from a run directory, and print where it is; or compare two to five runs.",
    "migrate": (
        "Take a run's prompt to another model: what breaks there, and a search from there for a prompt that holds."
    ),
    "resume": "Resume an interrupted run, or add trials to a finished one.",
    "worker": "Join a study that `psopt optimize --storage` has started, on any machine.",
    "rephrase": (
        "Reword a prompt's instructions, check each rephrasing, and save them as a file for `--rephrasings-file`."
    ),
    "doctor": "Find out what a model's server takes, by some six calls, and say what will be used.",
    "select": "Select a prompt of a run's front by what is asked of it, and print its id and scores.",
    "dashboard": "Serve Optuna's dashboard on a run, until Ctrl-C.",
    "data": "List and fetch the built-in data sets.",
    "models": "List the models, and fetch one that runs here.",
    "skill": "Print what a coding agent should know to run psopt well: a skill file in Markdown.",
    "schema": "Print the JSON Schema of what a command prints with --json, or of a run's run.json and front.json.",
    "completion": "Print what lets a shell complete psopt's commands and options.",
}
FIRST = ("diagnose", "optimize", "compare", "check", "classify", "export", "report")
"""Those that most people need; the others are listed under More."""

_GUIDE = """makes the prompts of LLM classifiers robust

Reword a task, and a prompt's answers change. psopt measures that
(sensitivity S, consistency C, beside F1), finds the unstable samples, and
searches for edits that fix the prompt.

  psopt optimize --dataset trec             try it: offline, free, some minutes
  psopt diagnose --dataset my.csv --prompt my.txt --model openai/gpt-5.4-mini
                                            where is my prompt unstable?
  psopt optimize --dataset my.csv --model openai/gpt-5.4-mini --dry-run
                                            what would fixing it cost?
  psopt select runs/my 'max F1 with S<=.05' choose from what was found
  psopt export runs/my                      use it: text, JSON, DSPy, OpenAI
  psopt check --dataset my.csv --prompt p.json --max-sensitivity .1
                                            guard it: exit code 1 if missed

my.csv has the columns text and label. All commands: psopt --help;
of one: psopt optimize --help.
"""

app = typer.Typer(cls=Group, add_completion=False, invoke_without_command=True, context_settings=SETTINGS)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"psopt, version {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_say_version)
]


@app.callback()
def psopt(context: typer.Context, *, version: Version = False) -> None:  # noqa: ARG001  # its callback has used it
    """Make the prompts of LLM classifiers robust: right, insensitive to wording, consistent."""
    if context.invoked_subcommand is None:
        typer.echo(f"psopt {__version__}: {_GUIDE}", nl=False)


def command_line() -> Group:
    """The whole command line; its commands are not yet imported."""
    group = cast("Group", get_command(app))
    group.add_late(COMMANDS, FIRST)
    return group
