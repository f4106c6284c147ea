"""What a terminal shows: help, tables, colours, in any width; what is completed; how little is imported for it."""

from __future__ import annotations

import itertools
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from psopt.cli import command_line

from tests.cli.conftest import TREC
from tests.cli.telling import check_refused
from tests.commands import psopt as psopt_in
from tests.commands import run_command
from tests.sweeps import each

COMMANDS = [name for name in command_line().commands if name not in {"data", "models"}]
PRINTING_TABLES = [
    ["resume", "run"],
    ["diagnose", *TREC],
    ["compare", *TREC, "--model2", "sim/accuracy=0.9"],
    ["check", *TREC, "--min-f1", "0"],
    ["select", "run", "max F1 with S <= .9"],
    ["report", "run", "run"],
    ["data", "list"],
    ["models", "list"],
    ["optimize", *TREC, "--dry-run"],
]
ANSI = re.compile(r"\x1b\[")


def environment(folder: Path, columns: int | None = 80) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS"}}
    width = {} if columns is None else {"COLUMNS": str(columns)}
    return {**kept, **width, "PSOPT_CACHE_DIR": str(folder / "cache"), "TERM": "xterm-256color"}


def psopt(folder: Path, *words: str, columns: int | None = 80, code: int = 0) -> subprocess.CompletedProcess[str]:
    return run_command(*words, cwd=folder, env=environment(folder, columns), code=code)


def widest(lines: list[str]) -> int:
    """Of lines that are meant to be read: commands and paths to copy stay whole."""
    return max((len(line) for line in lines if "psopt " not in line and "Report:" not in line), default=0)


@pytest.mark.parametrize("columns", [40, 80])
def test_tables_fit_the_terminal(trec_run: Path, columns: int) -> None:
    marks = ("│", "┃", "┏", "└", "─", "  ")  # of a table's rows and rules, and of what stands in the place of one
    for words in PRINTING_TABLES:
        done = psopt(trec_run, *words, columns=columns)
        lines = done.stdout.splitlines()
        assert widest([line for line in lines if line.startswith(marks)]) <= columns, words
        if columns >= 80 and "--dry-run" not in words:  # sentences of a dry run stay whole in a pipe
            assert widest(lines) <= columns, words
        assert "…" not in done.stdout, words
        assert not ANSI.search(done.stdout + done.stderr), words


@each("words", PRINTING_TABLES)
def test_in_a_pipe_a_row_is_a_line_whatever_it_holds(trec_run: Path, words: list[str]) -> None:
    shown = psopt(trec_run, *words, columns=None).stdout
    assert "…" not in shown
    lines = shown.splitlines()
    heads = {number - 1 for number, line in enumerate(lines) if set(line.strip()) == {"─"}}
    rows = [line for number, line in enumerate(lines) if number not in heads]
    assert not any(re.match(r" {8,}\S", row) for row in rows), "a row goes on in the next line"


def test_a_terminal_gets_colours(trec_run: Path) -> None:
    parent, child = pty.openpty()
    command = [sys.executable, "-P", "-m", "psopt", "resume", "run"]
    with subprocess.Popen(command, cwd=trec_run, env=environment(trec_run), stdout=child, stderr=child) as process:
        os.close(child)
        shown = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(parent)
    assert process.returncode == 0, shown
    assert ANSI.search(shown.decode())


def test_alone_it_shows_a_short_guide(trec_run: Path) -> None:
    lines = psopt(trec_run).stdout.splitlines()
    assert any("psopt optimize --dataset trec" in line for line in lines)
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80


@each("name", COMMANDS)
def test_help_has_an_example_and_json(name: str) -> None:
    command = command_line().load(name)
    assert str(command.epilog).startswith("Example: ")
    assert f"psopt {name}" in str(command.epilog)
    assert any("--json" in parameter.opts for parameter in command.params)
    assert all(getattr(option, "help", True) for option in command.params)


