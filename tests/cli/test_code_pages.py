"""Standard output in cp1252 or ASCII: every command ends as it would elsewhere, and never in a traceback.

The commands are run in this process, with streams in the encoding that a process of its own would have by
PYTHONIOENCODING; one real process shows that it is so.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.commands import environment, psopt, run_command
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

ENCODINGS = ["cp1252", "ascii"]
ODD = "Größe→大きい\u202f🙂"  # cp1252 has its first five letters, and no more
SIM = ["--model", "sim/accuracy=0.6,wobble=0.4", "--rephrasings", "3"]
RUN = f"runs/{ODD}"
DATA = ["--dataset", f"{ODD}.csv", *SIM]
COMMANDS = {
    "alone": [],
    "resume": ["resume", RUN],
    "diagnose json": ["diagnose", *DATA, "--json"],
    "diagnose page": ["diagnose", *DATA, "--html", f"{ODD}.html"],
    "check": ["check", *DATA, "--min-f1", "0", "--junit", f"{ODD}.xml"],
    "classify": ["classify", "--prompt", RUN, f"{ODD}.txt"],
    "rephrase show": ["rephrase", "--prompt", f"{ODD}-prompt.txt", "--show"],
    "report": ["report", RUN],
    "export": ["export", RUN],
}
ERRORS = {
    "no such file": ["diagnose", "--dataset", f"{ODD}-not.csv", *SIM],
    "no such option": ["diagnose", f"--{ODD}"],
    "no such wish": ["select", RUN, ODD],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which names, labels and texts have odd characters, with a run in it."""
    folder = tmp_path_factory.mktemp("pages")
    labels = [ODD, "naïve “B”"]
    rows = [f'"What {ODD} is number {n} – {labels[n % 2]} ?",{labels[n % 2]}' for n in range(60)]
    (folder / f"{ODD}.csv").write_text("\n".join(["text,label", *rows]) + "\n", "utf-8")
    (folder / f"{ODD}.txt").write_text(f"What {ODD} is it ?\n", "utf-8")
    (folder / f"{ODD}-prompt.txt").write_text(f"Say {ODD} or naïve of the text.\n\n{{text}}\n", "utf-8")
    psopt(folder, "optimize", *DATA, "--trials", "4", "--out", RUN, code=0)
    return folder


def run_in(encoding: str, folder: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    done = run_command(*words, cwd=folder, env=environment(folder), encoding=encoding)
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.mark.parametrize(("name", "encoding"), [*zip(COMMANDS, itertools.cycle(ENCODINGS), strict=False)])
def test_a_command_ends_as_it_would_elsewhere(folder: Path, name: str, encoding: str) -> None:
    done = run_in(encoding, folder, COMMANDS[name])
    assert done.returncode == 0, done.stderr
    assert done.stdout + done.stderr
    if name.endswith("json"):
        assert ODD in json.dumps(json.loads(done.stdout), ensure_ascii=False), "what JSON holds is whole"


@each("name, encoding", list(itertools.product(ERRORS, ENCODINGS)))
def test_an_error_is_one_line(folder: Path, name: str, encoding: str) -> None:
    done = run_in(encoding, folder, ERRORS[name])
    assert (done.returncode, done.stdout) == (2, "")
    assert len([line for line in done.stderr.splitlines() if line.startswith("psopt: ")]) == 1


def run_process(encoding: str, folder: Path, *words: str) -> tuple[str, str]:
    """Standard output and standard error of a process with such streams, which must end well."""
    env = {**environment(folder), "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    if encoding == "ascii":  # as a locale without any other character has it
        env |= {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    process = [sys.executable, "-P", "-m", "psopt"]
    done = subprocess.run([*process, *words], cwd=folder, env=env, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode(encoding), done.stderr.decode(encoding)


def test_a_process_with_such_streams_ends_well_too_and_what_it_writes_is_utf_8_with_plain_line_ends(
    folder: Path,
) -> None:
    out, err = run_process("cp1252", folder, "resume", RUN, "--trials", "5")
    assert out
    assert err
    assert "Traceback" not in err
    files = [path for path in (folder / RUN).rglob("*") if path.suffix in {".json", ".txt", ".html"}]
    assert len(files) > 8
    assert not [path for path in files if "\r\n" in path.read_bytes().decode("utf-8")]


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_help_is_drawn_with_the_signs_that_there_are(folder: Path, encoding: str) -> None:
    text, said = run_process(encoding, folder, "optimize", "--help")
    assert said == ""
    assert "--dataset D" in text
    assert "?--" not in text
    assert ("╭" in text) == (encoding == "utf-8")
