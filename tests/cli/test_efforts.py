"""An effort, or a limit, decides how large a run is; its end is paid for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt.runs.planning import EFFORT_CALLS

from tests.cli.limited_runs import write_questions
from tests.commands import exit_code

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fake_server import FakeServer


N = 60
FEW = ["--trials", "3", "--rounds", "1", "--rephrasings", "2"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    return write_questions(tmp_path, N)


def optimize(server: FakeServer, *words: str) -> Any:
    return exit_code(
        "optimize", "--dataset", "data.csv", "--model", "openai/test", "--api-base", server.url, "--out", "run", *words
    )


def manifest(folder: Path) -> Any:
    return json.loads((folder / "run" / "run.json").read_text())


def test_a_limit_is_planned_to_and_kept_with_the_final_test(folder: Path, server: FakeServer) -> None:
    before = server.counts()["requests"]
    assert optimize(server, "--max-calls", "1000") in {0, 3}  # 3: it was reached, which is allowed
    run = manifest(folder)
    plan = run["plan"]
    assert plan["limits"]["calls"] == 1000
    assert 800 < plan["calls"] <= 1000
    assert sum(phase["calls"] for phase in plan["phases"]) == plan["calls"]
    assert run["calls"]["made"] == server.counts()["requests"] - before <= 1000
    assert run["baseline"]["test"]
    assert next(prompt for prompt in run["front"] if prompt["knee"])["test"]
    sizes = plan["sizes"]
    assert run["dataset"]["evaluated"] == {split: sizes[split] for split in ("train", "val", "test")}
    assert len(run["rephrasings"]["heldout"]) == sizes["heldout"]
    assert run["settings"]["effort"] == "limits"
    assert run["settings"]["trials"] == sizes["trials"]


def test_the_first_line_says_the_effort_and_what_is_set_is_kept(
    folder: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert optimize(server, *FEW, "--samples", "20", "--test-samples", "20", "--heldout", "2") == 0
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith("Effort light: about ")
    assert "calls, at most 5,000: 3 trials on 20 x 2, test on 20 x 2" in first
    settings = manifest(folder)["settings"]
    assert (settings["effort"], settings["limited_by"], settings["lm"]["max_calls"]) == ("light", "effort", 5000)
    assert (settings["samples"], settings["test_samples"], settings["heldout"]) == (20, 20, 2)


def test_an_effort_that_is_used_up_is_no_error_and_a_limit_lets_the_run_go_on(
    folder: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = server.counts()["requests"]
    monkeypatch.setitem(EFFORT_CALLS, "light", 600)
    small = ["--samples", "20", "--test-samples", "20", "--race", "off", "--max-prompt-tokens", "9999"]
    assert optimize(server, "--trials", "40", *small) == 0
    said = capsys.readouterr().err
    assert "40 trials of 20 x 2 would take about" in said
    assert "--max-calls N" in said
    run = manifest(folder)
    assert run["finish_reason"] == "budget"
    assert run["calls"]["made"] <= 600
    assert next(prompt for prompt in run["front"] if prompt["knee"])["test"]
    assert exit_code("resume", "run") == 0
    assert server.counts()["requests"] - before <= 600
    assert exit_code("resume", "run", "--max-calls", "150") == 2  # of the whole run
    assert "are made" in capsys.readouterr().err
    assert exit_code("resume", "run", "--max-calls", "750") == 3
    assert 600 < server.counts()["requests"] - before <= 750
    assert manifest(folder)["plan"] == run["plan"]


def test_what_an_effort_cant_pay_is_refused_before_anything_is_asked(
    folder: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = server.counts()["requests"]
    monkeypatch.setitem(EFFORT_CALLS, "light", 100)
    assert optimize(server, "--samples", "60", "--rephrasings", "3") == 2
    refused = "can't pay the original prompt on val and the final test, at least 279: give --max-calls"
    assert f"effort light, 100 calls, {refused}" in capsys.readouterr().err
    assert server.counts()["requests"] == before
    assert not (folder / "run").exists()


def test_free_models_are_asked_for_everything(folder: Path) -> None:
    assert exit_code("optimize", "--dataset", "data.csv", "--model", "sim/accuracy=.8", *FEW, "--out", "run") == 0
    run = manifest(folder)
    assert "plan" not in run
    assert run["settings"]["effort"] == "full"
    assert len(run["rephrasings"]["heldout"]) == len(run["rephrasings"]["search"]) == 2  # S hangs on their number


def test_an_effort_may_be_named_for_a_free_model_too(folder: Path) -> None:
    words = ["--dataset", "data.csv", "--model", "sim/accuracy=.8", "--effort", "light", *FEW, "--out", "run"]
    assert exit_code("optimize", *words) == 0
    assert manifest(folder)["plan"]["effort"] == "light"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--effort", "huge"], "'huge' is not one of"),
        (["--effort", "light", "--program", "mine:program"], "nobody knows how often a --program calls its model"),
    ],
)
def test_efforts_that_mean_nothing_are_one_line(
    folder: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("optimize", "--dataset", "data.csv", *words) == 2
    assert said in capsys.readouterr().err
