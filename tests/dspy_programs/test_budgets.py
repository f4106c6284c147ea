"""What a compilation costs, what comes back where a limit ends it, and what is told of it."""

from __future__ import annotations

import json
import logging
import re
import shutil
from pathlib import Path
from typing import Any

import dspy
import pytest
from psopt import LMConfig, SensitivityOptimizer
from psopt.dspy_programs._compile import calls_expected, sizes_within
from psopt.errors import BudgetReachedError, InputError

from tests.dspy_programs.compiling import FEW, Listener, compiled, manifest
from tests.dspy_programs.keyword_lm import keyword_lm, n_calls
from tests.dspy_programs.programs_to_mend import Sort, Sorter, TwoSteps, examples, predict
from tests.sweeps import each
from tests.tracking.small_runs import Listening

TRAIN, VAL = examples(0, 25), examples(25, 25)
MANY = {"train": 100, "val": 50, "test": 50}
# the limit says how large it is
PLANNED: Any = {"num_trials": None, "num_rephrasings": None, "gate": None}


def calls_said(line: str) -> int:
    return int(line.partition("about ")[2].split()[0].replace(",", ""))


class Planned(Exception):  # noqa: N818  # no error
    """It was said how many calls are expected."""


class OnlyPlanning(Listener):
    """Ends a compilation when that is said."""

    def phase(self, what: str) -> None:
        if what.startswith("about "):
            raise Planned(what)


def test_a_limit_alone_says_how_large_a_search_is_and_without_one_it_is_light(tmp_path: Path) -> None:
    lm = keyword_lm()
    with pytest.raises(Planned) as said:
        compiled(predict(), tmp_path, lm, (TRAIN, VAL), OnlyPlanning(), **PLANNED)
    assert 1_000 <= calls_said(str(said.value)) < 2_000
    assert n_calls(lm) == 0
    assert sum(calls_expected(sizes_within(2_600, 1, MANY, races=True), 1, races=True).values()) in range(2_000, 2_600)
    assert SensitivityOptimizer(max_calls=2_600)._settings(30).effort == "medium"


@each(
    "options, n_test, gate",
    [
        ({}, 30, "likely"),
        ({"auto": "medium"}, 500, "likely"),
        ({"auto": "heavy"}, 99, "likely"),  # too few to be sure of anything
        ({"auto": "heavy"}, 100, "sure"),
        ({"max_calls": 9_000}, 30, "likely"),
        ({"max_calls": 9_000}, 300, "sure"),
        ({"auto": "light", "gate": "sure"}, 30, "sure"),
        ({"num_trials": 5}, 30, "sure"),
    ],
)
def test_the_gate_is_as_strict_as_the_test_can_bear(options: Any, n_test: int, gate: str) -> None:
    assert SensitivityOptimizer(**options)._settings(n_test).gate == gate


def test_what_is_expected_is_said_and_nothing_is_written_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    logger = logging.getLogger("dspy")
    logger.addHandler(caplog.handler)  # DSPy's loggers hand nothing on
    try:
        with caplog.at_level(logging.INFO, "dspy"):
            better = compiled(TwoSteps(), tmp_path, None, FEW, log_dir=None)
    finally:
        logger.removeHandler(caplog.handler)
    said = [record.message for record in caplog.records]
    (expected,) = [calls_said(line) for line in said if "calls: " in line]
    assert 0.3 * expected < manifest(better)["calls"]["made"] <= expected
    answer = r"the answer is label of \w+, whose instructions are reworded; examples: \d+ train \(of the trainset\), "
    assert any(re.search(answer, line) for line in said)
    assert better.run.path.is_dir()
    assert list(tmp_path.iterdir()) == []
    run = manifest(better)
    low, high = run["frame_tokens"]  # what an adapter writes counts for the length of a call
    assert 50 < low < high
    assert run["baseline"]["call"]["tokens_a_call"] > low
    # what is handed back has room for sixteen demonstrations
    assert run["settings"]["parts"]["examples_allowed"] == 16
    assert run["prompt_limits"] == {"edits": 25, "tokens": None}


