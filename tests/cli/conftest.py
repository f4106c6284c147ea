"""What tests of the command line share: a small data set, and servers that are asked again at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.limited_runs import make_data
from tests.commands import psopt


@pytest.fixture(autouse=True)
def ask_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands of this process wait for a hundredth of a second where they'd wait for a quarter."""
    monkeypatch.setattr("psopt.models.chat._request_scheduler._FIRST_WAIT", 0.01)


TREC = ["--dataset", "trec", "--model", "sim/accuracy=0.6,wobble=0.4", "--rephrasings", "3", "--samples", "20"]


@pytest.fixture(scope="session")
def trec_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run on the bundled questions, and what it has printed as JSON; no test changes the run."""
    folder = tmp_path_factory.mktemp("trec")
    done = psopt(folder, "optimize", *TREC, "--trials", "6", "--out", "run", "--json", code=0)
    (folder / "printed.json").write_text(done.stdout)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with data.csv, 30 questions of two classes a split, and prices.toml."""
    return make_data(tmp_path)
