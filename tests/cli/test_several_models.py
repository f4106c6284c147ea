"""`psopt optimize --model A --model B`: one prompt for several models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import psopt
import pytest
from psopt.evaluation import scores_from_dict
from psopt.models.sim import SimulatedModel

from tests.cli.limited_runs import read
from tests.cli.telling import check_refused, check_says
from tests.cli.test_json_schemas import check
from tests.commands import psopt as psopt_in
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fake_server import FakeServer

GOOD = "sim/accuracy=0.6,wobble=0.4,na=0"
OTHER = "sim/accuracy=0.5,wobble=0.2,na=0,obey=1"  # a default, which the name keeps
BOTH = ["--model", GOOD, "--model", OTHER]
SIZES = ["--trials", "5", "--rounds", "1", "--rephrasings", "3", "--heldout", "4", "--samples", "24"]
DATA = ["--dataset", "trec", "--test-samples", "24", *SIZES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run for both models."""
    folder = tmp_path_factory.mktemp("several")
    done = psopt_in(folder, "optimize", *DATA, *BOTH, "--out", "run", code=0)
    (folder / "said.txt").write_text(done.stdout)
    return folder


def test_the_objectives_are_the_worst_model_s_and_each_is_told(folder: Path) -> None:
    run = read(folder)
    assert run["model"] == f"{GOOD} + {OTHER}"
    for entry in (run["baseline"], *run["front"]):
        for split in ("val", "test"):
            scores = entry[split]
            assert list(scores["per_model"]) == [GOOD, OTHER]
            each = list(scores["per_model"].values())
            assert scores["f1"] == min(of["f1"] for of in each)
            assert scores["sensitivity"] == max(of["sensitivity"] for of in each)
            assert scores["consistency"] == min(of["consistency"] for of in each)
            assert json.loads(json.dumps(scores_from_dict(scores).to_dict())) == scores
    said = (folder / "said.txt").read_text()
    check_says(said, "With each model on test", "each of the model that is worst in it")
    page = (folder / "run/report.html").read_text()
    check_says(page, "With each model on test", "PSS of the worst model")
    of_first = [of["f1"] for of in run["baseline"]["test"]["per_class"].values() if of["f1"] is not None]
    mean_row = page.partition('<td class="l">mean of the classes (macro-F1)</td>')[2].partition("</tr>")[0]
    assert f"{100 * np.mean(of_first):.1f} →" in mean_row, "the mean is of the rows above it"
    check("optimize", {"run": "run", **run})


def test_a_model_answers_as_it_does_alone_and_a_run_of_both_is_resumed(folder: Path) -> None:
    task = psopt.load_task("trec")
    run = read(folder)
    name = run["baseline"]["id"]
    prompt = psopt.Prompt.from_dict(json.loads((folder / f"run/prompts/{name}.json").read_text()))
    wordings = [prompt.described_as(text) for text in run["rephrasings"]["heldout"]]
    texts = {sample.id: sample.text for sample in task.test}
    for file, model in ((f"{name}.npz", GOOD), (f"{name}-2.npz", OTHER)):
        with np.load(folder / "run/predictions" / file) as kept:
            ids, answers = kept["test_ids"].tolist(), kept["test"]
        alone = SimulatedModel(model.removeprefix("sim/"), task).predict(wordings, [texts[one] for one in ids])
        assert (answers == alone).all()
    after = json.loads(psopt_in(folder, "resume", "run", "--trials", "6", "--json", code=0).stdout)
    assert after["baseline"]["val"] == run["baseline"]["val"]
    assert after["settings"]["trials"] == 6


def test_calls_are_counted_over_all_models_and_told_per_model(tmp_path: Path, server: FakeServer) -> None:
    models = ["--model", "openai/one", "--model", "openai/two", "--api-base", server.url, "--proposer", "rules"]
    command = ["optimize", *DATA, *models, "--json"]
    told = json.loads(psopt_in(tmp_path, *command, "--dry-run").stdout)
    one, two = (
        {phase["what"]: phase["calls"] for phase in told["phases"] if phase["model"] == name}
        for name in ("openai/one", "openai/two")
    )
    assert one == two
    assert one["original prompt on val"] == 24 * 3
    assert told["calls"] == sum(one.values()) + sum(two.values())
    done = psopt_in(tmp_path, *command, "--max-calls", "400", "--out", "run")
    assert done.returncode in {0, 3}, done.stderr
    run = read(tmp_path)
    assert run["calls"]["made"] <= 400
    assert run["baseline"]["test"]["per_model"].keys() == {"openai/one", "openai/two"}
    too_few = psopt_in(tmp_path, *command, "--max-calls", "300", "--out", "few", "--cache-dir", "x", code=2)
    assert f"at least {2 * (24 * 3 + 24 * 4)}" in too_few.stderr  # what one model alone would take, twice


def test_in_python_the_mean_of_a_name_and_an_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    task = psopt.load_task("trec")
    sizes: Any = {"trials": 3, "rounds": 1, "rephrasings": 3, "heldout": 3, "samples": 20, "test_samples": 20}
    models = [OTHER, SimulatedModel("accuracy=0.6,na=0", task)]
    run = psopt.optimize(task, model=models, out=tmp_path / "run", over="mean", progress=False, **sizes)
    val = run.baseline.val
    assert val.f1 == pytest.approx(np.mean([of.f1 for of in val.per_model.values()]))
    assert psopt.load_run(tmp_path / "run").baseline.val.per_model == val.per_model


@each(
    "words, said",
    [
        (["--model", GOOD, "--model", GOOD], "is named twice"),
        ([*BOTH, "--race", "on"], "--race on is for one model, and here are 2"),
        ([*BOTH, "--storage", "sqlite:///study.db"], "--storage is for one model"),
        ([*BOTH, "--probe", "texts.csv"], "--probe is for one model"),
        (["--model", GOOD, "--model", "nomodel"], "unknown model 'nomodel'"),
    ],
)
def test_what_is_for_one_model_is_refused_in_a_line(folder: Path, words: list[str], said: str) -> None:
    check_refused(psopt_in(folder, "optimize", *DATA, *words, "--out", "refused"), said)
    assert not (folder / "refused" / "run.json").exists()


def test_a_prompt_for_several_models_is_used_with_one(folder: Path) -> None:
    (folder / "texts.txt").write_text("Who was he ?\n")
    done = psopt_in(folder, "classify", "--prompt", "run", "texts.txt")
    check_refused(done, "is several models, and this is for one: name it with --model", alone=False)
    psopt_in(folder, "classify", "--prompt", "run", "--model", OTHER, "texts.txt", code=0)
    check_refused(psopt_in(folder, "migrate", "run", "--model", "minilm"), "is of several models")
