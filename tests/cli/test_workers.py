"""Many workers on one study, in storages of every kind: nothing is done twice, nothing is lost, whoever dies."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import optuna
import pytest
from psopt.runs import RunDirectory
from psopt.search.distributed import open_storage

from tests.commands import run_command
from tests.processes import Process
from tests.waiting import let_run, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# no limit on length, so that the front is the Pareto front of all trials
COMMON = ["--samples", "30", "--rephrasings", "3", "--heldout", "3", "--test-samples", "40"]
COMMON += ["--max-prompt-tokens", "9999", "--quiet"]
SIM = "sim/accuracy=0.6,wobble=0.3"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    environment = dict(os.environ)
    environment |= {"PSOPT_CACHE_DIR": str(tmp_path / "cache"), "PSOPT_HEARTBEAT": "0.5"}
    running = []

    def starting(*words: Any) -> Process:
        process = Process(words, cwd=tmp_path, env=environment)
        running.append(process)
        return process

    yield starting
    for process in running:
        process.kill()
        process.communicate()


def optimize(start: Any, storage: Any, name: str, trials: Any) -> Any:
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


def finished(process: Process, seconds: int = 900) -> Any:
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, err
    return out


def claimers(study: Any) -> Any:
    return {trial.user_attrs.get("psopt:claimed") for trial in study.trials} - {None}


def check_study(study: Any, folder: Path, trials: Any) -> Any:
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


def test_a_new_storage_is_opened_by_several_at_once(tmp_path: Path) -> None:
    """Four that find no tables and make them: without trying again, three fail in nearly every database."""
    with ThreadPoolExecutor(4) as pool:
        for number in range(4):
            all_here = threading.Barrier(4)
            urls = [f"sqlite:///{tmp_path}/{number}.db"] * 4
            list(pool.map(lambda url, here=all_here: (here.wait(), open_storage(url)), urls))


@pytest.mark.parametrize("storage", ["journal", "postgresql"], indirect=True)
def test_workers_share_a_study(storage: str, start: Any, tmp_path: Path) -> None:
    main = optimize(start, storage, "shared", 24)  # enough that some are left when the workers have begun
    wait_until(lambda: exists(storage, "shared"), process=main)
    workers = [worker(start, storage, "shared") for _ in range(2)]
    finished(main)
    for process in workers:
        finished(process)
    study = loaded(storage, "shared")
    check_study(study, tmp_path / "run", 24)
    assert len({trial.user_attrs["psopt:claimed"] for trial in study.trials if trial.values}) > 1
    written = "".join(path.read_text(errors="ignore") for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert "secret-word" not in written + json.dumps(study.user_attrs)


def test_killed_workers_lose_nothing_and_do_nothing_twice(postgres: Any, start: Any, tmp_path: Path) -> None:
    """Four workers, the command that began the study one of them: each is killed and started again twice."""
    chance = random.Random(1)
    workers = [optimize(start, postgres.url, "killed", 16)]
    wait_until(lambda: exists(postgres.url, "killed"), process=workers[0])
    workers += [worker(start, postgres.url, "killed") for _ in range(3)]
    for number in chance.sample(range(4), 4) * 2:
        let_run(workers[number], chance.uniform(0.2, 1.6))
        workers[number].kill()
        workers[number].communicate()
        again = ("resume", "run", "--storage", postgres.url, "--quiet")
        workers[number] = start(*again) if number == 0 else worker(start, postgres.url, "killed")
    for process in workers:
        finished(process)
    study = loaded(postgres.url, "killed")
    check_study(study, tmp_path / "run", 16)
    assert not [trial for trial in study.trials if trial.state == optuna.trial.TrialState.RUNNING]


def test_a_killed_optimize_is_taken_over_by_a_worker_and_gone_on_with(start: Any, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    main = optimize(start, storage, "headless", 16)
    wait_until(lambda: exists(storage, "headless", trials=4), process=main)
    main.kill()
    main.wait()
    finished(worker(start, storage, "headless"))
    assert sum(bool(trial.values) for trial in loaded(storage, "headless").trials) == 16
    finished(start("resume", "run", "--storage", storage, "--quiet"))
    check_study(loaded(storage, "headless"), tmp_path / "run", 16)


def test_a_postgresql_that_is_restarted_is_waited_for(postgres: Any, start: Any, tmp_path: Path) -> None:
    main = optimize(start, postgres.url, "restarted", 32)  # enough that some are left when the worker has begun
    wait_until(lambda: exists(postgres.url, "restarted"), process=main)
    process = worker(start, postgres.url, "restarted")
    # A storage must be there at the start.
    wait_until(lambda: len(claimers(loaded(postgres.url, "restarted"))) > 1, process=process)
    postgres.stop()
    let_run(main, 1.5)
    assert main.poll() is None
    postgres.start()
    finished(main)
    finished(process)
    check_study(loaded(postgres.url, "restarted"), tmp_path / "run", 32)


def wait_for_writing(file: Path, process: Process) -> None:
    """Wait until a process writes to a file, or has ended: killed sooner, it would only have been importing."""
    size = file.stat().st_size if file.is_file() else 0
    wait_until(lambda: process.poll() is not None or (file.is_file() and file.stat().st_size > size))


def test_a_journal_is_killed_again_and_again_and_gone_on_with(start: Any, tmp_path: Path) -> None:
    chance = random.Random(2)
    storage = f"journal:{tmp_path / 'study.log'}"
    process = optimize(start, storage, "journal", 16)
    for _ in range(4):
        wait_until((tmp_path / "run" / "run.json").is_file)
        wait_for_writing(tmp_path / "study.log", process)
        let_run(process, chance.uniform(0.0, 0.6))
        process.kill()
        process.wait()
        json.loads((tmp_path / "run" / "run.json").read_text())
        process = start("resume", "run", "--quiet")
    finished(process)
    check_study(loaded(storage, "journal"), tmp_path / "run", 16)


def here(folder: Path, *words: Any) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, where no other is needed."""
    environment = dict(os.environ)
    return run_command(*words, cwd=folder, env=environment | {"PSOPT_CACHE_DIR": str(folder / "cache")})


