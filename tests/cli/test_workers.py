"""Many workers on one study, in storages of every kind: nothing is done twice, nothing is lost, whoever dies."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import optuna
import pytest
from psopt.runs import RunDirectory
from psopt.search import open_storage

from tests.waiting import let_run, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# no limit on length, so that the front is the Pareto front of all trials
COMMON = ["--samples", "40", "--rephrasings", "4", "--max-prompt-tokens", "9999", "--quiet"]
SIM = "sim/accuracy=0.6,wobble=0.3"
TRIALS = 16


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    environment = {name: value for name, value in os.environ.items() if name != "PSOPT_DATA_DIR"}
    environment |= {"PSOPT_CACHE_DIR": str(tmp_path / "cache"), "PSOPT_HEARTBEAT": "0.5"}
    running = []

    def starting(*words: Any) -> subprocess.Popen[str]:
        # "-P" keeps the working directory out of the path, so that the installed package is used
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "psopt", *map(str, words)],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield starting
    for process in running:
        process.kill()
        process.communicate()


def optimize(start: Any, storage: Any, name: str, trials: Any = TRIALS) -> Any:
    words = ["--dataset", "trec", "--model", SIM, *COMMON, "--trials", trials, "--storage", storage]
    return start("optimize", *words, "--study-name", name, "--out", "run")


def worker(start: Any, storage: Any, name: str) -> Any:
    return start("worker", "--storage", storage, "--study-name", name, "--quiet")


def exists(storage: str, name: str, *, trials: int = 1) -> bool:
    """Tell whether there are so many trials of a study already."""
    with contextlib.suppress(Exception):  # whatever says that there is no study yet, or no server
        return len(loaded(storage, name).trials) >= trials
    return False


def loaded(storage: Any, name: str) -> Any:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.load_study(study_name=name, storage=open_storage(storage))


def finished(process: subprocess.Popen[str], seconds: int = 900) -> Any:
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, err
    return out


def claimers(study: Any) -> Any:
    return {trial.user_attrs.get("psopt:claimed") for trial in study.trials} - {None}


def check_study(study: Any, folder: Path, trials: Any = TRIALS) -> Any:
    """As many trials as asked for, no prompt twice, no edit lost, and the front that the trials make."""
    done = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
    assert len(done) == trials
    ids = [trial.user_attrs["prompt_id"] for trial in done]
    assert len(set(ids)) == trials
    pool = {
        one["bundle"] or one["id"]
        for name, value in study.user_attrs.items()
        if name.startswith("psopt:edits:")
        for one in json.loads(value)
    }
    names = {name for trial in done for name in trial.params if name != "example-order"}
    assert len(names) <= len(pool)
    run = RunDirectory.open(folder).read_json("run.json")
    assert run["finish_reason"] == "trials"
    front = {tuple(one["val"][name] for name in ("f1", "sensitivity", "consistency")) for one in run["front"]}
    feasible = [trial for trial in done if trial.constraints["f1"] <= 0]
    assert front == {tuple(one.values) for one in feasible if not any(dominates(other, one) for other in feasible)}
    assert (folder / "report.html").is_file()
    return run


def dominates(one: Any, other: Any) -> Any:
    pairs = [(a, b) if name != 1 else (b, a) for name, (a, b) in enumerate(zip(one.values, other.values, strict=True))]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def test_workers_share_a_study(storage: str, start: Any, tmp_path: Path) -> None:
    main = optimize(start, storage, "shared", 40)  # enough that some are left when the workers have begun
    wait_until(lambda: exists(storage, "shared"), process=main)
    workers = [worker(start, storage, "shared") for _ in range(2)]
    finished(main)
    for process in workers:
        finished(process)
    study = loaded(storage, "shared")
    check_study(study, tmp_path / "run", 40)
    assert len({trial.user_attrs["psopt:claimed"] for trial in study.trials if trial.values}) > 1
    written = "".join(path.read_text(errors="ignore") for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert "secret-word" not in written + json.dumps(study.user_attrs)


def test_killed_workers_lose_nothing_and_do_nothing_twice(postgres: Any, start: Any, tmp_path: Path) -> None:
    """Four workers, the command that began the study one of them: each is killed and started again four times."""
    chance = random.Random(1)
    workers = [optimize(start, postgres.url, "killed", 24)]
    wait_until(lambda: exists(postgres.url, "killed"), process=workers[0])
    workers += [worker(start, postgres.url, "killed") for _ in range(3)]
    for number in chance.sample(range(4), 4) * 4:
        let_run(workers[number], chance.uniform(0.2, 1.6))
        workers[number].kill()
        workers[number].communicate()
        again = ("resume", "run", "--storage", postgres.url, "--quiet")
        workers[number] = start(*again) if number == 0 else worker(start, postgres.url, "killed")
    for process in workers:
        finished(process)
    study = loaded(postgres.url, "killed")
    check_study(study, tmp_path / "run", 24)
    assert not [trial for trial in study.trials if trial.state == optuna.trial.TrialState.RUNNING]


def test_a_killed_optimize_is_taken_over_by_a_worker_and_gone_on_with(storage: str, start: Any, tmp_path: Path) -> None:
    main = optimize(start, storage, "headless")
    wait_until(lambda: exists(storage, "headless", trials=4), process=main)
    main.kill()
    main.wait()
    finished(worker(start, storage, "headless"))
    assert sum(bool(trial.values) for trial in loaded(storage, "headless").trials) == TRIALS
    finished(start("resume", "run", "--storage", storage, "--quiet"))
    check_study(loaded(storage, "headless"), tmp_path / "run")


def test_a_postgresql_that_is_restarted_is_waited_for(postgres: Any, start: Any, tmp_path: Path) -> None:
    main = optimize(start, postgres.url, "restarted", 48)  # enough that some are left when the worker has begun
    wait_until(lambda: exists(postgres.url, "restarted"), process=main)
    process = worker(start, postgres.url, "restarted")
    # A storage must be there at the start.
    wait_until(lambda: len(claimers(loaded(postgres.url, "restarted"))) > 1, process=process)
    postgres.stop()
    let_run(main, 3.0)
    assert main.poll() is None
    postgres.start()
    finished(main)
    finished(process)
    check_study(loaded(postgres.url, "restarted"), tmp_path / "run", 48)


def wait_for_writing(file: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a process writes to a file, or has ended: killed sooner, it would only have been importing."""
    size = file.stat().st_size if file.is_file() else 0
    wait_until(lambda: process.poll() is not None or (file.is_file() and file.stat().st_size > size))


