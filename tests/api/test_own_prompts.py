"""Verbs take a prompt of the user's own: a value, a file, a Python function; runs start from it and go on with it."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import psopt
import pytest
from psopt.api import run
from psopt.errors import InputError, NoLabelsError
from psopt.evaluation import score
from psopt.runs import RunSettings, load_data, read_source
from psopt.search import Candidate, Observer
from psopt.search_spaces import Prompt
from psopt.settings import DataOptions, MeasureOptions, SearchOptions
from psopt.tasks import Task
from psopt.templates import Field, Message, Part, Template
from psopt.testing import assert_robust

from tests.mails import CHAT, LABELS, TEXT, enter_mails
from tests.sweeps import each

SIM = "sim/accuracy=0.7,wobble=0.3"
SMALL: dict[str, Any] = {"model": SIM, "rephrasings": 3, "samples": 8}
RUN: dict[str, Any] = {**SMALL, "trials": 2, "rounds": 1, "leave_one_out": 0}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enter_mails(tmp_path, monkeypatch)


@pytest.fixture
def task(folder: Path) -> Task:
    return psopt.load_task("mails.csv", inputs=("subject", "body"), label_column="team")


def settings_of(folder: Path) -> Any:
    return json.loads((folder / "run.json").read_text())["settings"]


def of_a_run(name: str, task: Task, **measured: Any) -> str:
    """A file of a prompt that a run has measured."""
    prompt = read_source("mail.txt").for_task(task)
    Path(name).write_text(json.dumps({**prompt.to_dict(), "measured": {"model": SIM, **measured}}))
    return name


def test_verbs_ask_the_model_that_a_prompt_was_measured_with_in_the_same_way(task: Task) -> None:
    sizes: dict[str, Any] = {"rephrasings": 3, "samples": 8}
    file = of_a_run("p.json", task, client={"logprobs": True, "concurrency": 3})
    as_measured = psopt.measure(task, file, **sizes)
    assert as_measured.probabilities is not None
    assert psopt.measure(task, file, **sizes, model=SIM).probabilities is not None
    assert psopt.measure(task, file, **sizes, logprobs=False).probabilities is None  # set: it comes first
    assert psopt.classify([task.test[0].text], file)[0].label in LABELS
    diagnosed = psopt.diagnose(task, file, options=MeasureOptions(rephrasings=3, samples=8))
    assert (diagnosed.predictions.array == as_measured.array).all()
    assert psopt.check(task, file, min_f1=0, **sizes).scores == score(as_measured, intervals=True)
    assert [each.model for each in psopt.compare(task, ["mail.txt", file], **sizes)] == [SIM, SIM]
    assert assert_robust(task, file, min_f1=0, **sizes)
    with pytest.raises(AssertionError, match=r"missed: S .* > 0 .*; missed: F1 .* < 100 "):
        assert_robust(task, file, min_f1=1, max_sensitivity=0, **sizes)
    with pytest.raises(InputError, match=r"measured differently, .* with logprobs True"):
        psopt.compare(task, [file, of_a_run("q.json", task)], **sizes)
    with pytest.raises(InputError, match=r"own\.json was measured with a model object in Python"):
        psopt.check(task, of_a_run("own.json", task, by_name=False), min_f1=0, **sizes)


def test_verbs_take_a_value_a_file_and_options(task: Task) -> None:
    options = psopt.PromptOptions(answer="last-line")
    prompt = read_source("mail.txt", options).for_task(task)
    by_value = psopt.measure(task, prompt, **SMALL)
    by_file = psopt.measure(task, "mail.txt", prompt_options=options, **SMALL)
    assert (by_value.array == by_file.array).all()
    assert psopt.diagnose(task, "mail.txt", prompt_options=options, **SMALL).prompt == prompt
    assert psopt.check(task, "mail.txt", prompt_options=options, min_f1=0, **SMALL).met
    assert psopt.estimate(task, "mail.txt", prompt_options=options, **SMALL).calls > 0
    named = psopt.compare(task, ["mail.txt", "mail.yaml"], **SMALL)
    mapped = psopt.compare(task, {"text": "mail.txt", "yaml": read_source("mail.yaml")}, **SMALL)
    assert [result.prompt for result in named] == ["mail.txt", "mail.yaml"]
    assert [result.scores for result in named] == [result.scores for result in mapped]


def test_a_file_of_wordings_says_how_many_a_run_has_where_nobody_does(task: Task, folder: Path) -> None:
    wordings = "".join(f"Say {how} it is for.\n" for how in ("who", "whom", "which team", "where"))
    Path("wordings.txt").write_text(wordings)
    prompt = "Which team is it for?\n\n{subject}\n{body}"
    run = psopt.optimize(task, prompt=prompt, **RUN, rephrasings_file="wordings.txt", out="run")
    told = json.loads((run.path / "run.json").read_text())["rephrasings"]
    assert (len(told["search"]), len(told["heldout"])) == (3, 2)
    check = psopt.check(task, run.path, min_f1=0)
    assert (check.scores.n_rephrasings, check.scores.f1) == (2, run.recommended.test.f1)
    on_test = psopt.diagnose(task, run.path, split="test").scores
    assert (on_test.n_rephrasings, on_test.f1) == (2, run.recommended.test.f1)
    assert psopt.diagnose(task, run.path).predictions.rephrasings == tuple(told["search"])
    assert psopt.check(task, run.path, min_f1=0, rephrasings=4).scores.n_rephrasings == 4  # more than it has


@each(
    "wrong, said",
    [
        ({"rephrasings": 0}, "rephrasings must be at least 1, not 0"),
        ({"heldout": "3"}, "heldout must be a whole number"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"rephrasing": 3}, "rephrasing takes RephrasingOptions"),
    ],
)
def test_what_cant_be_reworded_is_said_in_pythons_words(task: Task, wrong: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        psopt.rephrase(task, **wrong)
    in_another_process = pickle.loads(pickle.dumps(psopt.check))
    with pytest.raises(InputError, match=r"give at least one of max_sensitivity, min_f1, .* or pinned$"):
        in_another_process(task)


WRONG_TRIALS: dict[str, Any] = {"trials": "x"}
ONE_KIND: dict[str, Any] = {"kinds": "note"}


@each(
    "call, said",
    [
        (lambda task: psopt.optimize(task, program="mine:program"), "compiled with psopt.SensitivityOptimizer"),
        (lambda task: psopt.estimate(task, **WRONG_TRIALS), "trials must be a whole number, not 'x'"),
        (lambda task: psopt.diagnose(task, rephrasings_file=5), "rephrasings_file must be a path, not 5"),
        (lambda task: psopt.check(task, pinned=[3000], min_f1=0), "the pinned sample '3000' is none of"),
        (lambda task: psopt.SearchRestriction(**ONE_KIND), r"give a list of names, such as \['note'\]"),
        (lambda task: psopt.export("run", verify=-1), "verify must be a whole number of 0 or more, not -1"),
        (lambda task: psopt.load_task("d.csv", answers="ordinal", order="low,high"), "d.csv"),
    ],
)
def test_what_a_keyword_cant_be_is_one_line(task: Task, call: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call(task)


def test_a_text_and_messages_are_taken_as_they_are(task: Task, folder: Path) -> None:
    by_file = [psopt.diagnose(task, shape, **SMALL).prompt for shape in ("mail.txt", "mail.json")]
    in_memory = [psopt.diagnose(task, prompt, **SMALL).prompt for prompt in (TEXT, CHAT)]
    assert [prompt.id for prompt in in_memory] == [prompt.id for prompt in by_file]
    started = psopt.optimize(task, prompt=CHAT, **RUN, out="run")
    assert settings_of(folder / "run")["prompt_file"] == ""
    assert started.baseline.prompt == in_memory[1]
    assert all(candidate.prompt.template == in_memory[1].template for candidate in started.front)
    with pytest.raises(InputError, match=r"^prompt in memory: the prompt names \{titel\}"):
        psopt.measure(task, "Billing or sales?\n{titel}", **SMALL)


def test_a_prompt_that_does_not_fit_the_data_is_refused_before_anything_is_written(task: Task, folder: Path) -> None:
    prompt = read_source("mail.txt").for_task(task)
    (folder / "kept.json").write_text(json.dumps(prompt.to_dict()))
    plain = psopt.Task.from_records([(f"mail {i}", LABELS[i % 2]) for i in range(20)])
    for data, given, said in (
        (plain, prompt, "names the field subject"),
        (plain, "kept.json", "prompt kept.json names the field subject"),
        (task, replace(prompt, labels=("a", "b")), "is for the labels a, b"),
    ):
        with pytest.raises(InputError, match=said):
            psopt.optimize(data, prompt=given, **RUN)
    assert not (folder / "runs").exists()


def test_a_run_is_resumed_with_its_prompt_and_a_changed_file_is_noticed(task: Task, folder: Path) -> None:
    started = psopt.optimize(task, prompt="mail.txt", **RUN, out="run")
    more = {**RUN, "trials": 3}
    again = psopt.optimize(task, prompt="mail.txt", **more, out="run", resume=True)
    assert again.baseline.prompt == started.baseline.prompt
    (folder / "mail.txt").write_text((folder / "mail.txt").read_text().replace("with care", "twice"))
    with pytest.raises(InputError, match=r"run has begun with prompt mail\.txt"):
        psopt.optimize(task, prompt="mail.txt", **more, out="run", resume=True)
    with pytest.raises(InputError, match="from the strategy's prompt"):
        psopt.optimize(task, **more, out="run", resume=True)
    by_call = r"was made with a task made in Python: resume with psopt\.optimize\(task, .*resume=True"
    with pytest.raises(InputError, match=by_call):
        psopt.resume("run", trials=3)
    with pytest.raises(InputError, match="made with a task made in Python"):
        psopt.migrate("run", model="sim/accuracy=0.9")


@each("dataset", ["rows.csv", psopt.load_task("trec")])
def test_a_named_data_set_is_loaded_and_split_again_as_it_was(folder: Path, dataset: Any) -> None:
    """Python splits it by 42, whatever the run's seed."""
    rows = ["text,label", *(f"mail {row},{LABELS[row % 2]}" for row in range(60))]
    Path("rows.csv").write_text("\n".join(rows))
    run = psopt.optimize(dataset, **{**RUN, "seed": 1}, out=f"run-{dataset == 'rows.csv'}").path
    of_run = (run / "samples.json").read_text()
    with pytest.raises(InputError, match="callbacks="):
        psopt.resume(run, log="mlflow")
    psopt.resume(run, trials=3)
    assert (run / "samples.json").read_text() == of_run
    assert psopt.measure(dataset, run, split="test").n_rephrasings > 1


