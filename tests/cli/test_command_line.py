"""The command line itself: how it looks in any terminal, what it suggests, how little it imports to say so."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psopt.cli import command_line, main

from tests.sweeps import each

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
GROUPS = ("data", "models")
COMMANDS = [
    *((name,) for name in command_line().commands),
    *((group, name) for group in GROUPS for name in ("list", "fetch")),
]


def psopt(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run it without a terminal."""
    command = [sys.executable, "-P", "-m", "psopt", *words]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, timeout=600)


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints in this process, where it ends well."""
    with pytest.raises(SystemExit) as end:
        main([*words])
    out, err = capsys.readouterr()
    assert (end.value.code, err) == (0, "")
    return out


@each("words, columns", list(itertools.product([(), *COMMANDS], [60, 80, 200])))
def test_help_fits_every_terminal(
    words: tuple[str, ...], columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = shown(capsys, *words, "--help").splitlines()
    assert lines[0].startswith(f"Usage: psopt{' ' * bool(words)}{' '.join(words)} [OPTIONS]")
    assert max(len(line) for line in lines if "Example:" not in line) <= min(columns, 110)
    assert not any("…" in line or "\x1b" in line for line in lines)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_help_is_drawn_with_the_signs_that_there_are(encoding: str) -> None:
    done = psopt("optimize", "--help", PYTHONIOENCODING=encoding, COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert "--dataset D" in text
    assert "?--" not in text
    assert ("╭" in text) == (encoding == "utf-8")


def test_the_list_of_commands_says_what_their_own_help_says(capsys: pytest.CaptureFixture[str]) -> None:
    for name, late in command_line().commands.items():
        first = shown(capsys, name, "--help").split("\n\n")[1]
        assert " ".join(first.split()) == late.help


@each(
    "words, said",
    [
        (["optimize", "--trails", "3"], "No such option --trails: did you mean --trials?"),
        (["optimise"], "No such command 'optimise': did you mean optimize?"),
        (["data", "lst"], "No such command 'lst': did you mean list?"),
        (["--json"], "No such option --json (see: psopt --help)"),
        (
            ["diagnose", "--dataset", "trec", "--split", "tset"],
            "'tset' is not one of train, val, test, all: did you mean",
        ),
        (["optimize", "--trials", "0"], "'--trials': a whole number of 1 or more is expected, not '0'"),
        (["optimize", "--seed", "1.5"], "'--seed': a whole number of 0 or more is expected, not '1.5'"),
        (["optimize", "--max-unanswered", "2"], "'--max-unanswered': a number from 0 to 1 is expected, not '2'"),
        (["optimize", "--timeout", "0"], "'--timeout': a number above 0 is expected, not 0"),
        (["optimize", "--max-cost", "much"], "'--max-cost': a number of 0 or more is expected, not 'much'"),
        (["optimize", "--extra-body", "[1]"], "'--extra-body': a JSON object is expected"),
        (["optimize", "--header", "Key"], "'--header': number 1 has no '='"),
        (["completion", "csh"], "'csh' is not one of bash, zsh, fish, powershell"),
        (["export"], "Missing argument 'RUN'"),
        (["optimize", "--dataset"], "Option '--dataset' requires an argument"),
    ],
)
def test_what_is_wrong_is_one_line_of_our_words(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    out, err = capsys.readouterr()
    assert (end.value.code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("psopt: ")
    assert said in line
    assert "pydantic" not in line


@pytest.mark.parametrize("words", [[], ["--help"], ["--version"], ["optimize", "--help"]])
def test_help_imports_no_more_than_it_needs(words: list[str]) -> None:
    script = (
        "import sys\nfrom psopt.cli import main\n"
        f"try:\n    main({words})\nexcept SystemExit:\n    print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, timeout=600)
    heavy = {"click", "numpy", "optuna", "openai", "pydantic", "plotly", "torch", "dspy", "typer.rich_utils"}
    assert not heavy & set(done.stderr.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_options_and_choices(shell: str) -> None:
    for typed, expected in (
        ("psopt opt", "optimize"),
        ("psopt data ", "fetch"),
        ("psopt optimize --dat", "--dataset"),
        ("psopt optimize --hf-likelihood ", "sum"),
    ):
        words = typed.split(" ")
        asked = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1), "_TYPER_COMPLETE_ARGS": typed}
        asked |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_PSOPT_COMPLETE": f"complete_{shell}"}
        assert expected in psopt(**asked).stdout.decode()


def pages(folder: Path) -> Iterator[tuple[str, str]]:
    """The pages of a folder by name."""
    for page in sorted(folder.glob("*.md")):
        yield page.name, page.read_text("utf-8")


def test_the_pages_of_commands_are_those_that_are_generated(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "write-commands", tmp_path], check=True, timeout=600)
    assert dict(pages(ROOT / "docs" / "commands")) == dict(pages(tmp_path)), "make docs-commands"
