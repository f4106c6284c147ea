"""What a compilation costs, what comes back where a limit ends it, and what a log_dir stands for."""

from __future__ import annotations

import json
import logging
import re
from typing import TYPE_CHECKING, Any

import pytest

dspy: Any = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

from psopt import SensitivityOptimizer  # noqa: E402
from psopt.dspy_programs._sizing import AUTO_CALLS, calls_expected, sizes_within  # noqa: E402
from psopt.errors import BudgetReachedError, InputError  # noqa: E402

from tests.dspy_programs.conftest import Listener  # noqa: E402
from tests.dspy_programs.keyword_lm import keyword_lm, n_calls  # noqa: E402
from tests.dspy_programs.programs_to_mend import Sort, examples, predict, two_steps  # noqa: E402
from tests.fake_server import FakeServer  # noqa: E402
from tests.sweeps import each  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

TRAIN, VAL = examples(0, 25), examples(25, 25)
FEW = examples(0, 3), examples(5, 3)


def compiled(program: Any, lm: Any = None, observer: Any = None, given: Any = (TRAIN, VAL), **options: Any) -> Any:
    with dspy.context(lm=lm or keyword_lm()):
        optimizer = SensitivityOptimizer(num_threads=4, **options)
        return optimizer.compile(program, trainset=given[0], valset=given[1], observer=observer)


