"""A study that is stopped, also while its batch is open, changed, gone on with and looked at."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import optuna
import pytest
from psopt import testing
from psopt.models.chat.batches import BatchRunner

from tests.cli.limited_runs import read, write_questions
from tests.cli.telling import check_says
from tests.commands import psopt
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path


HOSTILE = "<script>alert(1)</script> | *bold* ``` [x](http://e.vil)"
OPTIMIZE = ["optimize", "--dataset", "data.csv", "--out", "run", "--model", "sim/wobble=0.5,seed=3", "--trials", "6"]
OPTIMIZE += ["--samples", "30", "--rephrasings", "3", "--rounds", "2"]
OPTIMIZE += ["--max-prompt-tokens", "9999"]  # hostile texts are long, and all examples are to be tried

BATCH = ["--dataset", "data.csv", "--model", "openai/test", "--rephrasings", "2", "--batch", "--batch-tick", "0.01"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run on hostile texts."""
    folder = write_questions(tmp_path_factory.mktemp("living"), end=f" {HOSTILE}")
    psopt(folder, *OPTIMIZE, code=0)
    return folder


def study_of(folder: Path) -> Any:
    return optuna.load_study(study_name="run", storage=f"sqlite:///{folder}/run/study.db")


def note_of(study: Any, trial: Any = None) -> str:
    """The note of a trial or of the study, as the dashboard keeps it: in parts, with the study."""
    attributes = study._storage.get_study_system_attrs(study._study_id)
    prefix = f"dashboard:{trial._trial_id}:note_str:" if trial else "dashboard:note_str:"
    parts = {int(name.removeprefix(prefix)): value for name, value in attributes.items() if name.startswith(prefix)}
    return "".join(parts[number] for number in sorted(parts))


def test_every_trial_can_be_understood_from_the_study_alone(done: Path) -> None:
    study = study_of(done)
    assert study.metric_names == ["f1", "sensitivity", "consistency"]
    assert {"task", "model", "dataset_sha256", "rephrasings_sha256", "psopt_version"} <= set(study.user_attrs)
    finished = [trial for trial in study.trials if trial.values]
    assert len(finished) == 6
    known = {"prompt_id", "edits", "per_class", "na_rate", "calls", "tokens", "cost_usd", "seconds"}
    for trial in finished:
        assert known <= set(trial.user_attrs)
        assert set(trial.user_attrs["per_class"]) == {"aaa", "bbb"}
        assert note_of(study, trial).startswith(f"# Prompt {trial.user_attrs['prompt_id']}")
        assert not any("edit:" in name for name in trial.params)  # they are called by what edits say
    recommended = read(done)["recommended"]["id"]
    check_says(note_of(study), "Recommended: trial", recommended, "psopt export run", "report.html")


def test_a_trials_note_shows_hostile_text_as_text(done: Path) -> None:
    study = study_of(done)
    note = note_of(study, next(trial for trial in study.trials if trial.values and trial.user_attrs["edits"]))
    assert note.startswith("# Prompt ")
    assert "## Added to the original prompt" in note
    table = note.partition("## The prompt")[0]
    assert "<script>" not in table.replace("\\<", "")
    assert "&" not in table.replace("\\&", ""), "an entity"
    assert "| *bold*" not in table


def test_a_run_about_something_else_is_not_gone_on_with(tmp_path: Path) -> None:
    folder = write_questions(tmp_path)
    psopt(folder, *OPTIMIZE, code=0)
    other_model = [word.replace("wobble=0.5,seed=3", "wobble=0.1") for word in OPTIMIZE]
    changed = psopt(folder, *other_model, "--resume", code=2)
    assert "the model (was sim/wobble=0.5,seed=3, is sim/wobble=0.1)" in changed.stderr
    text = (folder / "data.csv").read_text()
    (folder / "data.csv").write_text(text.replace("what is", "what was"))
    other = psopt(folder, "resume", "run", "--trials", "8", code=2)
    assert "the samples (was " in other.stderr
    assert other.stderr.count("\n") == 1
    psopt(folder, "resume", "run", "--trials", "8", "--force", code=0)
    assert read(folder)["finish_reason"] == "trials"


def test_forced_onto_other_samples_a_run_scores_what_is_answered_to_them(tmp_path: Path) -> None:
    words = ("dog", "cat", "bird")
    lines = [f"Story {n} of a {words[n % 3]},{words[n % 3]}" for n in range(120)]

    def first_words(messages: list[dict[str, Any]]) -> str:
        text = str(messages[-1]["content"])
        return "dog" if "Tale" in text else next((word for word in words if f"of a {word}" in text[-40:]), "bird")

    with testing.FakeServer(first_words) as server:
        model = ["--model", "openai/fake", "--api-base", server.url, "--proposer", "rules"]
        sizes = ["--samples", "12", "--trials", "2", "--rephrasings", "2", "--quiet"]
        optimize = ["optimize", "--dataset", "data.csv", *model, *sizes]
        (tmp_path / "data.csv").write_text("\n".join(["text,label", *lines]))
        psopt(tmp_path, *optimize, "--out", "run", code=0)
        (tmp_path / "data.csv").write_text("\n".join(["text,label", *lines[:60]]).replace("Story", "Tale"))
        psopt(tmp_path, "resume", "run", "--force", "--quiet", code=0)
        psopt(tmp_path, *optimize, "--out", "fresh", code=0)
    assert read(tmp_path)["baseline"]["val"] == json.loads((tmp_path / "fresh/run.json").read_text())["baseline"]["val"]


def test_a_run_whose_batch_is_open_is_resumed_by_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = BatchRunner._state

    async def interrupted(self: Any, batch: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)  # as soon as a batch has an id
        return await state(self, batch)

    folder = write_questions(tmp_path, 20)
    with FakeServer(batch_ms=1e6) as server:
        words = ["--trials", "1", "--samples", "24", "--rounds", "1", "--out", "run", "--api-base", server.url]
        with monkeypatch.context() as patched:
            patched.setattr(BatchRunner, "_state", interrupted)
            said = psopt(folder, "optimize", *BATCH, *words, OPENAI_API_KEY="sk-one", code=130).stderr
        assert "batches: 1 open, 0 done" in said
        assert "psopt resume run" in said
        said = psopt(folder, "resume", "run", OPENAI_API_KEY="sk-another", code=2).stderr
        cure = "or opened with another key: set that one; or go on call by call (psopt resume RUN --no-batch)"
        assert cure in said
        assert "Traceback" not in said
        server.change(batch_ms=5.0)
        psopt(folder, "resume", "run", OPENAI_API_KEY="sk-one", code=0)
        assert server.batches()[0]["status"] == "completed"
        assert server.counts()["answered_twice"] == 0
    assert list((folder / "cache" / "batches").iterdir()) == []
    assert read(folder)["settings"]["lm"]["batch"] is True
