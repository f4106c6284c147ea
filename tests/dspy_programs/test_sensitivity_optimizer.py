"""`SensitivityOptimizer` in DSPy programs, with a language model that shakes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import dspy
import pandas as pd
import pytest
from psopt import SensitivityOptimizer
from psopt.dspy_programs._examples import split_examples
from psopt.errors import DataError, InputError, ModelError

from tests.dspy_programs.compiling import FEW, TEST, TRAIN, VAL, Listener, compiled, examples_offered, manifest
from tests.dspy_programs.keyword_lm import ShownEngine, keyword_lm, lm_of, n_calls
from tests.dspy_programs.programs_to_mend import Sort, Topic, TwoSteps, answered, chain_of_thought, predict
from tests.fake_server import FakeServer
from tests.sweeps import each


def test_without_proof_the_program_that_was_given_comes_back_and_the_front_beside_it(tmp_path: Path) -> None:
    program = predict()
    lm = keyword_lm(mumbles="name of")
    better = compiled(program, tmp_path, lm, num_trials=3, num_rephrasings=3, gate="sure")
    assert better.run.baseline.val.na_rate == pytest.approx(0.25)  # an answer that can't be parsed is no failure
    assert better.failures == {}
    with dspy.context(lm=keyword_lm()):
        assert asyncio.run(better.acall(question="who is it ?")).label == "Person"
    assert better.run.recommendation.verdict.verdict == "keep"
    assert better.run.recommended.id == better.run.baseline.id
    assert better.signature.instructions == program.signature.instructions
    assert better.front is better.pareto_front
    assert {candidate.id for candidate in better.front} == {candidate.id for candidate in better.run.front}


def test_without_a_testset_a_half_of_the_valset_is_set_aside_or_a_third_of_many_train_examples() -> None:
    splits = split_examples(TRAIN, VAL, None)
    questions = {name: [given.example.question for given in of_split] for name, of_split in splits.items()}
    assert sorted(questions["val"] + questions["test"]) == sorted(example.question for example in VAL)
    assert abs(len(splits["val"]) - len(splits["test"])) <= 1
    assert split_examples(TRAIN, VAL, None) == splits
    assert all(given == (VAL[int(given.place[7:-1])], given.place) for given in splits["test"])
    assert [given.example for given in split_examples(TRAIN, VAL, TEST)["val"]] == VAL
    many = [dspy.Example(question=f"question {i} ?", label="Person").with_inputs("question") for i in range(90)]
    splits = split_examples(many, VAL, None)
    assert [given.example for given in splits["val"]] == VAL
    assert (len(splits["train"]), len(splits["test"])) == (60, 30)
    assert {given.place for name in ("train", "test") for given in splits[name]} == {
        f"trainset[{i}]" for i in range(90)
    }
    assert split_examples(many[:59], VAL, None)["test"][0].example in VAL  # too few to take from
    assert {given.place[:8] for given in split_examples(many, None, None)["test"]} == {"trainset"}
    repeated = split_examples(TRAIN, [VAL[0]] * 6, None)  # nothing to halve: equal inputs stay together
    assert len(repeated["val"]) == len(repeated["test"]) == 6
    for of_split in split_examples(TRAIN, None, None).values():  # its labels take turns
        assert {given.example.label for given in of_split} == {"Number", "Person"}


def test_an_example_is_drawn_from_or_judged_by_and_not_both() -> None:
    splits = split_examples(TRAIN, TRAIN, VAL)
    drawn, judged = ({given.example.question for given in splits[name]} for name in ("train", "val"))
    assert not drawn & judged
    assert drawn | judged == {one.question for one in TRAIN}
    assert abs(len(drawn) - len(judged)) <= 1
    with pytest.raises(DataError, match=r"20 of 20 examples of the testset .*testset\[0\] is valset\[0\]"):
        split_examples(TRAIN, VAL, VAL)


@pytest.mark.usefixtures("report")
def test_a_better_program_of_the_same_kind_comes_back_with_its_run(tmp_path: Path) -> None:
    program = TwoSteps()
    better = compiled(program, tmp_path, None, (TRAIN, VAL, TEST), num_trials=4)
    assert program.dump_state() == TwoSteps().dump_state()
    assert type(better) is type(program)
    baseline, best = better.run.baseline.val, better.run.pick("knee").val
    assert baseline.sensitivity > best.sensitivity
    assert best.f1 >= baseline.f1
    assert manifest(better)["finish_reason"] in {"trials", "exhausted"}
    assert manifest(better)["calls"]["made"] > 0
    assert (better.run.path / "report.html").is_file()
    shares = better.sensitivity_by_step
    assert set(shares) == {"find_topic", "classify"}
    assert max(shares.values()) > 0
    offered = examples_offered(better)  # demonstrations go where it shakes
    assert {edit["step"] for edit in offered} == {step for step, share in shares.items() if share or step == "classify"}
    better.save(tmp_path / "better.json")
    loaded = TwoSteps()
    loaded.load(tmp_path / "better.json")
    with dspy.context(lm=keyword_lm()):
        assert [loaded(question=of.question) for of in TEST] == [better(question=of.question) for of in TEST]


def test_a_run_is_gone_on_with_nothing_is_asked_again_and_the_seed_decides(tmp_path: Path) -> None:
    make = chain_of_thought
    first = compiled(make(), tmp_path, num_trials=3, num_threads=4)
    for one in first.pareto_front:
        again = make()
        again.load(first.run.path / "programs" / f"{one.id}.json")
        assert again.dump_state() == one.program.dump_state()
    lm, heard = keyword_lm(), Listener()
    assert compiled(make(), tmp_path, lm, num_trials=3, num_threads=4).dump_state() == first.dump_state()
    assert n_calls(lm) == 0
    assert compiled(make(), tmp_path / "beside", num_trials=3, num_threads=4).dump_state() == first.dump_state()
    assert len(compiled(make(), tmp_path, heard=heard, num_trials=5).trial_logs) == 5
    assert not any("evaluated anew" in phase for phase in heard.phases)


def test_an_outage_raises_and_the_run_is_gone_on_with(tmp_path: Path) -> None:
    done = keyword_lm()
    with pytest.raises(ModelError, match="house is on fire"):
        compiled(predict(), tmp_path, keyword_lm(fails=100))
    better = compiled(predict(), tmp_path, done)
    assert n_calls(done) <= manifest(better)["calls"]["made"] - 60  # answers in flight at the outage may be lost


def test_a_program_that_never_gives_a_label_is_found_out_by_its_first_runs(tmp_path: Path) -> None:
    mumbling = keyword_lm(mumbles=" ")
    with pytest.raises(ModelError, match=r"none of the first 20 runs of the program ended in one of its labels"):
        compiled(predict(), tmp_path, mumbling)
    assert n_calls(mumbling) <= 40  # each is asked once more in JSON by DSPy's adapter


class Wise(dspy.ChainOfThought):
    """Knows, and need not think."""

    def forward(self, question: str) -> Any:
        answer = self.predict(question=question)
        answer.reasoning = "I know."
        return answer


@each("teacher", [None, Wise(Sort)])
def test_demonstrations_are_what_the_program_or_its_teacher_thought_on_the_way_to_the_right_answer(
    teacher: Any, tmp_path: Path
) -> None:
    options = {"hold_back": "none", "num_trials": 3, "teacher": teacher}
    better = compiled(chain_of_thought(), tmp_path / str(teacher is None), lm_of(ShownEngine()), FEW, **options)
    demos = [demo for candidate in better.front for demo in candidate.program.predict.demos]
    assert demos
    for demo in demos:
        assert demo["reasoning"] == ("I know." if teacher else demo["question"].split()[0])
        assert demo["label"] == next(one.label for one in TRAIN if one.question == demo["question"])
        assert demo["augmented"]


def test_free_text_is_measured_by_what_means_the_same(tmp_path: Path) -> None:
    def same(one: Any, other: Any) -> bool:
        return one[:3].lower() == other[:3].lower()

    topics = answered(TRAIN, "topic", lambda one: one.question[:4])
    sizes = {"num_trials": 4, "num_rephrasings": 6}
    sets = topics[:10], topics[10:]
    better = compiled(dspy.Predict(Topic), tmp_path, None, sets, equivalence=same, **sizes)
    baseline, best = better.run.baseline.val, better.run.pick("knee").val
    assert 0 < baseline.f1 < 1
    assert baseline.sensitivity > 0
    assert best.f1 == 1  # with a demonstration the keyword model says the topic however it is asked
    assert best.sensitivity == 0


def test_settings_usage_and_callbacks_are_those_of_the_caller(tmp_path: Path) -> None:
    calls = []

    class Count(dspy.utils.callback.BaseCallback):
        def on_lm_start(self, call_id: Any, instance: Any, inputs: Any) -> None:
            calls.append(call_id)

    lm = keyword_lm()
    with dspy.context(callbacks=[Count()], adapter=dspy.JSONAdapter()), dspy.track_usage() as usage:
        better = compiled(predict(), tmp_path, lm)
    assert len(calls) == n_calls(lm) > 0
    assert all(one.as_json for one in lm._engine_spec.seen)
    assert usage.get_total_tokens()["test/keywords"]["prompt_tokens"] == 10 * n_calls(lm)
    assert manifest(better)["calls"]["tokens"] <= 12 * n_calls(lm)


def test_a_language_model_rephrases_and_proposes(tmp_path: Path) -> None:
    with FakeServer() as server:
        writer = dspy.LM("openai/test", api_base=server.url, cache=False)
        better = compiled(predict(), tmp_path, prompt_model=writer, track_stats=False)
    assert not hasattr(better, "trial_logs")
    run = tmp_path / "run"
    written = {str(file.relative_to(run)): file.read_text(errors="ignore") for file in run.rglob("*.json")}
    assert json.loads(written["rephrasings.json"])["source"] == "dspy/openai/test"
    authors = {edit["provenance"]["author"] for edit in json.loads(written["proposals.json"])["edits"]}
    assert authors >= {"rules", "dspy/openai/test"}
    assert "sk-very-secret" not in "".join(written.values())


OTHER_LABEL = dspy.Example(question="who ?", label="Persona").with_inputs("question")
OF_THE_LABEL = r"valset\[20\]: label 'Persona' is none of the program's labels; did you mean 'Person'"


@each(
    "arguments, message",
    [
        ({"student": dspy.Predict("question -> topic")}, "no output of a class"),
        ({"student": "a prompt"}, "no dspy.Module"),
        ({"valset": [*VAL, OTHER_LABEL]}, OF_THE_LABEL),
        ({"trainset": [dspy.Example(question="who ?", label="Person")]}, "with_inputs"),
        ({"trainset": TRAIN[:1], "valset": None}, "give a valset"),
        ({"trainset": pd.DataFrame({"question": ["who ?"]})}, "trainset is a DataFrame: give a list of dspy.Example"),
        ({"teacher": "gpt"}, "the teacher is no dspy.Module but a str"),
        ({"num_threads": -1}, "num_threads must be a whole number"),
        ({"minibatch_size": 25}, "minibatch_size means nothing to SensitivityOptimizer: racing decides"),
        ({"num_trails": 4}, "compile does not know num_trails; did you mean 'num_trials'"),
        # arguments of the optimizer itself
        ({"auto": "huge"}, "auto must be one of"),
        ({"num_rephrasings": 1}, "num_rephrasings"),
        ({"label_field": "labels"}, "no step has such an output, and no example such a field; did you mean 'label'"),
        ({"pick": "knea"}, "did you mean 'knee'"),
        ({"equivalence": "same"}, "equivalence must be a function of two answers, not 'same'"),
        ({"lm": "openai/x"}, "name the model with task_model"),
        ({"task_model": 3}, "task_model must be a name or a dspy.LM, not 3"),
        ({"judge_model": 3}, "judge_model must be a name or a dspy.LM, not 3"),
        ({"cache_dir": 3}, "cache_dir must be a path, not 3"),
        ({"log_dir": 3}, "log_dir must be a path, not 3"),
        ({"heldout_from": 3}, "heldout_from takes wordings, or the path of a file that holds them, not 3"),
        ({"callbacks": ["nope:x"]}, "^tracker nope:x: importing nope failed"),
        ({"callbacks": "mlflow:"}, "^tracker mlflow:: an experiment follows"),
        ({"answers": "ordinal", "order": ["Number"]}, "not in the order"),
        ({"order": ["Number", "Person"]}, "answers='ordinal'"),
        ({"answers": "ordinal", "order": ["Number", "Person"], "metric": lambda *_: 1.0}, "give one of them"),
        ({"heldout_from": ["Say what is asked for."]}, "heldout_from needs 2 wordings or more"),
        ({"storage": "st.db"}, r"no URL: write sqlite:///st.db"),
        ({"metric": lambda example: 1.0}, "psopt calls it with an example and a prediction"),
    ],
)
def test_what_cant_be_compiled_is_told_before_any_call(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    lm = keyword_lm()
    given = {"log_dir": tmp_path / "run", "student": predict(), "trainset": TRAIN, "valset": VAL, **arguments}
    own = {name: given.pop(name) for name in SensitivityOptimizer.__dataclass_fields__ if name in given}
    with dspy.context(lm=lm), pytest.raises(InputError, match=message):
        SensitivityOptimizer(**own).compile(given.pop("student"), **given)
    assert n_calls(lm) == 0
    assert not (tmp_path / "run").exists()


def test_without_a_language_model_nothing_is_compiled(tmp_path: Path) -> None:
    with dspy.context(lm=None), pytest.raises(InputError, match="no language model"):
        SensitivityOptimizer(log_dir=tmp_path / "run").compile(predict(), trainset=TRAIN, valset=VAL)


def test_ordered_labels_are_compared_by_how_near_they_are(tmp_path: Path) -> None:
    better = compiled(predict(), tmp_path, answers="ordinal", order=["Person", "Number"])
    assert manifest(better)["answers"] == {"type": "ordinal", "positions": [0.0, 1.0]}
    assert manifest(better)["dataset"]["order"] == ["Person", "Number"]
    scores = better.run.baseline.val
    # of two labels, one as far from the other as can be, closeness is the share of right answers
    assert scores.f1 == pytest.approx(scores.ordinal.micro_f1)
    assert 0 < scores.f1 < 1
