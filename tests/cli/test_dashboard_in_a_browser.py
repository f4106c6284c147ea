"""Optuna's dashboard on a run, in a real headless Chromium."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING, Any

import optuna
import pytest

from tests.commands import run_command
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed (Debian: chromium)")


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str]]:
    """A small run, and the address of its dashboard."""
    folder = tmp_path_factory.mktemp("dashboard")
    environment = dict(os.environ)
    environment["PSOPT_CACHE_DIR"] = str(folder / "cache")
    psopt = [sys.executable, "-P", "-m", "psopt"]
    small = ["--model", "sim/accuracy=0.6,wobble=0.3", "--trials", "12", "--samples", "30", "--rephrasings", "4"]
    words = ["optimize", "--dataset", "trec", *small, "--out", "run", "--quiet"]
    assert run_command(*words, cwd=folder, env=environment).returncode == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [*psopt, "dashboard", "run", "--port", str(port)], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: answers(f"{url}/api/studies"))
    yield folder / "run", url
    server.kill()
    server.wait()


def answers(url: str) -> bool:
    try:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=2).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """What a page shows once its scripts have run; each is opened once."""
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1800", "--virtual-time-budget=30000"]
    words += [f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "--no-proxy-server", "--dump-dom"]

    @functools.cache
    def shown(url: str) -> str:
        done = subprocess.run([str(CHROMIUM), *words, url], capture_output=True, text=True, timeout=600)
        return done.stdout

    return shown


def test_the_front_and_a_trial_s_note_are_on_the_page(dashboard: tuple[Any, str], page: Callable[[str], str]) -> None:
    run, url = dashboard
    found = page(f"{url}/dashboard/studies/1")
    assert "Pareto" in found
    assert "js-plotly-plot" in found
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    (study,) = optuna.get_all_study_summaries(f"sqlite:///{run / 'study.db'}")
    trials = optuna.load_study(study_name=study.study_name, storage=f"sqlite:///{run / 'study.db'}").trials
    done = [trial for trial in trials if trial.values]
    front = json.loads((run / "front.json").read_text())["prompts"]
    best = next(trial for trial in done if trial.user_attrs["prompt_id"] == front[0]["id"])
    found = page(f"{url}/dashboard/studies/1/trials?numbers={best.number}")
    assert f"Prompt {front[0]['id']}" in found
    assert "Where it is weak" in found
    assert "Classify the question" in found
    assert not re.search(r"&amp;#?\w+;", found), "an entity is shown as such"


def test_the_study_s_note_says_what_it_is_about_and_what_to_use(
    dashboard: tuple[Any, str], page: Callable[[str], str]
) -> None:
    run, url = dashboard
    found = page(f"{url}/dashboard/studies/1/note")
    chosen = json.loads((run / "run.json").read_text())["recommended"]["id"]
    for said in ("trec (bundled)", "Recommended: trial", chosen, "psopt export run", "report.html"):
        assert said in found


def test_one_trial_bears_a_badge_though_several_are_on_the_front(
    dashboard: tuple[Any, str], page: Callable[[str], str]
) -> None:
    run, url = dashboard
    prompts = json.loads((run / "front.json").read_text())["prompts"]
    assert len(prompts) > 1
    is_kept = json.loads((run / "run.json").read_text())["recommended"]["verdict"] == "keep"
    shown = 1 if is_kept else 0  # beside the list of all stands a trial in full, one without a badge
    found = page(f"{url}/dashboard/studies/1/trials?numbers={shown}")
    assert found.count(">Trial ") > len(prompts)
    assert found.count(">Best Trial<") == 1


def test_parameters_are_called_by_what_edits_say(dashboard: tuple[Any, str], page: Callable[[str], str]) -> None:
    _, url = dashboard
    found = page(f"{url}/dashboard/studies/1")
    assert "define Person: " in found
    assert "edit:" not in found