def test_a_journal_is_killed_again_and_again_and_gone_on_with(start: Any, tmp_path: Path) -> None:
    chance = random.Random(2)
    storage = f"journal:{tmp_path / 'study.log'}"
    process = optimize(start, storage, "journal", 24)
    for _ in range(8):
        wait_until((tmp_path / "run" / "run.json").is_file)
        wait_for_writing(tmp_path / "study.log", process)
        let_run(process, chance.uniform(0.0, 0.6))
        process.kill()
        process.wait()
        json.loads((tmp_path / "run" / "run.json").read_text())
        process = start("resume", "run", "--quiet")
    finished(process)
    check_study(loaded(storage, "journal"), tmp_path / "run", 24)


def refused(process: subprocess.Popen[str]) -> Any:
    _, err = process.communicate(timeout=600)
    assert process.returncode == 2, err
    assert len(err.strip().splitlines()) == 1
    return err


def test_what_can_t_be_joined_is_one_clear_line(start: Any, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'other.db'}"
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(study_name="other", storage=storage)
    assert "unknown study 'mine'" in refused(worker(start, storage, "mine"))
    assert "not started by `psopt optimize --storage`" in refused(worker(start, storage, "other"))
    assert "can't be opened" in refused(worker(start, "postgresql://nobody:pass@127.0.0.1:1/x", "x"))
    assert "pass@" not in refused(worker(start, "postgresql://nobody:pass@127.0.0.1:1/x", "x"))


def test_other_data_than_the_study_s_are_refused(start: Any, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'shared.db'}"
    finished(optimize(start, storage, "data", 2))
    rows = [f"what is {word} ?,{label}" for word, label in zip("abcdefghijkl", "xy" * 6, strict=True)]
    (tmp_path / "other.csv").write_text("\n".join(["text,label", *rows]))
    words = ["--storage", storage, "--study-name", "data", "--dataset", "other.csv", "--quiet"]
    said = refused(start("worker", *words))
    assert "are not those of the study" in said
    assert "--dataset" in said


def test_a_full_disk_is_one_clear_line_and_what_was_finished_is_kept(start: Any, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        words = ["--dataset", "trec", "--model", SIM, *COMMON, "--trials", "60", "--out", disk / "run"]
        process = start("optimize", *words)
        _, err = process.communicate(timeout=600)
        assert process.returncode == 2, err
        assert "Traceback" not in err
        assert "full" in err or "No space" in err
        json.loads((disk / "run" / "run.json").read_text())
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
