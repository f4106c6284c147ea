"""Standard output in cp1252 or ASCII: every command ends as it would elsewhere, and never in a traceback.

The commands are run in this process, with streams in the encoding that a process of its own would have by
PYTHONIOENCODING; one real process shows that it is so.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from psopt.cli import main

from tests.commands import run_command
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
    "help": ["optimize", "--help"],
    "resume": ["resume", RUN],
    "resume json": ["resume", RUN, "--json"],
    "dry run": ["optimize", *DATA, "--dry-run"],
    "diagnose": ["diagnose", *DATA],
    "diagnose json": ["diagnose", *DATA, "--json"],
    "diagnose page": ["diagnose", *DATA, "--html", f"{ODD}.html"],
    "compare": ["compare", *DATA, "--model2", "sim/accuracy=0.9"],
    "check": ["check", *DATA, "--min-f1", "0", "--junit", f"{ODD}.xml"],
    "classify": ["classify", "--prompt", RUN, f"{ODD}.txt"],
    "classify json": ["classify", "--prompt", RUN, f"{ODD}.txt", "--json"],
    "rephrase": ["rephrase", "--dataset", f"{ODD}.csv"],
    "rephrase show": ["rephrase", "--prompt", f"{ODD}-prompt.txt", "--show"],
    "report": ["report", RUN],
    "report of two": ["report", RUN, RUN],
    "select": ["select", RUN],
    "export": ["export", RUN],
    "export json": ["export", RUN, "--json"],
    "export diff": ["export", RUN, "--pick", "f1", "--diff"],
    "data": ["data", "list"],
    "models": ["models", "list"],
    "skill": ["skill"],
    "schema": ["schema", "run.json"],
    "completion": ["completion", "bash"],
}
ERRORS = {
    "no such run": ["resume", f"{RUN}-not"],
    "no such file": ["diagnose", "--dataset", f"{ODD}-not.csv", *SIM],
    "no such column": ["diagnose", *DATA, "--text-column", ODD],
    "no such model": ["diagnose", "--dataset", f"{ODD}.csv", "--model", ODD],
    "no such option": ["diagnose", f"--{ODD}"],
    "no such command": [ODD],
    "no such wish": ["select", RUN, ODD],
    "no such schema": ["schema", ODD],
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
    run_command("optimize", *DATA, "--trials", "4", "--out", RUN, cwd=folder, env=environment(folder), code=0)
    return folder


def environment(folder: Path) -> dict[str, str]:
    kept = dict(os.environ)
    return {**kept, "PSOPT_CACHE_DIR": str(folder / "cache")}


def run_in(encoding: str, folder: Path, words: list[str]) -> tuple[Any, str, str]:
    """The exit code, standard output and standard error of a command whose streams have an encoding."""
    streams = {
        name: io.TextIOWrapper(io.BytesIO(), encoding, errors=errors, write_through=True)
        for name, errors in (("stdout", "strict"), ("stderr", "backslashreplace"))
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in environment(folder).items():
            patch.setenv(name, value)
            patch.setattr(sys, "argv", ["psopt", *words])
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        patch.setattr("psopt.cli._main.leave", sys.exit)
        with pytest.raises(SystemExit) as ended:
            main(words)
    out, err = (decoded(stream.buffer.getvalue(), encoding) for stream in streams.values())
    return ended.value.code, out, err


def decoded(content: bytes, encoding: str) -> str:
    """What was written; Typer takes ASCII for a mistake of the system's, and writes UTF-8 there."""
    return content.decode("utf-8" if encoding == "ascii" else encoding)


@pytest.mark.parametrize(("name", "encoding"), zip(COMMANDS, itertools.cycle(ENCODINGS), strict=False))
def test_a_command_ends_as_it_would_elsewhere(folder: Path, name: str, encoding: str) -> None:
    code, out, err = run_in(encoding, folder, COMMANDS[name])
    assert code == 0, err
    assert out + err
    assert "Traceback" not in out + err
    if name.endswith("json") and name != "classify json":
        assert ODD in json.dumps(json.loads(out), ensure_ascii=False), "what JSON holds is whole"


@each("name, encoding", list(itertools.product(ERRORS, ENCODINGS)))
def test_an_error_is_one_line(folder: Path, name: str, encoding: str) -> None:
    code, out, err = run_in(encoding, folder, ERRORS[name])
    assert (code, out) == (2, "")
    assert len([line for line in err.splitlines() if line.startswith("psopt: ")]) == 1
    assert "Traceback" not in err


def test_what_psopt_writes_is_utf_8_with_plain_line_ends(folder: Path) -> None:
    run_in("cp1252", folder, COMMANDS["diagnose page"])
    texts = {".json", ".txt", ".html", ".svg", ".xml"}
    files = [path for path in (folder / RUN).rglob("*") if path.suffix in texts]
    assert len(files) > 8
    for path in [*files, folder / f"{ODD}.html"]:
        content = path.read_bytes()
        assert "\r\n" not in content.decode("utf-8"), path


def test_a_process_with_such_streams_writes_an_export_to_a_file(folder: Path) -> None:
    encoding = "cp1252"
    process = [sys.executable, "-P", "-m", "psopt"]
    env = {**environment(folder), "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    with (folder / "exported.txt").open("wb") as file:
        done = subprocess.run(
            [*process, "export", RUN], cwd=folder, env=env, stdout=file, stderr=subprocess.PIPE, timeout=600
        )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert decoded((folder / "exported.txt").read_bytes(), encoding)
    progress = subprocess.run(
        [*process, "resume", RUN, "--trials", "5"], cwd=folder, env=env, capture_output=True, timeout=600
    )
    assert progress.returncode == 0, progress.stderr
    assert decoded(progress.stderr, encoding)
