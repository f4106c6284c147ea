"""wandb in its offline mode: what it writes is read back from its own file."""

from __future__ import annotations

import importlib
import json
import struct
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt.cli import main

from tests.tracking.small_runs import arguments, optimize
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

wandb = pytest.importorskip("wandb", reason="the extra `wandb` is not installed")
Record = importlib.import_module("wandb.proto.wandb_internal_pb2").Record

BLOCK = 32_768  # bytes, of LevelDB's log format, in which wandb writes
HEADER = 7  # bytes: a checksum, a length, a type


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    for name in ("WANDB_PROJECT", "WANDB_DIR", "WANDB_API_KEY", "WANDB_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    wandb.teardown()  # what it has read of the environment before
    yield
    wandb.teardown()


def records(folder: Path) -> list[Any]:
    """All that an offline run holds, once wandb's own process has written how it ended: it does that when it likes."""
    wait_until(lambda: any(record.HasField("exit") for record in _written(folder)), seconds=30)
    return _written(folder)


def _written(folder: Path) -> list[Any]:
    (file,) = folder.glob("*.wandb")
    data, place, parts, found = file.read_bytes(), HEADER, b"", []
    while place + HEADER <= len(data):
        if BLOCK - place % BLOCK < HEADER:
            place += BLOCK - place % BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", data, place)
        parts += data[place + HEADER : place + HEADER + length]
        place += HEADER + length
        if kind in {1, 4}:  # whole, or the last part
            found.append(Record.FromString(parts))
            parts = b""
    return found


def runs_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("wandb/offline-run-*"))


def history(folder: Path) -> list[dict[str, Any]]:
    """The steps that were logged."""
    steps = [record.history.item for record in records(folder) if record.HasField("history")]
    named = [{item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in step} for step in steps]
    return [step for step in named if "trial" in step]


def test_a_run_with_its_trials_and_files_is_in_wandb(tmp_path: Path) -> None:
    run = optimize(tmp_path / "run", callbacks=["wandb:tickets"])
    (folder,) = runs_in(run.path)
    found = records(folder)
    begun = next(record.run for record in found if record.HasField("run"))
    assert (begun.project, begun.display_name) == ("tickets", "run")
    config = {item.key: json.loads(item.value_json) for item in begun.config.update}
    assert config["trials"] == 4
    assert config["psopt.version"] == psopt.__version__
    listed = json.loads((run.path / "trials.json").read_text())["trials"]
    assert [(step["trial"], step["trials/f1"]) for step in history(folder)] == [
        (entry["trial"], entry["f1"]) for entry in listed
    ]
    summary = {
        item.key: json.loads(item.value_json)
        for record in found
        if record.HasField("summary")
        for item in record.summary.update
    }
    assert summary["recommended/test/f1"] == run.recommended.test.f1
    assert summary["baseline/test/f1_low"] == run.baseline.test.ci["f1"][0]
    artifacts = [record.request.log_artifact.artifact for record in found if record.request.HasField("log_artifact")]
    artifacts += [record.artifact for record in found if record.HasField("artifact")]
    kept = next(artifact for artifact in artifacts if artifact.type == "psopt-run")
    assert {"report.html", "run.json", f"prompts/{run.recommended.id}.txt"} <= {
        entry.path for entry in kept.manifest.contents
    }
    (ending,) = (record.exit.exit_code for record in found if record.HasField("exit"))
    assert ending == 0


def test_a_resumed_run_has_the_same_id_and_logs_what_is_new(tmp_path: Path) -> None:
    run = optimize(tmp_path / "run", callbacks=["wandb"])
    psopt.resume(run.path, trials=6)
    first, second = runs_in(run.path)
    assert first.name.rpartition("-")[2] == second.name.rpartition("-")[2]
    trials = [step["trial"] for step in history(second)]
    assert len(trials) == 2
    assert min(trials) >= 4  # the numbers of trials that tell nothing new are left out


def test_an_interrupted_run_ends_as_wandb_ends_one(tmp_path: Path) -> None:
    def interrupt(study: Any, trial: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        optimize(tmp_path / "run", callbacks=["wandb", interrupt])
    (folder,) = runs_in(tmp_path / "run")
    (ending,) = (record.exit.exit_code for record in records(folder) if record.HasField("exit"))
    assert ending == 255


def test_nothing_of_the_users_own_run_is_changed(tmp_path: Path) -> None:
    with wandb.init(project="mine", dir=str(tmp_path)) as mine:
        optimize(tmp_path / "run", callbacks=["wandb"])
        assert wandb.run is mine
        assert "trials" not in mine.config


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"WANDB_BASE_URL": "http://127.0.0.1:9"}, "--log wandb: no key for http://127.0.0.1:9: run `wandb login`"),
        (
            {"WANDB_BASE_URL": "http://127.0.0.1:9", "WANDB_API_KEY": "k" * 40},
            "--log wandb: nobody answers at http://127.0.0.1:9 (",
        ),
        ({"WANDB_MODE": "sideways"}, "wandb can't be used: "),
    ],
)
def test_what_wandb_lacks_ends_the_command_in_one_line(
    variables: dict[str, str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    nothing = {"WANDB_MODE": "online", "NETRC": str(tmp_path / "none"), "HOME": str(tmp_path)}
    for name, value in (nothing | variables).items():
        monkeypatch.setenv(name, value)
    wandb.teardown()
    with pytest.raises(SystemExit) as end:
        main(arguments(tmp_path, "--log", "wandb"))
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
