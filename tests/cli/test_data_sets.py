"""Data sets at the command line: the built-in ones, listed, fetched or said why not, and optimized on; and one's own.

Those have rare classes, slips of the pen, rows without a text, and long ids.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import pytest
from psopt.tasks import list_datasets

from tests.cli.limited_runs import read
from tests.commands import psopt

if TYPE_CHECKING:
    from pathlib import Path

BUILTINS = {status.name: status for status in list_datasets()}
SMALL = ["--trials", "2", "--rephrasings", "2", "--samples", "14", "--heldout", "2", "--out", "run", "--quiet"]
OWN = ("--dataset", "data.csv", "--model", "sim/wobble=0.6,accuracy=0.6,na=0", "--rephrasings", "3")
UUID = "e2520e33-e44c-5055-6c71-{:012d}"
SIM = "sim/accuracy=0.6,wobble=0.3"


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache_dir: Path) -> Any:
    """Run a command where no data set is at hand, and there is no network."""
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    return functools.partial(psopt, tmp_path, PSOPT_OFFLINE="1", PSOPT_CACHE_DIR=str(cache_dir))


def test_the_list_holds_them_all_and_what_can_t_be_fetched_can_be_put_there_by_hand(call: Any) -> None:
    shown = call("data", "list", code=0).stdout
    assert shown.count("not at hand") == len(BUILTINS)
    for name, status in BUILTINS.items():
        assert f" {name} " in shown
        (line,) = call("data", "fetch", name, code=2).stderr.strip().splitlines()
        assert line.startswith(f"psopt: {name} can't be fetched: PSOPT_OFFLINE is set; to do it by hand, get ")
        files = re.escape(", ".join(status.files))
        assert re.search(rf" at https?://\S+ and put {files} into \$PSOPT_DATA_DIR/{name}", line)


def test_a_prompt_is_optimized_on_the_bundled_sample(call: Any, tmp_path: Path) -> None:
    call("optimize", "--dataset", "cb", "--model", SIM, "--strategy", "1-shot", *SMALL, code=0)
    run = read(tmp_path)
    assert (run["dataset"]["name"], run["dataset"]["source"]) == ("cb", "bundled")
    assert run["dataset"]["n_test"] >= 40
    assert run["front"]
    assert len(run["rephrasings"]["search"]) == 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = [(f"my invoice {i} is wrong", "billing") for i in range(20)]
    texts += [(f"crash {i}", "support") for i in range(20)]
    texts += [("the press asks", "press"), ("a paper asks", "press"), ("odd crash", "suport"), ("", "billing")]
    rows = [f"{UUID.format(number)},{text},{label}" for number, (text, label) in enumerate(texts)]
    (tmp_path / "data.csv").write_text("id,text,label\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_rare_classes_are_measured_where_all_samples_are(folder: Path) -> None:
    refused = psopt(folder, "diagnose", *OWN, code=2).stderr
    assert "line 45: the text (column 'text') is empty; fill it in or remove the row" in refused
    assert "--skip-empty" in refused
    done = psopt(folder, "diagnose", "--skip-empty", *OWN, "--split", "all", code=0)
    said = " ".join(done.stderr.split())
    assert "1 row without a text is left out" in said
    assert "no score on val and test is of 'press' (2), 'suport' (1)" in said
    assert "label 'suport' (1) looks like 'support' (20)" in said
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("e2520e33-e44" in line for line in lines)
