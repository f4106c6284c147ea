"""What a terminal shows, in any width and encoding: help, tables, colours; what is completed; what it imports."""

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


@each("words", PRINTING_TABLES)
def test_tables_fit_the_terminal(trec_run: Path, words: list[str]) -> None:
    marks = ("│", "┃", "┏", "└", "─", "  ")  # of a table's rows and rules, and of what stands in the place of one
    done = psopt(trec_run, *words, columns=40)
    # commands and paths to copy stay whole
    rows = [line for line in done.stdout.splitlines() if line.startswith(marks) and "psopt " not in line]
    assert max(map(len, rows), default=0) <= 40
    assert "…" not in done.stdout
    assert not ANSI.search(done.stdout + done.stderr)


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
    command = [sys.executable, "-P", "-m", "psopt", "select", "run"]
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
    if len(words) == 1:  # the list of commands says the same
        assert " ".join(done.stdout.split("\n\n")[1].split()) == command_line().commands[words[0]].help


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


# Standard output in cp1252 or ASCII, in this process as one of its own would have it by PYTHONIOENCODING.
ODD = "Größe→大きい\u202f🙂"  # cp1252 has its first five letters, and no more
SIM = ["--model", "sim/accuracy=0.6,wobble=0.4", "--rephrasings", "3"]
RUN = f"runs/{ODD}"
DATA = ["--dataset", f"{ODD}.csv", *SIM]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which names, labels and texts have odd characters, with a run in it."""
    folder = tmp_path_factory.mktemp("pages")
    labels = [ODD, "naïve “B”"]
    rows = [f'"What {ODD} is number {n} – {labels[n % 2]} ?",{labels[n % 2]}' for n in range(60)]
    (folder / f"{ODD}.csv").write_text("\n".join(["text,label", *rows]) + "\n", "utf-8")
    (folder / f"{ODD}.txt").write_text(f"What {ODD} is it ?\n", "utf-8")
    (folder / f"{ODD}-prompt.txt").write_text(f"Say {ODD} or naïve of the text.\n\n{{text}}\n", "utf-8")
    psopt_in(folder, "optimize", *DATA, "--trials", "4", "--out", RUN, code=0)
    return folder


@each(
    "encoding, words",
    [
        ("cp1252", ["resume", RUN]),
        ("ascii", ["diagnose", *DATA, "--json"]),
        ("cp1252", ["diagnose", *DATA, "--html", f"{ODD}.html"]),
        ("ascii", ["check", *DATA, "--min-f1", "0", "--junit", f"{ODD}.xml"]),
        ("cp1252", ["classify", "--prompt", RUN, f"{ODD}.txt"]),
        ("ascii", ["rephrase", "--prompt", f"{ODD}-prompt.txt", "--show"]),
        ("cp1252", ["report", RUN]),
        ("ascii", ["export", RUN]),
    ],
)
def test_a_command_ends_as_it_would_elsewhere(pages: Path, encoding: str, words: list[str]) -> None:
    done = run_command(*words, cwd=pages, env=environment(pages), encoding=encoding, code=0)
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout + done.stderr
    if "--json" in words:
        assert ODD in json.dumps(json.loads(done.stdout), ensure_ascii=False), "what JSON holds is whole"


@each("encoding", ["cp1252", "ascii"])
def test_an_error_is_one_line(pages: Path, encoding: str) -> None:
    for words in (["diagnose", "--dataset", f"{ODD}-not.csv", *SIM], ["diagnose", f"--{ODD}"], ["select", RUN, ODD]):
        check_refused(run_command(*words, cwd=pages, env=environment(pages), encoding=encoding), alone=False)


def test_a_process_with_such_streams_ends_well_too_and_what_it_writes_is_utf_8_with_plain_line_ends(
    pages: Path,
) -> None:
    env = {**environment(pages), "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    command = [sys.executable, "-P", "-m", "psopt", "resume", RUN, "--trials", "5"]
    done = subprocess.run(command, cwd=pages, env=env, capture_output=True, check=True, timeout=600)
    assert done.stdout.decode("cp1252")
    assert "Traceback" not in done.stderr.decode("cp1252")
    exported = subprocess.run([*command[:4], "export", RUN], cwd=pages, env=env, capture_output=True, check=True)
    assert rb"\u5927\u304d\u3044" in exported.stdout, "different labels stay different"
    assert b"Note: the prompt was changed to be shown: cp1252 has no '" in exported.stderr
    files = [path for path in (pages / RUN).rglob("*") if path.suffix in {".json", ".txt", ".html"}]
    assert len(files) > 8
    assert not [path for path in files if "\r\n" in path.read_bytes().decode("utf-8")]


def test_help_is_drawn_with_the_signs_that_there_are(pages: Path) -> None:
    # as a locale without any other character has it
    env = {**environment(pages), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env |= {"LANG": "C", "LC_ALL": "C"}
    command = [sys.executable, "-P", "-m", "psopt", "optimize", "--help"]
    done = subprocess.run(command, cwd=pages, env=env, capture_output=True, check=True, timeout=600)
    assert (done.stderr, b"?--" in done.stdout) == (b"", False)
    assert "--dataset D" in done.stdout.decode("ascii")
    assert "╭" in psopt_in(pages, "optimize", "--help").stdout
