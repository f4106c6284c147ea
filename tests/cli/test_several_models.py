"""Several models: runs beside each other (`psopt report A B`), a run's prompt on another one (`psopt migrate`), and one
prompt for all (`psopt optimize --model A --model B`).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import psopt
import pytest
from psopt.errors import InputError
from psopt.evaluation import scores_from_dict
from psopt.models.sim import SimulatedModel

from tests.cli.limited_runs import read, write_questions
from tests.cli.telling import check_refused, check_says
from tests.cli.test_json_schemas import check
from tests.commands import psopt as psopt_in
from tests.fake_server import FakeServer
from tests.processes import Process
from tests.sweeps import each

GOOD = "sim/wobble=0.2,accuracy=0.9,na=0"
WEAK = "sim/wobble=0.4,accuracy=0.6,na=0"


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs of a good and of a weak model on the same data; no test changes them."""
    folder = write_questions(tmp_path_factory.mktemp("two"), 40)
    sizes = ["--trials", "4", "--rounds", "1", "--rephrasings", "4", "--heldout", "5"]
    for name, model in (("good", GOOD), ("weak", WEAK)):
        given = ["--dataset", "data.csv", "--model", model, "--out", f"runs/{name}", "--quiet"]
        psopt_in(folder, "optimize", *given, *sizes, code=0)
    return folder


def test_two_runs_are_a_table_and_a_page_and_as_json_data_alone(two_runs: Path) -> None:
    done = psopt_in(two_runs, "report", "runs/weak", "runs/good", code=0)
    paired = "Paired on 40 test samples and 5 held-out wordings that both have."
    check_says(done.stdout, "runs/good against runs/weak: F1 better (+", paired)
    assert done.stdout.rstrip().endswith("runs/good/against-weak.html")
    page = (two_runs / "runs/good/against-weak.html").read_text("utf-8")
    check_says(page, "good against weak", "accuracy=0.9")  # which was set otherwise
    words = ["report", ".", "../good", "--html", "page.html", "--json"]
    data = json.loads(psopt_in(two_runs / "runs" / "weak", *words, code=0).stdout)
    assert data["against_first"]["f1"]["verdict"] == "better"
    assert [shown["run"] for shown in data["runs"]] == [".", "../good"]
    assert data["report"] == "page.html"
    assert (two_runs / "runs/weak/page.html").is_file()
    assert data["changed_settings"]["model"] == [WEAK, GOOD]


@pytest.fixture
def folder(two_runs: Path, tmp_path: Path) -> Path:
    """A folder with data and a run of the good model, which is the old one."""
    shutil.copy(two_runs / "data.csv", tmp_path)
    shutil.copytree(two_runs / "runs" / "good", tmp_path / "run")
    return tmp_path


def test_what_a_worse_model_breaks_is_shown(folder: Path) -> None:
    done = psopt_in(folder, "migrate", "run", "--model", WEAK, "--no-search", code=0)
    worse = f"{WEAK} with the same prompt is worse than {GOOD} was"
    check_says(done.stdout, worse, "surely", "Broken: 'what is ")  # surely: of the classes
    assert not (folder / "runs").exists()  # measuring makes no run


def test_the_search_starts_from_the_run_s_prompt_on_its_samples_and_wordings(folder: Path) -> None:
    words = ["migrate", "run", "--model", WEAK, "--out", "new", "--json"]
    data = json.loads(psopt_in(folder, *words, code=0).stdout)
    old, new = read(folder), read(folder, run="new")
    assert new["baseline"]["id"] == data["old"]["id"] == data["moved"][0]["id"] == old["recommended"]["id"]
    assert new["rephrasings"]["sha256"] == old["rephrasings"]["sha256"]
    assert new["settings"]["trials"] == old["settings"]["trials"]
    # what is said of the old model is what its run has kept, not a new answer
    kept = next(one for one in (old["baseline"], *old["front"]) if one["id"] == data["old"]["id"])
    assert data["old"]["test"]["f1"] == kept["test"]["f1"]
    assert data["moved"][0]["test"]["f1"] == new["baseline"]["test"]["f1"]
    assert json.loads(psopt_in(folder, *words, "--resume").stdout)["moved"] == data["moved"]


