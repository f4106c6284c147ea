"""Full disks, damaged files, few file descriptors, hostile names and files: one line, and nothing is lost.

Servers that misbehave are in tests/models/test_odd_http.py, kills and lost answers in
test_language_model_runs.py, several processes on one cache in tests/models/test_answer_cache.py.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.limited_runs import environment, make_data, optimize, psopt, read
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
    assert optimize(folder, server, *_SIZES).returncode == 0
    return folder


@pytest.fixture
def copied(done: Path, tmp_path: Path) -> Path:
    return shutil.copytree(done, tmp_path / "copied")


def cut(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def is_one_line(ended: subprocess.CompletedProcess[str], code: int = 2) -> bool:
    assert "Traceback" not in ended.stdout + ended.stderr
    assert "bug of psopt" not in ended.stderr
    return ended.returncode == code and "psopt: " in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "cure"), [("study.db", "start anew in another folder"), ("run.json", "put it back, or delete it")]
)
def test_a_file_that_was_cut_is_named_with_a_cure(copied: Path, name: str, cure: str) -> None:
    cut(copied / "run" / name)
    ended = psopt(copied, "resume", "run", "--trials", "4")
    assert is_one_line(ended), ended.stderr
    assert cure in ended.stderr
    assert "psopt resume" not in ended.stderr


@pytest.mark.parametrize("name", ["front.json", "proposals.json", "spent.json", "report.html"])
def test_what_is_written_at_the_end_may_be_damaged(copied: Path, name: str) -> None:
    cut(copied / "run" / name)
    assert psopt(copied, "resume", "run", "--trials", "4").returncode == 0


def test_a_full_disk_is_one_line_and_with_room_the_run_goes_on(data: Path) -> None:
    """A limit on the size of files stands for the disk: no test may mount one."""
    with FakeServer() as server:
        assert optimize(data, server, *_SIZES).returncode == 0
        size = (data / "run" / "study.db").stat().st_size // 1024
        command = f"{sys.executable} -m psopt resume run --trials 5"
        limited = ["bash", "-c", f"ulimit -f {size - 20}; trap '' XFSZ; exec {command}"]
        ended = subprocess.run(limited, cwd=data, env=environment(data), capture_output=True, text=True)
        assert is_one_line(ended), ended.stderr
        before = server.counts()["requests"]
        assert psopt(data, "resume", "run", "--trials", "5").returncode == 0
        assert server.counts()["requests"] > before
        assert server.counts()["answered_twice"] == 0


def _command(url: str, *more: str) -> list[str]:
    given = ["--dataset", "data.csv", "--model", "openai/test", "--api-base", url, "--out", "run", "--effort", "full"]
    sizes = ["--rephrasings", "3", "--heldout", "4", *_SIZES]
    return [sys.executable, "-m", "psopt", "optimize", *given, *sizes, *more]


def test_few_open_files_do(data: Path) -> None:
    with FakeServer(delay_ms=20) as server:
        command = " ".join(_command(server.url, "--concurrency", "64"))
        ended = subprocess.run(
            ["bash", "-c", f"ulimit -n 40; exec {command}"],
            cwd=data,
            env=environment(data),
            capture_output=True,
            text=True,
        )
        assert server.counts()["most_in_flight"] <= 8
    assert ended.returncode == 0, ended.stderr
    assert "raise `ulimit -n`" in ended.stderr


def test_a_process_that_slept_loses_nothing(data: Path) -> None:
    """As a laptop that was closed: longer than the time-out, while requests were on their way."""
    with FakeServer(delay_ms=10) as server:
        command = _command(server.url, "--timeout", "2")
        started = subprocess.Popen(
            command, cwd=data, env=environment(data), stderr=subprocess.PIPE, stdout=subprocess.PIPE
        )
        server.wait_for(requests=40, seconds=60)
        started.send_signal(signal.SIGSTOP)
        time.sleep(3)
        started.send_signal(signal.SIGCONT)
        _, said = started.communicate(timeout=120)
    assert started.returncode == 0, said
    assert read(data)["finish_reason"] in {"trials", "exhausted", "converged"}


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("deep.json", _DEEP, ["--prompt", "deep.json"]),
        ("deep.yaml", _DEEP, ["--prompt", "deep.yaml"]),
        ("aliases.yaml", f"{_ALIASES}messages: *i\n", ["--prompt", "aliases.yaml"]),
        (
            "tag.yaml",
            '- role: user\n  content: !!python/object/apply:os.system ["touch pwned"]\n',
            ["--prompt", "tag.yaml"],
        ),
        ("name.yaml", "- role: user\n  content: !!python/name:os.system\n", ["--prompt", "name.yaml"]),
        ("deep.toml", f"a = {_DEEP}", ["--config", "deep.toml"]),
        ("task.toml", f"labels = {_DEEP}", ["--task-file", "task.toml"]),
        ("deep.jsonl", f'{{"text": {_DEEP}}}', ["--dataset", "deep.jsonl"]),
        ("rephrasings.json", _DEEP, ["--rephrasings-file", "rephrasings.json"]),
    ],
)
def test_a_hostile_file_is_one_line(data: Path, name: str, content: str, options: list[str]) -> None:
    (data / name).write_text(content)
    given = options if "--dataset" in options else ["--dataset", "data.csv", *options]
    began = time.monotonic()
    ended = psopt(data, "diagnose", *given, "--model", "minilm")
    assert is_one_line(ended), ended.stderr
    assert name in ended.stderr
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
    ended = psopt(done, *words)
    assert is_one_line(ended), ended.stderr
    assert sorted(done.parent.iterdir()) == before


def test_names_and_labels_in_data_write_nothing_elsewhere_and_run_nothing(data: Path, server: FakeServer) -> None:
    rows: list[dict[str, Any]] = [json.loads(line) for line in _odd_rows()]
    (data / "odd.jsonl").write_text("\n".join(map(json.dumps, rows)))
    given = ["--dataset", "odd.jsonl", "--model", "openai/test", "--api-base", server.url, "--out", "odd"]
    ended = psopt(data, "optimize", *given, "--effort", "full", "--rephrasings", "3", "--heldout", "4", *_SIZES)
    assert ended.returncode == 0, ended.stderr
    assert _SCRIPT not in (data / "odd" / "report.html").read_text()
    assert not [*data.parent.glob("*evil*"), *data.glob("evil*")]


def _odd_rows() -> list[str]:
    labels = ["../x", _SCRIPT]
    splits = ("train", "val", "test")
    return [
        json.dumps(
            {
                "id": f"../../evil{number}",
                "text": f"what is thing {number * 37} called {_SCRIPT} javascript:alert({number})",
                "label": labels[number % 2],
                "split": splits[number % 3],
            }
        )
        for number in range(72)
    ]
