"""Runs whose candidates race: fewer requests for the same front, and what the files say of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt import LMConfig
from psopt.errors import BudgetReachedError, InputError
from psopt.search import Search
from psopt.search.racing import racing_line

from tests.conftest import make_samples
from tests.fake_server import FakeServer
from tests.search.racing.test_racing_search import OF_ANY_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODEL = "openai/test"
SIZES = {"train": 20, "val": 100, "test": 4}  # with 48 of val, chance decides which of two like candidates is stopped
ASKED: dict[str, Any] = {"model": MODEL, "trials": 6, "rounds": 1, "rephrasings": 3, "sampler": "random", "seed": 1}
ASKED |= {"effort": "full", "parts": OF_ANY_SIZE}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("racing")
    rows = ["id,text,label,split"]
    for first, (split, n) in enumerate(SIZES.items()):
        samples = make_samples(split, n, 1000 * first)
        rows += [f"{sample.id},{sample.text},{sample.label},{split}" for sample in samples]
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[FakeServer]:
    with FakeServer(answer="knows", task=str(folder / "data.csv")) as server:
        yield server


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-no-use-0123456789")


def optimize(folder: Path, server: FakeServer, out: str, cache: str, **options: Any) -> Any:
    task = psopt.load_task(str(folder / "data.csv"))
    lm = LMConfig(api_base=server.url, max_calls=options.pop("max_calls", None))
    return psopt.optimize(task, **{**ASKED, **options}, lm=lm, out=folder / out, cache_dir=folder / cache)


def read(run: Path, name: str = "run.json") -> Any:
    return json.loads((run / name).read_text())


def test_a_run_says_how_its_candidates_raced(folder: Path, server: FakeServer) -> None:
    """That they are asked less for the same front is seen in test_racing_search.py."""
    raced = optimize(folder, server, "raced", "cache")
    race = read(raced.path)["race"]
    assert race["candidates"] == ASKED["trials"]
    assert race["calls"] + race["saved"] == ASKED["trials"] * SIZES["val"] * ASKED["rephrasings"]
    assert race["stopped"] == sum(race["rungs"].values()) > 0
    listed = read(raced.path, "trials.json")
    assert len(listed["raced"]) == race["stopped"]
    assert len(listed["trials"]) + race["stopped"] == ASKED["trials"]
    assert not {trial["id"] for trial in listed["raced"]} & {trial["id"] for trial in listed["trials"]}
    assert racing_line(race).removeprefix("racing: ") in (raced.path / "report.html").read_text()
    assert read(raced.path)["settings"]["race"] == "auto"


def test_a_limit_that_leaves_no_better_prompt_complete_is_told_though_all_trials_were_made(
    folder: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unpaid(*_: Any) -> None:
        raise BudgetReachedError("--max-calls 5000 is reached")

    monkeypatch.setattr(Search, "complete_front", unpaid)
    with pytest.raises(BudgetReachedError):
        optimize(folder, server, "incomplete", "cache", max_calls=5_000)
    incomplete = read(folder / "incomplete")
    assert incomplete["race"]["candidates"] == ASKED["trials"]
    assert incomplete["finish_reason"] == "budget"
    kept = "Keep yours: the limit did not pay for asking all of val about what may be better."
    assert incomplete["recommended"]["sentence"] == kept


@pytest.mark.parametrize("race", ["on", "strict"])
def test_racing_under_one_wording_is_refused_before_anything_is_asked(
    folder: Path, server: FakeServer, race: str
) -> None:
    server.reset()
    with pytest.raises(InputError, match=f"--race {race} needs at least 2 wordings, not 1"):
        optimize(folder, server, "refused", "cache", race=race, rephrasings=1)
    assert not (folder / "refused").exists()
    assert server.counts()["requests"] == 0