def test_the_old_model_is_not_called(folder: Path) -> None:
    run = read(folder)
    run["model"] = run["settings"]["model"] = "openai/retired"  # nothing answers there
    (folder / "run/run.json").write_text(json.dumps(run))
    done = psopt_in(folder, "migrate", "run", "--model", GOOD, "--no-search", "--json", code=0)
    moved = json.loads(done.stdout)["moved"][0]
    # it is the model that had answered, and answers the same
    assert (moved["fixed"], moved["broken"]) == (0, 0)
    assert moved["against_old"]["f1"]["difference"] == 0


def test_an_interrupted_migration_names_the_command_that_gives_its_verdict_and_limits_count(folder: Path) -> None:
    with FakeServer(faults="hang", fault_rate=1.0) as server:
        words = ["migrate", "run", "--model", "openai/new", "--api-base", server.url]
        done = psopt_in(folder, *words, "--no-search", "--dry-run", "--json", code=0)
        assert json.loads(done.stdout)["calls"] == 40 * 5
        words += ["--concurrency", "32"]
        started = Process(words, cwd=folder, env={**os.environ, "PSOPT_CACHE_DIR": str(folder / "cache")})
        server.wait_for(requests=1, seconds=240)
        started.send_signal(signal.SIGTERM)
        _, said = started.communicate(timeout=60)
        assert started.returncode == 130, said
        again = said.split("as well: psopt ")[1].split("\n")[0]
        assert again == shlex.join([*words, "--out", "runs/data-openai-new", "--resume"])
        server.change(fault_rate=0.0)
        met = psopt_in(folder, *words, "--no-search", "--max-calls", "150", "--cache-dir", "other", code=3)
        assert "the same command with a higher limit goes on from there" in met.stderr
        done = psopt_in(folder, *shlex.split(again), code=0)
    check_says(done.stdout, f"than {GOOD} was")


@each(
    "words, said",
    [
        (["migrate", "run", "--model", GOOD], "is of sim/wobble=0.2,accuracy=0.9,na=0 already"),
        (["migrate", "run", "--model", "nomodel"], "unknown model 'nomodel'"),
        (["migrate", "run", "--model", WEAK, "--no-search", "--trials", "3"], "--no-search only measures"),
        (["migrate", "run", "--model", WEAK, "--resume"], "--resume needs --out"),
        (["optimize", "--dataset", "data.csv", "--model", GOOD, "--over", "mean"], "--over mean is for several models"),
        (["report", "run", "nowhere"], "no run directory"),
        (["report", "run", "run", "--html", "nowhere/page.html"], "there is no folder"),
        (["report", "run", "--html", "page.html"], "--html is of several runs"),
        (["report", "run", "--figures", "run/run.json"], "--figures run/run.json is a file: name a folder"),
        (["report"] + 6 * ["run"], "6 runs are too many for one page: give 5 at most"),
    ],
)
def test_bad_input_is_one_line(folder: Path, words: list[str], said: str) -> None:
    check_refused(psopt_in(folder, *words), said)


def test_python_takes_a_model_that_is_made_already(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(folder / "cache"))
    moved = psopt.migrate("run", model=lambda _: "aaa", search=False)
    assert moved.moved[0].verdict == "worse"
    assert moved.moved[0].scores.constant == "aaa"
    with pytest.raises(InputError, match="no option 'trails'"):
        psopt.migrate("run", model=WEAK, trails=3)