class _KilledAfterTwo(Observer):
    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        if n_done == 2:
            raise KeyboardInterrupt


def test_a_killed_run_and_its_workers_go_on_with_the_prompt_though_its_file_is_gone(folder: Path) -> None:
    data = DataOptions("mails.csv", label_column="team", inputs=("subject", "body"))
    task = load_data(data, 42)
    prompt = read_source("mail.json").for_task(task)
    storage = f"sqlite:///{folder / 'study.db'}"
    search = SearchOptions(trials=4, rounds=1)
    settings = RunSettings(data, SIM, rephrasings=3, samples=8, search=search, leave_one_out=0, prompt=prompt)
    settings = replace(settings, storage=storage, study_name="mails", prompt_file="mail.json")
    with pytest.raises(KeyboardInterrupt):
        run(task, settings, out="run", observer=_KilledAfterTwo())
    (folder / "mail.json").unlink()
    assert psopt.worker(storage, "mails", trials=1) == 1
    resumed = psopt.resume("run")
    assert resumed.baseline.prompt == prompt
    assert {candidate.prompt.template for candidate in resumed.front} == {prompt.template}
    trials = [trial for trial in resumed.study.trials if trial.values]
    assert len(trials) == 4


@each("spec, error, n_calls", [("json:kind", NoLabelsError, 20), ("operator:neg", InputError, 1)])
def test_nothing_is_left_of_a_run_whose_answers_are_not_read(
    tmp_path: Path, spec: str, error: type[Exception], n_calls: int
) -> None:
    task = psopt.Task.from_records([(f"mail {i}", LABELS[i % 2]) for i in range(60)])
    asked = []

    def model(messages: Any) -> str:
        asked.append(messages)
        return f"kind: {task.labels[0]}"

    messages = (Message("user", (Part(0), "\n", Field("text", "{text}"))),)
    prompt = Prompt("Sort it.", task.labels, template=Template(messages, answer=spec))
    with pytest.raises(error, match=rf"PromptOptions\(answer={spec!r}\)") as raised:
        psopt.optimize(task, prompt=prompt, model=model, trials=3, rephrasings=3, concurrency=1, out=tmp_path / "run")
    assert len(asked) == n_calls
    assert "go on with" not in str(raised.value)
    assert not (tmp_path / "run").exists()
