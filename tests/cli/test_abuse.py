"""Full disks, damaged files, few file descriptors, hostile names and files: one line, and nothing is lost.

Servers that misbehave are in tests/models/test_odd_http.py, kills and lost answers in
test_language_model_runs.py, several processes on one cache in tests/models/test_answer_cache.py.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.limited_runs import SMALL, environment, make_data, optimize, psopt
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

_SIZES = ["--trials", "3", "--samples", "12", "--rounds", "1", "--race", "off"]
_DEEP = "[" * 100_000 + "]" * 100_000
_ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
_SCRIPT = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, server: FakeServer) -> Path:
    """A folder with a finished run."""
    folder = make_data(tmp_path_factory.mktemp("abuse"))
    optimize(folder, server, *_SIZES, code=0)
    return folder


@pytest.fixture
def copied(done: Path, tmp_path: Path) -> Path:
    return shutil.copytree(done, tmp_path / "copied")


def cut(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def check_one_line(ended: subprocess.CompletedProcess[str], said: str = "") -> None:
    assert ended.returncode == 2, ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert "bug of psopt" not in ended.stderr
    assert "psopt: " in ended.stderr.splitlines()[-1]
    assert said in ended.stderr


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("study.db", "start anew in another folder"),
        ("run.json", "run/run.json is damaged"),
        ("run.json", "delete it and resume with its `psopt optimize` command"),
        ("rephrasings.json", "restore the file, or remove it to have them made again"),
    ],
)
def test_a_file_that_was_cut_is_named_with_a_cure(copied: Path, name: str, cure: str) -> None:
    cut(copied / "run" / name)
    ended = psopt(copied, "resume", "run", "--trials", "4")
    check_one_line(ended, cure)
    assert "psopt resume" not in ended.stderr


def test_what_is_written_at_the_end_may_be_damaged(copied: Path) -> None:
    for name in ("front.json", "proposals.json", "contributions.json", "spent.json", "report.html"):
        cut(copied / "run" / name)
    psopt(copied, "resume", "run", "--trials", "4", code=0)


def start(folder: Path, limit: str, *words: str) -> subprocess.Popen[str]:
    """Start a process under a limit that the shell sets."""
    command = ["bash", "-c", f"{limit}; exec {sys.executable} -m psopt {' '.join(words)}"]
    pipe, env = subprocess.PIPE, environment(folder)
    return subprocess.Popen(command, cwd=folder, env=env, stdout=pipe, stderr=pipe, text=True)


def test_a_full_disk_is_one_line_and_with_room_the_run_goes_on(data: Path) -> None:
    """A limit on the size of files stands for the disk: no test may mount one."""
    with FakeServer() as server:
        optimize(data, server, *_SIZES, code=0)
        size = (data / "run" / "study.db").stat().st_size // 1024
        started = start(data, f"ulimit -f {size - 20}; trap '' XFSZ", "resume", "run", "--trials", "5")
        out, err = started.communicate()
        check_one_line(subprocess.CompletedProcess([], started.returncode, out, err))
        before = server.counts()["requests"]
        psopt(data, "resume", "run", "--trials", "5", code=0)
        assert server.counts()["requests"] > before
        assert server.counts()["answered_twice"] == 0


@pytest.mark.parametrize(
    ("name", "content", "option"),
    [
        ("deep.yaml", _DEEP, "--prompt"),
        ("aliases.yaml", f"{_ALIASES}messages: *i\n", "--prompt"),
        ("tag.yaml", '- role: user\n  content: !!python/object/apply:os.system ["touch pwned"]\n', "--prompt"),
        ("deep.toml", f"a = {_DEEP}", "--config"),
        ("task.toml", f"labels = {_DEEP}", "--task-file"),
        ("deep.jsonl", f'{{"text": {_DEEP}}}', "--dataset"),
        ("rephrasings.json", _DEEP, "--rephrasings-file"),
    ],
    ids=lambda value: value if len(value) < 30 else "",
)
def test_a_hostile_file_is_one_line(data: Path, name: str, content: str, option: str) -> None:
    (data / name).write_text(content)
    given = [] if option == "--dataset" else ["--dataset", "data.csv"]
    began = time.monotonic()
    check_one_line(psopt(data, "diagnose", *given, option, name, "--model", "minilm"), name)
    assert not (data / "pwned").exists()
    assert time.monotonic() - began < 30  # aliases of aliases would take for ever


@pytest.mark.parametrize(
    "words",
    [
        ["data", "fetch", "../../etc/passwd"],
        ["models", "fetch", "../x"],
        ["export", "run", "--pick", "../../../etc/passwd"],
        ["optimize", "--dataset", "hf:../../x", "--model", "minilm"],
        ["optimize", "--dataset", "trec/../../x", "--model", "minilm"],
        ["diagnose", "--dataset", "data.csv", "--model", "gguf/../../../etc/passwd"],
        ["diagnose", "--dataset", "data.csv", "--model", "hf/../../../etc"],
        ["dashboard", "../nothing"],
    ],
)
def test_a_name_that_leads_elsewhere_is_one_line(done: Path, words: list[str]) -> None:
    before = sorted(done.parent.iterdir())
    check_one_line(psopt(done, *words))
    assert sorted(done.parent.iterdir()) == before


def test_names_and_labels_in_data_write_nothing_elsewhere_and_run_nothing(data: Path, server: FakeServer) -> None:
    with (data / "odd.jsonl").open("w") as file:
        for n in range(72):
            text = f"what is thing {n * 37} called {_SCRIPT} javascript:alert({n})"
            row = {"id": f"../../evil{n}", "text": text, "label": ("../x", _SCRIPT)[n % 2]}
            file.write(json.dumps({**row, "split": ("train", "val", "test")[n % 3]}) + "\n")
    given = ["--dataset", "odd.jsonl", "--model", "openai/test", "--api-base", server.url, "--out", "odd"]
    psopt(data, "optimize", *given, *SMALL, *_SIZES, code=0)
    assert _SCRIPT not in (data / "odd" / "report.html").read_text()
    assert not [*data.parent.glob("*evil*"), *data.glob("evil*")]
