"""The command line itself: how it looks in any terminal, what it completes, how little it imports to say so.

What it says of words that make no sense is in test_bad_input.py.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from psopt.cli import command_line

from tests.commands import psopt
from tests.sweeps import each

ROOT = Path(__file__).resolve().parent.parent.parent
COMMANDS = [
    *((name,) for name in command_line().commands),
    *((group, name) for group in ("data", "models") for name in ("list", "fetch")),
]


@each("words, columns", list(itertools.product([(), *COMMANDS], [60, 200])))
def test_help_fits_every_terminal(words: tuple[str, ...], columns: int, tmp_path: Path) -> None:
    done = psopt(tmp_path, *words, "--help", columns=columns, code=0)
    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert lines[0].startswith(f"Usage: psopt{' ' * bool(words)}{' '.join(words)} [OPTIONS]")
    assert max(len(line) for line in lines if "Example:" not in line) <= min(columns, 110)
    assert not any("…" in line or "\x1b" in line for line in lines)


def test_the_list_of_commands_says_what_their_own_help_says(tmp_path: Path) -> None:
    for name, late in command_line().commands.items():
        first = psopt(tmp_path, name, "--help").stdout.split("\n\n")[1]
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
        assert expected in psopt(tmp_path, **asked).stdout


def test_the_pages_of_commands_are_those_that_are_generated(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "write-commands", tmp_path], check=True, timeout=600)
    kept, made = (
        {page.name: page.read_text("utf-8") for page in folder.glob("*.md")}
        for folder in (ROOT / "docs" / "commands", tmp_path)
    )
    assert kept == made, "make docs-commands"
