"""The built-in data sets on the command line: listed, fetched or said why not, and optimized on."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from psopt.search_spaces import STRATEGIES
from psopt.tasks import list_datasets

from tests.commands import exit_code

if TYPE_CHECKING:
    from pathlib import Path

BUILTINS = {status.name: status for status in list_datasets()}
SMALL = ["--trials", "2", "--rephrasings", "2", "--samples", "14", "--heldout", "2", "--out", "run", "--quiet"]
SIM = "sim/accuracy=0.6,wobble=0.3"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_dir: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(cache_dir))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    return tmp_path


def test_the_list_holds_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("data", "list") == 0
    shown = capsys.readouterr().out
    assert all(f" {name} " in shown for name in BUILTINS)
    assert shown.count("not at hand") == len(BUILTINS)


@pytest.mark.parametrize("name", BUILTINS)
def test_what_can_t_be_fetched_can_be_put_there_by_hand(capsys: pytest.CaptureFixture[str], name: Any) -> None:
    assert exit_code("data", "fetch", name) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith(f"psopt: {name} can't be fetched: PSOPT_OFFLINE is set; to do it by hand, get ")
    files = re.escape(", ".join(BUILTINS[name].files))
    assert re.search(rf" at https?://\S+ and put {files} into \$PSOPT_DATA_DIR/{name}", line)


@pytest.mark.parametrize(("name", "strategy"), zip(BUILTINS, itertools.cycle(STRATEGIES), strict=False))
def test_a_prompt_is_optimized_on_the_bundled_sample(here: Path, name: Any, strategy: Any) -> None:
    assert exit_code("optimize", "--dataset", name, "--model", SIM, "--strategy", strategy, *SMALL) == 0
    run = json.loads((here / "run" / "run.json").read_text())
    assert (run["dataset"]["name"], run["dataset"]["source"]) == (name, "bundled")
    assert run["dataset"]["n_test"] >= 40
    assert run["front"]
    assert len(run["rephrasings"]["search"]) == 2