def refused(folder: Path, *words: Any) -> str:
    done = here(folder, *words)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


def test_what_can_t_be_joined_is_one_clear_line(tmp_path: Path) -> None:
    storage, nowhere = f"sqlite:///{tmp_path / 'other.db'}", "postgresql://nobody:pass@127.0.0.1:1/x"
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(study_name="other", storage=storage)
    words = ("worker", "--quiet", "--storage")
    assert "unknown study 'mine'" in refused(tmp_path, *words, storage, "--study-name", "mine")
    said = refused(tmp_path, *words, storage, "--study-name", "other")
    assert "not started by `psopt optimize --storage`" in said
    said = refused(tmp_path, *words, nowhere, "--study-name", "x")
    assert "can't be opened" in said
    assert "pass@" not in said


def test_other_data_than_the_study_s_are_refused(tmp_path: Path) -> None:
    study = ["--storage", f"sqlite:///{tmp_path / 'shared.db'}", "--study-name", "data"]
    words = ["--dataset", "trec", "--model", SIM, *COMMON, "--trials", "2", "--out", "run"]
    assert here(tmp_path, "optimize", *words, *study).returncode == 0
    rows = [f"what is {word} ?,{label}" for word, label in zip("abcdefghijkl", "xy" * 6, strict=True)]
    (tmp_path / "other.csv").write_text("\n".join(["text,label", *rows]))
    said = refused(tmp_path, "worker", *study, "--dataset", "other.csv", "--quiet")
    assert "are not those of the study" in said
    assert "--dataset" in said


def test_a_full_disk_is_one_clear_line_and_what_was_finished_is_kept(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        words = ["--dataset", "trec", "--model", SIM, *COMMON, "--trials", "60", "--out", disk / "run"]
        done = here(tmp_path, "optimize", *words)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        assert "full" in done.stderr or "No space" in done.stderr
        json.loads((disk / "run" / "run.json").read_text())
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
