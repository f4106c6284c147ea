"""Many workers on one study, in storages of every kind: nothing is done twice, nothing is lost, whoever dies."""

from __future__ import annotations

import contextlib
import json
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import optuna
import pytest
from psopt.runs import RunDirectory
from psopt.search.distributed import open_storage

from tests.cli.telling import check_refused
from tests.commands import psopt
from tests.processes import Process
from tests.waiting import let_run, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.storages import Postgres

    Start = Callable[..., Process]

# no limit on length, so that the front is the Pareto front of all trials
COMMON = ["--dataset", "trec", "--model", "sim/accuracy=0.6,wobble=0.3", "--samples", "30", "--rephrasings", "3"]
COMMON += ["--heldout", "3", "--test-samples", "40", "--max-prompt-tokens", "9999", "--quiet"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    environment = {**os.environ, "PSOPT_CACHE_DIR": str(tmp_path / "cache"), "PSOPT_HEARTBEAT": "0.5"}
    running = []

    def starting(*words: Any) -> Process:
        process = Process([*words, "--quiet"], cwd=tmp_path, env=environment)
        running.append(process)
        return process

    yield starting
    for process in running:
        process.kill()
        process.communicate()


def study_of(storage: str) -> list[str]:
    """The options that name the study of a storage that is used here."""
    return ["--storage", storage, "--study-name", "shared"]


def optimize(start: Start, storage: str, trials: int, *, begun: int = 1) -> Process:
    """Begin a run, and wait until there are so many trials."""
    process = start("optimize", *COMMON, "--trials", trials, *study_of(storage), "--out", "run")
    wait_until(lambda: len(trials_of(storage)) >= begun, process=process)
    return process


def loaded(storage: str) -> Any:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.load_study(study_name="shared", storage=open_storage(storage))


def trials_of(storage: str) -> Any:
    with contextlib.suppress(Exception):  # whatever says that there is no study yet, or no server
        return loaded(storage).trials
    return []


def claimers(trials: Any) -> set[str]:
    return {trial.user_attrs.get("psopt:claimed") for trial in trials} - {None}


def finished(*processes: Process) -> None:
    for process in processes:
        _, err = process.communicate(timeout=900)
        assert process.returncode == 0, err


def check_study(storage: str, folder: Path, n_trials: int) -> Any:
    """As many trials as asked for, no prompt twice, no edit lost, and the front that the trials make."""
    study = loaded(storage)
    done = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
    assert len(done) == len({trial.user_attrs["prompt_id"] for trial in done}) == n_trials
    drafted = [value for name, value in study.user_attrs.items() if name.startswith("psopt:edits:")]
    pool = {edit["bundle"] or edit["id"] for value in drafted for edit in json.loads(value)}
    names = {name for trial in done for name in trial.params if name != "example-order"}
    assert len(names) <= len(pool)
    run = RunDirectory.open(folder / "run").read_json("run.json")
    assert run["finish_reason"] == "trials"
    front = {tuple(one["val"][name] for name in ("f1", "sensitivity", "consistency")) for one in run["front"]}
    feasible = [trial for trial in done if trial.constraints["f1"] <= 0]
    assert front == {tuple(one.values) for one in feasible if not any(dominates(other, one) for other in feasible)}
    assert (folder / "run" / "report.html").is_file()
    of_workers = [trial for trial in done if not trial.user_attrs.get("psopt:claimed", "").startswith("optimize-")]
    told = run.get("workers") or {"trials": 0, "calls": 0}
    assert told["trials"] == len(of_workers)
    assert told["calls"] == sum(trial.user_attrs["calls"] for trial in of_workers)
    return study


def dominates(one: Any, other: Any) -> bool:
    (f1, s, c), (other_f1, other_s, other_c) = one.values, other.values
    gains = (f1 - other_f1, other_s - s, c - other_c)
    return min(gains) >= 0 and max(gains) > 0


def test_a_new_storage_is_opened_by_several_at_once(tmp_path: Path) -> None:
    """Four that find no tables and make them: without trying again, three fail in nearly every database."""
    with ThreadPoolExecutor(4) as pool:
        for number in range(2):
            all_here = threading.Barrier(4)
            urls = [f"sqlite:///{tmp_path}/{number}.db"] * 4
            list(pool.map(lambda url, here=all_here: (here.wait(), open_storage(url)), urls))


def test_workers_share_a_journal(start: Start, tmp_path: Path) -> None:
    storage = f"journal:{tmp_path / 'study.log'}"
    main = optimize(start, storage, 24)  # enough that some are left when the workers have begun
    finished(main, *(start("worker", *study_of(storage)) for _ in range(2)))
    study = check_study(storage, tmp_path, 24)
    assert len(claimers(study.trials)) > 1


def test_killed_workers_lose_nothing_and_do_nothing_twice(postgres: Postgres, start: Start, tmp_path: Path) -> None:
    """Four workers, the command that began the study one of them: each is killed and started again twice."""
    chance = random.Random(1)
    storage = postgres.new_database()
    worker = ("worker", *study_of(storage))
    workers = [optimize(start, storage, 16), *(start(*worker) for _ in range(3))]
    for number in chance.sample(range(4), 4) * 2:
        let_run(workers[number], chance.uniform(0.2, 1.6))
        workers[number].kill()
        workers[number].communicate()
        workers[number] = start(*worker) if number else start("resume", "run", "--storage", storage)
    finished(*workers)
    study = check_study(storage, tmp_path, 16)
    assert not [trial for trial in study.trials if trial.state == optuna.trial.TrialState.RUNNING]


def test_a_killed_optimize_is_taken_over_by_a_worker_and_gone_on_with(start: Start, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    main = optimize(start, storage, 16, begun=4)
    main.kill()
    main.wait()
    finished(start("worker", *study_of(storage)))
    assert sum(bool(trial.values) for trial in trials_of(storage)) == 16
    finished(start("resume", "run", "--storage", storage))
    check_study(storage, tmp_path, 16)


def test_a_postgresql_that_is_restarted_is_waited_for_and_its_password_is_kept_nowhere(
    postgres: Postgres, start: Start, tmp_path: Path
) -> None:
    storage = postgres.new_database()
    main = optimize(start, storage, 32)  # enough that some are left when the worker has begun
    worker = start("worker", *study_of(storage))
    wait_until(lambda: len(claimers(trials_of(storage))) > 1, process=worker)  # a storage must be there at the start
    postgres.stop()
    let_run(main, 1.5)
    assert main.poll() is None
    postgres.start()
    finished(main, worker)
    study = check_study(storage, tmp_path, 32)
    written = "".join(path.read_text(errors="ignore") for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert "secret-word" not in written + json.dumps(study.user_attrs)


def test_what_can_t_be_joined_is_one_clear_line(tmp_path: Path) -> None:
    storage, nowhere = f"sqlite:///{tmp_path / 'other.db'}", "postgresql://nobody:pass@127.0.0.1:1/x"
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(study_name="other", storage=storage)
    check_refused(psopt(tmp_path, "worker", *study_of(storage)), "unknown study 'shared'")
    done = psopt(tmp_path, "worker", "--storage", storage, "--study-name", "other")
    check_refused(done, "not started by `psopt optimize --storage`")
    for typo in (f"sqlite:///{tmp_path / 'typo.db'}", f"journal:{tmp_path / 'typo.log'}"):
        check_refused(psopt(tmp_path, "worker", *study_of(typo)), "is not there")
        check_refused(psopt(tmp_path, "dashboard", "--storage", typo), "is not there")
    assert not [*tmp_path.glob("typo*")]
    done = psopt(tmp_path, "worker", *study_of(nowhere))
    check_refused(done, "can't be opened")
    assert "pass@" not in done.stderr


def test_a_worker_says_why_it_stops_and_other_data_than_the_study_s_are_refused(tmp_path: Path) -> None:
    study = study_of(f"sqlite:///{tmp_path / 'shared.db'}")
    psopt(tmp_path, "optimize", *COMMON, "--trials", "2", "--out", "run", *study, code=0)
    done = psopt(tmp_path, "worker", *study, code=0)
    assert "This worker evaluated 0 prompts; nothing is left to try in the study." in done.stdout
    assert "Run directory" not in done.stderr
    rows = [f"what is {word} ?,{label}" for word, label in zip("abcdefghijkl", "xy" * 6, strict=True)]
    (tmp_path / "other.csv").write_text("\n".join(["text,label", *rows]))
    done = psopt(tmp_path, "worker", *study, "--dataset", "other.csv")
    check_refused(done, "are not those of the study", "--dataset")