def test_a_limit_returns_the_best_so_far(tmp_path: Path) -> None:
    lm, heard, sizes = keyword_lm(), Listener(), {"num_trials": 12, "num_rephrasings": 4}
    better = compiled(predict(), tmp_path, lm, FEW, heard, max_calls=330, **sizes)
    assert n_calls(lm) <= 330
    assert better.run.finish_reason == "budget"
    assert better.run.recommendation is not None
    assert better.run.baseline.test is not None
    assert any("max_calls=330 is reached" in phase for phase in heard.phases)
    again = compiled(predict(), tmp_path, lm, FEW, heard, max_calls=330, **sizes)
    assert n_calls(lm) <= 330  # of both parts
    assert again.run.recommendation is not None
    longer = compiled(predict(), tmp_path, None, FEW, heard, **sizes)
    assert longer.run.finish_reason in {"trials", "exhausted", "converged"}


def test_a_limit_that_cant_pay_the_original_is_refused_with_the_least_which_returns_it_tested(tmp_path: Path) -> None:
    lm, sizes = keyword_lm(), {"num_trials": 3, "num_rephrasings": 4}
    least = 2 * 6 * (4 + 10)  # two steps, six examples each of val and test
    with pytest.raises(InputError, match=f"max_calls={least - 1} can't pay the original program .* at least {least}"):
        compiled(TwoSteps(), tmp_path, lm, FEW, max_calls=least - 1, **sizes)
    assert n_calls(lm) == 0
    assert not (tmp_path / "run").exists()
    better = compiled(TwoSteps(), tmp_path, lm, FEW, max_calls=least, **sizes)
    assert better.run.baseline.test is not None
    assert better.sensitivity_by_step == {}
    assert n_calls(lm) == least
    compiled(TwoSteps(), tmp_path, lm, FEW, max_calls=least, **sizes)  # what is kept takes no calls
    assert n_calls(lm) == least


class Snapshot(Listener):
    """Keeps the run's folder as a kill would leave it, once the search has begun."""

    def __init__(self, run: Path) -> None:
        super().__init__()
        self.run, self.killed = run, run.with_name("killed")

    def phase(self, what: str) -> None:
        super().phase(what)
        if what.startswith("round 1: searching"):
            shutil.copytree(self.run, self.killed)


def test_a_killed_run_is_resumed_and_what_it_spent_counts(tmp_path: Path) -> None:
    lm, heard, sizes = keyword_lm(), Listener(), {"num_trials": 4, "num_rephrasings": 4}
    killed = Snapshot(tmp_path / "run")
    compiled(predict(), tmp_path, keyword_lm(), FEW, killed, **sizes)
    spent = json.loads((killed.killed / "spent.json").read_text("utf-8"))["made"]
    better = compiled(predict(), tmp_path, lm, FEW, heard, log_dir=killed.killed, **sizes)
    assert not any("earlier" in phase for phase in heard.phases)
    assert manifest(better)["calls"]["made"] == spent + n_calls(lm)


class AsksTwice(Sorter):
    def forward(self, question: str) -> Any:
        self.sort(question=f"again: {question}")
        return self.sort(question=question)


def test_a_limit_that_pays_for_nothing_raises_and_keeps_what_was_paid(tmp_path: Path) -> None:
    lm, again = keyword_lm(), keyword_lm()
    sizes = {"num_trials": 3, "num_rephrasings": 4, "num_threads": 4}
    how_to_go_on = "resume with a higher limit: compile again with log_dir="
    with pytest.raises(BudgetReachedError, match=f"max_calls=100 is reached .*{how_to_go_on}"):
        compiled(AsksTwice(), tmp_path, lm, FEW, max_calls=100, **sizes)
    assert 0 < n_calls(lm) <= 100
    better = compiled(AsksTwice(), tmp_path, again, FEW, **sizes)
    n_needed = manifest(better)["calls"]["made"]
    assert n_calls(again) <= n_needed - n_calls(lm) + 2 * 4  # a run under way when the limit came is lost


class AsksAnother(Sorter):
    """Asks a model of its own by itself."""

    def __init__(self, lm: Any) -> None:
        super().__init__()
        self.big = lm

    def forward(self, question: str) -> Any:
        self.sort(question="who ?")
        with dspy.context(lm=self.big):
            return self.sort(question=question)