def test_a_wish_chooses_among_those_that_keep_to_its_bounds(trec_run: Path) -> None:
    entries = json.loads((trec_run / "run" / "front.json").read_text())
    prompts = entries["prompts"] + ([entries["short"]] if entries["short"] else [])
    bound = sorted(one["val"]["sensitivity"] for one in prompts)[len(prompts) // 2]
    best = max(one["val"]["f1"] for one in prompts if one["val"]["sensitivity"] <= bound)
    chosen = json.loads(psopt(trec_run, "select", "run", f"max F1 with S <= {bound}", "--json").stdout)
    assert chosen["val"]["f1"] == best
    assert chosen["val"]["sensitivity"] <= bound


@each(
    "wish, said",
    [
        ("max F1 with S <= 0", "no prompt of the front has sensitivity <= 0 % on val: the nearest has"),
        (
            "max F1 with S <= 2",
            "'S <= 2' in 'max F1 with S <= 2': sensitivity is a share from 0 to 1: say for instance",
        ),
        ("min tokens with S < 5% and F1 >= 70", "f1 is a share from 0 to 1: say for instance .05 or 5%"),
        ("max beauty", "'max beauty' can't be understood: say for instance"),
        ("max F1 with tokens < 2", "has tokens < 2 without a text on val: the nearest has"),
        ("knees", "unknown prompt of the front 'knees'"),
        ("shrt", "did you mean 'short'?"),
    ],
)
def test_a_wish_that_can_t_be_met_is_one_clear_line(trec_run: Path, wish: str, said: str) -> None:
    check_refused(psopt(trec_run, "select", "run", wish, code=2), said)


ROOT = Path(__file__).resolve().parent.parent.parent
WORDS = [
    *((name,) for name in command_line().commands),
    *((group, name) for group in ("data", "models") for name in ("list", "fetch")),
]


@each("words, columns", list(itertools.product([(), *WORDS], [60, 200])))
def test_help_fits_every_terminal(words: tuple[str, ...], columns: int, tmp_path: Path) -> None:
    done = psopt_in(tmp_path, *words, "--help", columns=columns, code=0)
    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert lines[0].startswith(f"Usage: psopt{' ' * bool(words)}{' '.join(words)} [OPTIONS]")
    assert max(len(line) for line in lines if "Example:" not in line) <= min(columns, 110)
    assert not any("…" in line or "\x1b" in line for line in lines)


def test_the_list_of_commands_says_what_their_own_help_says(tmp_path: Path) -> None:
    for name, late in command_line().commands.items():
        first = psopt_in(tmp_path, name, "--help").stdout.split("\n\n")[1]
        assert " ".join(first.split()) == late.help


def test_help_imports_no_more_than_it_needs() -> None:
    script = """
import contextlib, sys
from psopt.cli import main
for words in ([], ["--help"], ["--version"], ["optimize", "--help"]):
    with contextlib.suppress(SystemExit):
        main(words)
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, timeout=600)
    heavy = {"click", "numpy", "optuna", "openai", "pydantic", "plotly", "torch", "dspy", "typer.rich_utils"}
    loaded = set(done.stderr.split())
    assert "psopt.cli._optimize" in loaded
    assert not heavy & loaded


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_options_and_choices(shell: str, tmp_path: Path) -> None:
    for typed, expected in (
        ("psopt opt", "optimize"),
        ("psopt data ", "fetch"),
        ("psopt optimize --dat", "--dataset"),
        ("psopt optimize --hf-likelihood ", "sum"),
    ):
        asked: dict[str, Any] = {
            "COMP_WORDS": typed,
            "COMP_CWORD": str(typed.count(" ")),
            "_TYPER_COMPLETE_ARGS": typed,
        }
        asked |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_PSOPT_COMPLETE": f"complete_{shell}"}
        assert expected in psopt_in(tmp_path, **asked).stdout


def test_the_pages_of_commands_are_those_that_are_generated(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "write-commands", tmp_path], check=True, timeout=600)
    kept, made = (
        {page.name: page.read_text("utf-8") for page in folder.glob("*.md")}
        for folder in (ROOT / "docs" / "commands", tmp_path)
    )
    assert kept == made, "make docs-commands"