def test_a_limit_alone_says_how_large_a_search_is_and_without_one_it_is_light(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, lm_of_more, light, more = keyword_lm(), keyword_lm(), Listener(), Listener()
    n_before: list[int] = []

    def phase(what: str) -> None:
        n_before.append(n_calls(lm))
        light.phases.append(what)

    monkeypatch.setattr(light, "phase", phase)
    better = compiled(predict(), lm, light)
    expected = next(place for place, phase in enumerate(light.phases) if phase.startswith("about 1,"))
    assert n_before[expected] == 0
    run = json.loads((better.run.path / "run.json").read_text())
    assert n_calls(lm) == run["calls"]["made"] == better.detailed_results.total_metric_calls
    assert 500 < n_calls(lm) < 2_000
    better = compiled(predict(), lm_of_more, more, max_calls=2_600)
    run = json.loads((better.run.path / "run.json").read_text())
    of_light, of_more = (_calls_planned(heard) for heard in (light, more))
    assert of_light < 2_000 < of_more <= 2_600
    assert n_calls(lm_of_more) <= 2_600
    assert run["settings"]["effort"] == "medium"


def _calls_planned(heard: Listener) -> int:
    line = next(phase for phase in heard.phases if phase.startswith("about "))
    return int(line.split()[1].replace(",", ""))


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


def test_what_is_expected_is_said_by_dspys_logger_too(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("dspy")
    logger.addHandler(caplog.handler)  # DSPy's loggers hand nothing on
    try:
        with caplog.at_level(logging.INFO, "dspy"):
            better = compiled(predict(), given=FEW, num_trials=2, num_rephrasings=2)
    finally:
        logger.removeHandler(caplog.handler)
    assert any("calls: " in record.message for record in caplog.records)
    run = json.loads((better.run.path / "run.json").read_text())
    low, high = run["frame_tokens"]  # what an adapter writes counts for the length of a call
    assert 50 < low < high
    assert run["baseline"]["call"]["tokens_a_call"] > low
    # what is handed back has room for sixteen demonstrations
    assert run["settings"]["parts"]["examples_allowed"] == 16
    assert run["prompt_limits"] == {"edits": 25, "tokens": None}


def test_of_two_labels_a_round_offers_as_many_demonstrations_as_there_is_room_for(tmp_path: Path) -> None:
    better = compiled(predict(), given=(TRAIN, FEW[1]), num_trials=4, num_rephrasings=2, log_dir=tmp_path / "run")
    offered = {name[: len("examples 1: typical")] for trial in better.run.study.trials for name in trial.params}
    assert {f"examples {n}: typical" for n in (1, 2, 5, 6, 7, 8)} <= offered
    assert not any(name.startswith("examples 9") for name in offered)


def test_it_is_said_which_step_answers_and_where_examples_come_from() -> None:
    heard = Listener()
    compiled(two_steps(), given=FEW, observer=heard, num_trials=2, num_rephrasings=2)
    said = next(phase for phase in heard.phases if phase.startswith("the answer is "))
    assert re.match(
        r"the answer is label of \w+, whose instructions are reworded; examples: \d+ train \(of the trainset\), ", said
    )


def test_a_server_counts_no_more_requests_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    with FakeServer() as server:
        lm = dspy.LM("openai/test", api_base=server.url, cache=False, num_retries=0)
        compiled(predict(), lm, given=FEW, max_calls=330)
        assert 150 < server.counts()["requests"] <= 330


def test_a_limit_returns_the_best_so_far(tmp_path: Path) -> None:
    make, most, lm, heard = predict, 330, keyword_lm(), Listener()
    sizes = {"num_trials": 12, "num_rephrasings": 4}
    better = compiled(make(), lm, heard, FEW, max_calls=most, log_dir=tmp_path / "run", **sizes)
    assert n_calls(lm) <= most
    assert better.run.finish_reason == "budget"
    assert better.run.recommendation is not None
    assert better.run.baseline.test is not None
    assert any(f"max_calls={most} is reached" in phase for phase in heard.phases)
    again = compiled(make(), lm, heard, FEW, max_calls=most, log_dir=tmp_path / "run", **sizes)
    assert n_calls(lm) <= most  # of both parts
    assert again.run.recommendation is not None
    more = keyword_lm()
    longer = compiled(make(), more, heard, FEW, log_dir=tmp_path / "run", **sizes)
    assert longer.run.finish_reason in {"trials", "exhausted", "converged"}
    whole = keyword_lm()
    compiled(make(), whole, heard, FEW, **sizes)
    assert n_calls(more) < n_calls(whole)


def test_a_limit_that_pays_for_nothing_raises_and_keeps_what_was_paid(tmp_path: Path) -> None:
    lm = keyword_lm()
    options = {"num_trials": 3, "num_rephrasings": 4, "log_dir": tmp_path / "run"}
    with pytest.raises(BudgetReachedError, match="max_calls=60"):
        compiled(two_steps(), lm, None, FEW, max_calls=60, **options)
    assert n_calls(lm) <= 60
    again, whole = keyword_lm(), keyword_lm()
    compiled(two_steps(), again, None, FEW, **options)
    compiled(two_steps(), whole, None, FEW, **{**options, "log_dir": tmp_path / "whole"})
    assert n_calls(again) <= n_calls(whole) - n_calls(lm) + 2 * 4  # a run under way when the limit came is lost


@pytest.mark.parametrize("n_steps", [1, 2, 5])
@pytest.mark.parametrize("limit", [300, 1950, 4900, 100_000])
def test_sizes_fit_the_limit_or_are_the_least(limit: int, n_steps: int) -> None:
    available = {"train": 100, "val": 50, "test": 50}
    sizes = sizes_within(limit, n_steps, available, races=True)
    least = sizes_within(1, n_steps, available, races=True)
    expected = sum(calls_expected(sizes, n_steps, races=True).values())
    assert expected <= limit or sizes == least
    assert sizes.trials >= least.trials
    assert list(AUTO_CALLS) == ["light", "medium", "heavy"]


def test_results_are_had_by_the_names_of_other_optimizers() -> None:
    better = compiled(predict(), None, None, FEW, num_trials=6, num_rephrasings=4, gate="off")
    details = better.detailed_results
    assert details.best_candidate.dump_state() == better.dump_state()
    assert details.val_aggregate_scores[details.best_idx] == better.score
    assert {"f1", "sensitivity", "consistency"} == set(details.val_aggregate_subscores[0])
    assert better.trial_logs[1]["full_eval_score"] == pytest.approx(better.run.baseline.val.f1)
    assert len(better.trial_logs) == 6
    scores = [entry["score"] for entry in better.candidate_programs]
    assert scores == sorted(scores, reverse=True)
    assert all(isinstance(entry["program"], dspy.Module) for entry in better.candidate_programs)
    bare = compiled(predict(), None, None, FEW, num_trials=2, num_rephrasings=4, track_stats=False)
    assert not hasattr(bare, "trial_logs")


def test_callbacks_are_told_of_every_evaluation() -> None:
    told: list[Any] = []

    class Watch(dspy.utils.callback.BaseCallback):
        def on_evaluate_start(self, call_id: Any, instance: Any, inputs: Any) -> None:
            told.append(inputs["program"])

        def on_evaluate_end(self, call_id: Any, outputs: Any, exception: Any = None) -> None:
            told.append(outputs["score"])

    with dspy.context(callbacks=[Watch()]), dspy.context(lm=keyword_lm()):
        optimizer = SensitivityOptimizer(num_trials=3, num_rephrasings=4)
        better = optimizer.compile(predict(), trainset=FEW[0], valset=FEW[1])
    assert told[:2] == [better.run.baseline.id, better.run.baseline.val.f1]
    assert len(told) == 2 * len(better.trial_logs)


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ({"minibatch_size": 25}, "minibatch_size means nothing to SensitivityOptimizer: racing decides"),
        ({"max_bootstrapped_demos": 4}, "how many demonstrations there are is searched for"),
        ({"num_trails": 4}, "compile does not know num_trails; did you mean 'num_trials'"),
    ],
)
def test_arguments_of_other_optimizers_are_refused_by_name(argument: dict[str, Any], says: str) -> None:
    lm = keyword_lm()
    with dspy.context(lm=lm), pytest.raises(InputError, match=says):
        SensitivityOptimizer().compile(predict(), trainset=TRAIN, valset=VAL, **argument)
    assert n_calls(lm) == 0