@each("lm", [None, LMConfig()])
def test_calls_of_other_models_and_of_the_metric_count_too(lm: Any, tmp_path: Path) -> None:
    main, big, judge = keyword_lm(), keyword_lm(), keyword_lm()

    def judged(example: Any, prediction: Any, trace: Any = None) -> bool:
        with dspy.context(lm=judge):
            dspy.Predict(Sort)(question=example.question)
        return bool(example.label == prediction.label)

    folder = tmp_path / str(lm is None)
    options = {"lm": lm, "cache_dir": folder / "cache", "metric": judged, "num_trials": 1}
    better = compiled(AsksAnother(big), folder, main, FEW, **options)
    assert n_calls(big) == n_calls(judge) > 0
    assert manifest(better)["calls"]["made"] == sum(map(n_calls, (main, big, judge)))
    main, big, judge = keyword_lm(), keyword_lm(), keyword_lm()
    with pytest.raises(BudgetReachedError, match="max_calls=75"):
        compiled(AsksAnother(big), folder / "limited", main, FEW, **options, max_calls=75)
    assert sum(map(n_calls, (main, big, judge))) <= 75 + 2 * 3 * (lm is not None)  # those of two runs under way


class Watch(dspy.utils.BaseCallback):
    def __init__(self) -> None:
        self.told: list[Any] = []

    def on_compile_end(self, *_: Any, **__: Any) -> None:
        self.told.append("compiled")

    def on_evaluate_start(self, call_id: Any, instance: Any, inputs: Any) -> None:
        self.told.append(inputs["program"])

    def on_evaluate_end(self, call_id: Any, outputs: Any, exception: Any = None) -> None:
        self.told.append(outputs["score"])


def test_arguments_results_and_callbacks_of_other_optimizers_are_known(tmp_path: Path) -> None:
    seen: set[int] = set()
    tracker, given, around = Listening(), Watch(), Watch()
    callbacks: Any = [lambda study, trial: seen.add(trial.number), tracker, given]
    optimizer = SensitivityOptimizer(num_rephrasings=4, log_dir=tmp_path, gate="off", callbacks=callbacks)
    more: Any = {"num_trials": 3, "seed": 7, "requires_permission_to_run": False}
    with dspy.context(lm=keyword_lm(), callbacks=[around]):
        better = optimizer.compile(predict(), trainset=FEW[0], valset=FEW[1], **more)
    details = better.detailed_results
    assert details.total_metric_calls == manifest(better)["calls"]["made"]
    assert (details.seed, optimizer.seed) == (7, 42)
    assert details.best_candidate.dump_state() == better.dump_state()
    assert details.val_aggregate_scores[details.best_idx] == better.score
    assert {"f1", "sensitivity", "consistency"} == set(details.val_aggregate_subscores[0])
    assert better.trial_logs[1]["full_eval_score"] == pytest.approx(better.run.baseline.val.f1)
    assert len(better.trial_logs) == len(seen) == manifest(better)["settings"]["trials"] == 3
    scores = [entry["score"] for entry in better.candidate_programs]
    assert scores == sorted(scores, reverse=True)
    assert all(isinstance(entry["program"], dspy.Module) for entry in better.candidate_programs)
    assert seen == set(tracker.trials)
    assert tracker.told[-2:] == ["end finished", "close"]
    for watch in (given, around):
        *evaluated, last = watch.told
        assert last == "compiled"
        assert evaluated[:2] == [better.run.baseline.id, better.run.baseline.val.f1]
        assert len(evaluated) == 2 * len(better.trial_logs)


def test_what_is_handed_back_is_put_to_wordings_of_another_source(tmp_path: Path) -> None:
    people = ["Say which sort of thing is asked for.", "What kind of answer would fit?", "Name the sort of answer."]
    lm = keyword_lm()
    better = compiled(TwoSteps(), tmp_path, lm, FEW, heldout_from=people)
    run = manifest(better)
    assert run["other_wordings"]["wordings"] == people
    assert run["other_wordings"]["id"] == better.run.recommended.id
    assert n_calls(lm) == run["calls"]["made"]  # those of both steps
