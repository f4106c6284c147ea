"""A study that is changed, gone on with and looked at."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import optuna
import pytest
from psopt import testing

from tests.cli.limited_runs import read, write_questions
from tests.cli.telling import check_refused, check_says
from tests.commands import psopt

if TYPE_CHECKING:
    from pathlib import Path


HOSTILE = "<script>alert(1)</script> | *bold* ``` [x](http://e.vil)"
OPTIMIZE = ["optimize", "--dataset", "data.csv", "--out", "run", "--model", "sim/wobble=0.5,seed=3", "--trials", "6"]
OPTIMIZE += ["--samples", "30", "--rephrasings", "3", "--rounds", "2"]
OPTIMIZE += ["--max-prompt-tokens", "9999"]  # hostile texts are long, and all examples are to be tried


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


def test_another_model_and_other_samples_are_refused_and_forced_onto_them_a_run_scores_what_is_answered_to_them(
    tmp_path: Path,
) -> None:
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
        other = psopt(tmp_path, *optimize, "--model", "openai/other", "--out", "run", "--resume")
        check_refused(other, "the model (was openai/fake, is openai/fake + openai/other)")
        (tmp_path / "data.csv").write_text("\n".join(["text,label", *lines[:60]]).replace("Story", "Tale"))
        check_refused(psopt(tmp_path, "resume", "run", "--quiet"), "the samples (was ")
        psopt(tmp_path, "resume", "run", "--force", "--quiet", code=0)
        psopt(tmp_path, *optimize, "--out", "fresh", code=0)
    assert read(tmp_path)["baseline"]["val"] == json.loads((tmp_path / "fresh/run.json").read_text())["baseline"]["val"]
