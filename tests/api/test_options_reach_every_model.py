"""Each option of each command is there in Python too, and arrives at each model or in the run.

A new option without a place here fails the first test.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psopt
import pytest
from psopt import LMConfig, RephrasingOptions
from psopt.rephrasings import to_file
from psopt.search_spaces import Prompt

from tests.cli.test_options_reach_every_model import check_all, engines, folder
from tests.fake_server import FakeServer

__all__ = ["engines", "folder"]  # fixtures


def everything(server: FakeServer) -> LMConfig:
    """All of `LMConfig` other than by default, but for what the sweep of the command line leaves out too."""
    return LMConfig(
        api_base=server.url,
        concurrency=3,
        timeout=44,
        retries=5,
        max_tokens=99,
        structured=False,
        requests_per_minute=1e6,
        max_unanswered=0.5,
        max_calls=100000,
        max_tokens_total=100000000,
        max_cost=1000,
        hf_likelihood="sum",
        calibration="off",
        extra_body={"top_k": 5},
        headers={"X-Test": "yes"},
        api_version="2024-10-21",
        renegotiate=True,
        batch=True,
        batch_size=1000,
        batch_tick=0.01,
        max_batches=7,
        batch_keep_files=True,
    )


@pytest.mark.parametrize("verb", ["optimize", "diagnose", "compare", "check", "measure", "classify", "rephrase"])
def test_options_arrive_at_every_model_of_a_verb(verb: str, folder: Path, engines: list[Any]) -> None:
    task = psopt.load_task("data.csv")
    rephrasing = RephrasingOptions("openai/writer", judge="openai/judge", keep_labels=False)
    prompt = Prompt("Sort the question by what it asks for.", task.labels, "question")
    with FakeServer() as server:
        common: dict[str, Any] = {"lm": everything(server), "cache_dir": folder / "kept"}
        measured: dict[str, Any] = {**common, "model": "openai/model", "rephrasings": 3, "rephrasing": rephrasing}
        names = {"openai/model", "openai/writer", "openai/judge"}
        if verb == "optimize":
            small: dict[str, Any] = {"trials": 2, "rounds": 1, "samples": 8, "test_samples": 4, "heldout": 2}
            psopt.optimize(task, **measured, **small, proposer="openai/writer", out="run")
        elif verb == "compare":
            other = Prompt("Order the question by what it asks for.", task.labels, "question")
            psopt.compare(task, {"one": prompt, "other": other}, **measured)
        elif verb == "check":
            assert psopt.check(task, prompt, max_sensitivity=1, **measured).met
        elif verb == "classify":
            psopt.classify(["what is this ?"], prompt, model="openai/model", **common)
            names = {"openai/model"}
        elif verb == "rephrase":
            psopt.rephrase(task, rephrasings=2, heldout=2, rephrasing=rephrasing, **common)
            names = {"openai/writer", "openai/judge"}
        else:
            getattr(psopt, verb)(task, prompt, **measured)
    check_all(engines, names, folder / "kept")
    if verb == "optimize":
        settings = json.loads(Path("run/run.json").read_text())["settings"]
        assert settings["rephraser"] == "openai/writer"
        assert settings["judge"] == "openai/judge"
        assert settings["keep_labels"] is False


def test_a_run_takes_families_and_a_file_of_rephrasings_and_is_resumed(folder: Path) -> None:
    task = psopt.load_task("data.csv")
    by_rule = psopt.rephrase(task, rephrasings=3)
    file = folder / "rephrasings.json"
    file.write_text(json.dumps(to_file(by_rule)))
    asked: dict[str, Any] = {
        "model": "sim/accuracy=0.8",
        "rephrasings": 3,
        "trials": 2,
        "rounds": 1,
        "samples": 8,
        "heldout": 2,
    }
    run = psopt.optimize(task, **asked, rephrasing=RephrasingOptions(file=file), out="by-file")
    assert json.loads((run.path / "run.json").read_text())["rephrasings"]["search"] == list(by_rule.search)
    varied = psopt.optimize(task, **asked, rephrasing=RephrasingOptions(families=("format",)), out="varied")
    assert json.loads((varied.path / "run.json").read_text())["settings"]["vary"] == "format"
    again = psopt.optimize(
        task, **{**asked, "trials": 3}, rephrasing=RephrasingOptions(file=file), out="by-file", resume=True
    )
    assert again.baseline.id == run.baseline.id


def test_what_a_run_will_take_is_known_before(folder: Path) -> None:
    task = psopt.load_task("data.csv")
    whole = psopt.estimate(task, model="openai/model", trials=5, rephrasings=3)
    once = psopt.estimate(task, model="openai/model", trials=None, rephrasings=3)
    assert whole.calls > once.calls == 12 * 3