STEADY = "sim/accuracy=0.6,wobble=0.4,na=0"
OTHER = "sim/accuracy=0.5,wobble=0.2,na=0,obey=1"  # a default, which the name keeps
BOTH = ["--model", STEADY, "--model", OTHER]
SIZES = ["--trials", "5", "--rounds", "1", "--rephrasings", "3", "--heldout", "4", "--samples", "24"]
DATA = ["--dataset", "trec", "--test-samples", "24", *SIZES]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run for both models."""
    folder = tmp_path_factory.mktemp("several")
    done = psopt_in(folder, "optimize", *DATA, *BOTH, "--out", "run", code=0)
    (folder / "said.txt").write_text(done.stdout)
    return folder


def test_the_objectives_are_the_worst_model_s_and_each_is_told(both: Path) -> None:
    run = read(both)
    assert run["model"] == f"{STEADY} + {OTHER}"
    for entry in (run["baseline"], *run["front"]):
        for split in ("val", "test"):
            scores = entry[split]
            assert list(scores["per_model"]) == [STEADY, OTHER]
            each = list(scores["per_model"].values())
            assert scores["f1"] == min(of["f1"] for of in each)
            assert scores["sensitivity"] == max(of["sensitivity"] for of in each)
            assert scores["consistency"] == min(of["consistency"] for of in each)
            assert json.loads(json.dumps(scores_from_dict(scores).to_dict())) == scores
    said = (both / "said.txt").read_text()
    check_says(said, "With each model on test", "each of the model that is worst in it")
    page = (both / "run/report.html").read_text()
    check_says(page, "With each model on test", "PSS of the worst model")
    of_first = [of["f1"] for of in run["baseline"]["test"]["per_class"].values() if of["f1"] is not None]
    mean_row = page.partition('<td class="l">mean of the classes (macro-F1)</td>')[2].partition("</tr>")[0]
    assert f"{100 * np.mean(of_first):.1f} →" in mean_row, "the mean is of the rows above it"
    check("optimize", {"run": "run", **run})


def test_a_model_answers_as_it_does_alone_and_a_run_of_both_is_resumed(both: Path) -> None:
    task = psopt.load_task("trec")
    run = read(both)
    name = run["baseline"]["id"]
    prompt = psopt.Prompt.from_dict(json.loads((both / f"run/prompts/{name}.json").read_text()))
    wordings = [prompt.described_as(text) for text in run["rephrasings"]["heldout"]]
    texts = {sample.id: sample.text for sample in task.test}
    for file, model in ((f"{name}.npz", STEADY), (f"{name}-2.npz", OTHER)):
        with np.load(both / "run/predictions" / file) as kept:
            ids, answers = kept["test_ids"].tolist(), kept["test"]
        alone = SimulatedModel(model.removeprefix("sim/"), task).predict(wordings, [texts[one] for one in ids])
        assert (answers == alone).all()
    after = json.loads(psopt_in(both, "resume", "run", "--trials", "6", "--json", code=0).stdout)
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


def test_a_prompt_for_several_models_is_used_with_one(both: Path) -> None:
    (both / "texts.txt").write_text("Who was he ?\n")
    done = psopt_in(both, "classify", "--prompt", "run", "texts.txt")
    check_refused(done, "is several models, and this is for one: name it with --model", alone=False)
    psopt_in(both, "classify", "--prompt", "run", "--model", OTHER, "texts.txt", code=0)
    check_refused(psopt_in(both, "migrate", "run", "--model", "minilm"), "is of several models")


def test_new_texts_are_held_against_the_answers_of_the_model_that_is_asked(both: Path) -> None:
    run = read(both)
    texts = {sample.id: sample.text for sample in psopt.load_task("trec").test}
    with np.load(both / "run/predictions" / f"{run['recommended']['id']}-2.npz") as kept:
        (both / "known.txt").write_text("".join(f"{texts[name]}\n" for name in kept["test_ids"].tolist()))
    fresh = ("check", "--baseline", "run", "--fresh", "known.txt", "--json", "--model")
    stable = json.loads(psopt_in(both, *fresh, OTHER, code=0).stdout)["shifts"][0]
    assert stable["measure"] == "sensitivity"
    assert stable["before"] == stable["after"] > 0
    check_refused(psopt_in(both, *fresh, "minilm"), f"has no answers of minilm, only of {STEADY}, {OTHER}: take one")
    told = ("classify", "--prompt", "run", "--wordings", "2", "--abstain", ".3", "known.txt", "--model", OTHER)
    check_says(psopt_in(both, *told, code=0).stderr, "On val, where this was set:")