def test_arguments_that_mean_something_are_taken() -> None:
    with dspy.context(lm=keyword_lm()):
        optimizer = SensitivityOptimizer(num_rephrasings=4)
        better = optimizer.compile(
            predict(), trainset=FEW[0], valset=FEW[1], num_trials=3, seed=7, requires_permission_to_run=False
        )
    assert len(better.trial_logs) == 3
    assert better.detailed_results.seed == 7
    assert optimizer.seed == 42


def test_nothing_is_written_here_unless_that_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    better = compiled(predict(), None, None, FEW, num_trials=2, num_rephrasings=3)
    assert list(tmp_path.iterdir()) == []
    assert better.run.path.is_dir()


def lenient(example: Any, prediction: Any, trace: Any = None) -> float:
    return 1.0 if example.label == prediction.label else 0.5


def strict(example: Any, prediction: Any, trace: Any = None) -> float:
    return float(example.label == prediction.label)


def test_another_metric_in_the_same_log_dir_is_evaluated_anew_and_said(tmp_path: Path) -> None:
    options = {"num_trials": 3, "num_rephrasings": 4, "log_dir": tmp_path / "run"}
    first = compiled(predict(), None, None, FEW, metric=strict, **options)
    heard = Listener()
    second = compiled(predict(), None, heard, FEW, metric=lenient, **options)
    assert any("differs in the metric" in phase for phase in heard.phases)
    f1 = first.run.baseline.val.f1
    assert second.run.baseline.val.f1 == pytest.approx(f1 + (1 - f1) / 2)
    assert (tmp_path / "run-earlier-1" / "run.json").is_file()
    lm = keyword_lm()
    third = compiled(predict(), lm, None, FEW, metric=lenient, **options)
    assert n_calls(lm) == 0
    assert third.run.baseline.val.f1 == second.run.baseline.val.f1


class Shouts(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sort = dspy.Predict(Sort)

    def forward(self, question: str) -> Any:
        return self.sort(question=question.upper())


class Whispers(Shouts):
    def forward(self, question: str) -> Any:
        return self.sort(question=question.lower())


def test_another_forward_other_examples_and_another_signature_are_noticed(tmp_path: Path) -> None:
    options = {"num_trials": 2, "num_rephrasings": 3, "log_dir": tmp_path / "run"}
    compiled(Shouts(), None, None, FEW, **options)
    other_signature = Whispers()
    other_signature.sort = dspy.Predict(Sort.with_instructions("Say what is asked for."))
    for what, program, given in (
        ("the program's code", Whispers(), FEW),
        ("the examples", Whispers(), (FEW[0], examples(9, 3))),
        ("its instructions", other_signature, (FEW[0], examples(9, 3))),
    ):
        heard = Listener()
        compiled(program, None, heard, given, **options)
        assert any("evaluated anew" in phase and what in phase for phase in heard.phases), what
    assert len(list(tmp_path.glob("run-earlier-*"))) == 3


def test_more_trials_in_the_same_log_dir_go_on(tmp_path: Path) -> None:
    options = {"num_rephrasings": 4, "log_dir": tmp_path / "run"}
    compiled(predict(), None, None, FEW, num_trials=3, **options)
    heard = Listener()
    better = compiled(predict(), None, heard, FEW, num_trials=5, **options)
    assert not any("evaluated anew" in phase for phase in heard.phases)
    assert len(better.trial_logs) == 5


def test_what_is_handed_back_is_put_to_wordings_of_another_source(tmp_path: Path) -> None:
    people = ["Say which sort of thing is asked for.", "What kind of answer would fit?", "Name the sort of answer."]
    lm = keyword_lm()
    better = compiled(
        two_steps(), lm, given=FEW, auto="light", heldout_from=people, log_dir=tmp_path / "run", gate="off"
    )
    run = json.loads((better.run.path / "run.json").read_text())
    assert run["other_wordings"]["wordings"] == people
    assert run["other_wordings"]["id"] == better.run.recommended.id
    assert n_calls(lm) == run["calls"]["made"] < 2000  # those of both steps
    with pytest.raises(InputError, match="heldout_from needs 2 wordings or more"):
        compiled(predict(), heldout_from=people[:1])
