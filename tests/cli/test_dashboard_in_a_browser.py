"""Optuna's dashboard on a run: it is told of one best trial, and shown in a real headless Chromium."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from typing import TYPE_CHECKING, Any
from wsgiref.util import setup_testing_defaults

import optuna
import optuna_dashboard
import pytest
from psopt.cli._report import with_one_badge

from tests.cli.limited_runs import read
from tests.cli.test_json_schemas import summaries
from tests.commands import environment, psopt
from tests.processes import Process
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str]]:
    """A small run, and the address of its dashboard's page on the study."""
    if not CHROMIUM:
        pytest.skip("no Chromium is installed (Debian: chromium)")
    folder = tmp_path_factory.mktemp("dashboard")
    small = ["--model", "sim/accuracy=0.7,wobble=0.6", "--trials", "12", "--samples", "30", "--rephrasings", "4"]
    psopt(folder, "optimize", "--dataset", "trec", *small, "--out", "run", "--quiet", code=0)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Process(["dashboard", "run", "--port", port], cwd=folder, env=environment(folder))
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: summaries(f"{url}/api/studies"), process=server)
    yield folder / "run", f"{url}/dashboard/studies/1"
    server.kill()
    server.wait()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """What a page shows once its scripts have run; each is opened once."""
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1800", "--virtual-time-budget=30000"]
    words += [f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "--no-proxy-server", "--dump-dom"]
    return lambda url: subprocess.run([str(CHROMIUM), *words, url], capture_output=True, text=True, timeout=600).stdout


def test_the_front_and_a_trial_s_note_are_on_the_page(dashboard: tuple[Any, str], shown: Callable[[str], str]) -> None:
    run, url = dashboard
    page = shown(url)
    assert "Pareto" in page
    assert "js-plotly-plot" in page
    assert "define Person: " in page  # parameters are called by what edits say
    assert "edit:" not in page
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    trials = optuna.load_study(study_name="run", storage=f"sqlite:///{run / 'study.db'}").trials
    best_id = read(run.parent, "front.json")["prompts"][0]["id"]
    best = next(trial for trial in trials if trial.values and trial.user_attrs["prompt_id"] == best_id)
    page = shown(f"{url}/trials?numbers={best.number}")
    for said in (f"Prompt {best_id}", "Added to the original prompt", "Classify the question"):
        assert said in page
    assert not re.search(r"&amp;#?\w+;", page), "an entity is shown as such"


def test_the_study_s_note_says_what_to_use(dashboard: tuple[Any, str], shown: Callable[[str], str]) -> None:
    run, url = dashboard
    recommended = read(run.parent)["recommended"]
    page = shown(f"{url}/note")
    for said in ("trec (bundled)", "Recommended: trial", recommended["id"], "psopt export run", "report.html"):
        assert said in page


def details(study: optuna.Study, query: str = "after=0", path: str | None = None) -> tuple[str, Any]:
    """The status of an answer, and what it holds."""
    request: dict[str, Any] = {"PATH_INFO": path or f"/api/studies/{study._study_id}", "QUERY_STRING": query}
    setup_testing_defaults(request)
    begun: list[Any] = []
    served = with_one_badge(optuna_dashboard.wsgi(study._storage), study._storage)
    body = b"".join(served(request, lambda *words: begun.append(words)))  # type: ignore[arg-type]
    status, headers = begun[-1][:2]
    assert int(dict(headers)["Content-Length"]) == len(body)
    return status, json.loads(body)


def test_the_chosen_trial_is_told_as_the_best_one_and_the_others_are_those_asked_for() -> None:
    """Three trials are on the front, and one behind; the first has the badge once it is chosen."""
    study = optuna.create_study(directions=["maximize", "minimize"])
    for pair in ((0.5, 0.1), (0.4, 0.1), (0.6, 0.2), (0.7, 0.3)):
        study.add_trial(optuna.trial.create_trial(values=pair))
    assert [trial["number"] for trial in details(study)[1]["best_trials"]] == [0, 2, 3]  # as before 0.2
    study._storage.set_study_system_attr(study._study_id, "psopt:chosen", 1)
    for after in range(5):
        _, found = details(study, f"after={after}")
        assert [trial["number"] for trial in found["best_trials"]] == [1]
        assert [trial["number"] for trial in found["trials"]] == list(range(after, 4))
    assert details(study, path="/api/studies/99")[0].startswith("404")
    assert "study_summaries" in details(study, path="/api/studies")[1]
