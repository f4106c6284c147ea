"""What is said to Python's verbs arrives at each model or in the run; those of the command line have a sweep there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psopt
import pytest
from psopt import LMConfig, RephrasingOptions
from psopt.rephrasings import to_file

from tests.cli.test_options_reach_every_model import engines, folder
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["engines", "folder"]  # fixtures


@pytest.mark.parametrize("verb", ["optimize", "measure"])
def test_options_arrive_at_every_model_of_a_verb(verb: str, folder: Path, engines: list[Any]) -> None:
    task = psopt.load_task("data.csv")
    rephrasing = RephrasingOptions("openai/writer", judge="openai/judge", keep_labels=False)
    asked: dict[str, Any] = {"model": "openai/model", "rephrasings": 3, "rephrasing": rephrasing}
    asked["cache_dir"] = folder / "kept"
    with FakeServer() as server:
        lm = LMConfig(api_base=server.url, timeout=44, extra_body={"top_k": 5}, max_calls=100_000, max_cost=1000)
        if verb == "measure":
            psopt.measure(task, lm=lm, **asked)
        else:
            small: dict[str, Any] = {"trials": 2, "rounds": 1, "samples": 8, "test_samples": 4, "heldout": 2}
            run = psopt.optimize(task, lm=lm, **asked, **small, proposer="openai/writer", out="run")
            settings = json.loads((run.path / "run.json").read_text())["settings"]
            told = (settings["rephraser"], settings["judge"], settings["keep_labels"])
            assert told == ("openai/writer", "openai/judge", False)
    for _, options, budget, file in engines:
        assert (options.timeout, options.extra_body) == (44, {"top_k": 5})
        assert (budget.max_calls, budget.max_cost) == (100_000, 1000)
        assert file.startswith(str(folder / "kept"))
    spent = {client.name: id(budget) for client, _, budget, _ in engines if budget.usage.made}
    assert set(spent) == {"openai/model", "openai/writer", "openai/judge"}
    assert len(set(spent.values())) == 1


def test_a_run_takes_families_and_a_file_of_rephrasings_and_is_resumed(folder: Path) -> None:
    task = psopt.load_task("data.csv")
    by_rule = psopt.rephrase(task, rephrasings=3)
    file = folder / "rephrasings.json"
    file.write_text(json.dumps(to_file(by_rule)))
    asked: dict[str, Any] = {"model": "sim/accuracy=0.8", "rephrasings": 3, "rounds": 1, "samples": 8, "heldout": 2}
    run = psopt.optimize(task, **asked, trials=2, rephrasing=RephrasingOptions(file=file), out="by-file")
    assert json.loads((run.path / "run.json").read_text())["rephrasings"]["search"] == list(by_rule.search)
    varied = psopt.optimize(task, **asked, trials=1, rephrasing=RephrasingOptions(families=("format",)), out="varied")
    assert json.loads((varied.path / "run.json").read_text())["settings"]["vary"] == "format"
    more = {**asked, "trials": 3, "resume": True}
    again = psopt.optimize(task, **more, rephrasing=RephrasingOptions(file=file), out="by-file")
    assert again.baseline.id == run.baseline.id
