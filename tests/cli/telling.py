"""What a command says: to a process that runs one after the other, where it refuses, and in JUnit's XML."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.commands import run_command


def told(words: list[str], folder: str) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of a command."""
    done = run_command(*words, cwd=Path(folder), env=os.environ)
    return done.returncode, done.stdout, done.stderr


def check_refused(done: subprocess.CompletedProcess[str], *said: str, code: int = 2, alone: bool = True) -> None:
    """See that a command has printed nothing, and has said one line of psopt's own words, which has `said` in it.

    Where that line is not alone, others stand before it, on what was read.
    """
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    *others, line = done.stderr.splitlines()
    assert not (others and alone), done.stderr
    assert "Traceback" not in done.stderr
    assert line.startswith("psopt: ")
    assert [words for words in said if words not in line] == [], line


def failed_cases(file: Path) -> set[str | None]:
    """The names of JUnit's test cases that have failed."""
    return {case.get("name") for case in ET.parse(file).iter("testcase") if case.find("failure") is not None}


def check_says(text: str, *said: str) -> None:
    """See that a text has each of these in it, wherever its lines are broken."""
    words = " ".join(text.split())
    assert [each for each in said if " ".join(each.split()) not in words] == [], text
