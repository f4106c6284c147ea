"""`SensitivityOptimizer` in DSPy programs, with a language model that shakes."""

from __future__ import annotations

import asyncio
import enum
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

dspy: Any = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

from psopt import SensitivityOptimizer  # noqa: E402
from psopt.dspy_programs._examples import split_examples  # noqa: E402
from psopt.errors import DataError, InputError, ModelError  # noqa: E402

from tests.dspy_programs.keyword_lm import ShownEngine, keyword_lm, n_calls  # noqa: E402
from tests.dspy_programs.programs_to_mend import chain_of_thought, examples, predict, two_steps  # noqa: E402
from tests.fake_server import FakeServer  # noqa: E402

TRAIN, VAL, TEST = examples(0, 5), examples(5, 5), examples(10, 5)
ROOT = Path(__file__).parent.parent.parent


def compiled(program: Any, tmp_path: Path, lm: Any = None, compile_with: Any = None, **options: Any) -> Any:
    """Compile with few examples, which would let nothing pass the gate: the knee, unless the options say otherwise."""
    given = {"num_trials": 4, "num_rephrasings": 3, "log_dir": tmp_path / "run", "num_threads": 2, "gate": "off"}
    with dspy.context(lm=lm or keyword_lm()):
        optimizer = SensitivityOptimizer(**{**given, **options})
        return optimizer.compile(program, trainset=TRAIN, valset=VAL, **{"testset": TEST[:6], **(compile_with or {})})


def test_without_proof_the_program_that_was_given_comes_back_and_the_front_beside_it(tmp_path: Path) -> None:
    program = predict()
    better = compiled(program, tmp_path, num_trials=3, gate="sure", compile_with={"testset": TEST[:4]})
    assert better.run.recommendation.verdict.verdict == "keep"
    assert better.run.recommended.id == better.run.baseline.id
    assert better.signature.instructions == program.signature.instructions
    assert better.front is better.pareto_front
    assert {candidate.id for candidate in better.front} == {candidate.id for candidate in better.run.front}


def test_without_a_testset_a_half_of_the_valset_is_set_aside() -> None:
    splits = split_examples(TRAIN, VAL, None)
    questions = {name: [given.example.question for given in of_split] for name, of_split in splits.items()}
    assert sorted(questions["val"] + questions["test"]) == sorted(example.question for example in VAL)
    assert abs(len(splits["val"]) - len(splits["test"])) <= 1
    assert split_examples(TRAIN, VAL, None) == splits
    assert all(given == (VAL[int(given.place[7:-1])], given.place) for given in splits["test"])
    assert [given.example for given in split_examples(TRAIN, VAL, TEST)["val"]] == VAL


def test_an_example_is_drawn_from_or_judged_by_and_not_both() -> None:
    splits = split_examples(TRAIN, TRAIN, VAL)
    questions = {name: {given.example.question for given in split} for name, split in splits.items()}
    assert not questions["train"] & questions["val"]
    assert questions["train"] | questions["val"] == {one.question for one in TRAIN}
    assert abs(len(questions["train"]) - len(questions["val"])) <= 1
    with pytest.raises(DataError, match=r"20 of 20 examples of the testset .*testset\[0\] is valset\[0\]"):
        split_examples(TRAIN, VAL, VAL)


def test_of_many_train_examples_a_third_is_set_aside_and_the_valset_stays_whole() -> None:
    train = [dspy.Example(question=f"question {i} ?", label="Person").with_inputs("question") for i in range(90)]
    splits = split_examples(train, VAL, None)
    assert [given.example for given in splits["val"]] == VAL
    assert (len(splits["train"]), len(splits["test"])) == (60, 30)
    places = {given.place for name in ("train", "test") for given in splits[name]}
    assert places == {f"trainset[{i}]" for i in range(90)}
    assert split_examples(train[:59], VAL, None)["test"][0].example in VAL  # too few to take from
    assert {given.place[:8] for given in split_examples(train, None, None)["test"]} == {"trainset"}


@pytest.mark.usefixtures("report")
@pytest.mark.parametrize("make", [chain_of_thought, two_steps])
def test_a_better_program_of_the_same_kind_comes_back_and_lives_on_in_another_process(
    make: Any, tmp_path: Path
) -> None:
    program = make()
    before = program.dump_state()
    better = compiled(program, tmp_path, compile_with={"testset": TEST})
    assert program.dump_state() == before
    assert type(better) is type(program)
    assert better.run.baseline.val.sensitivity > 0
    assert better.run.pick().val.sensitivity < better.run.baseline.val.sensitivity
    assert better.run.pick().val.f1 >= better.run.baseline.val.f1
    assert {one.id for one in better.pareto_front} == {one.id for one in better.run.front}
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["finish_reason"] in {"trials", "exhausted"}
    assert run["calls"]["made"] > 0
    assert (tmp_path / "run" / "report.html").is_file()
    for one in better.pareto_front:
        again = make()
        again.load(tmp_path / "run" / "programs" / f"{one.id}.json")
        assert again.dump_state() == one.program.dump_state()
    better.save(tmp_path / "better.json")
    with dspy.context(lm=keyword_lm()):
        here = [better(question=one.question).label for one in TEST]
    script = (
        "import json, sys, dspy\n"
        f"sys.path[:0] = [{str(ROOT)!r}]\n"
        "from tests.dspy_programs.keyword_lm import keyword_lm\n"
        f"from tests.dspy_programs.programs_to_mend import examples, {make.__name__} as make\n"
        f"program = make(); program.load({str(tmp_path / 'better.json')!r})\n"
        "dspy.configure(lm=keyword_lm())\n"
        "print(json.dumps([program(question=one.question).label for one in examples(10, 5)]))\n"
    )
    there = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600)
    assert json.loads(there.stdout) == here


def test_a_finished_run_is_gone_on_with_and_nothing_is_asked_again(tmp_path: Path) -> None:
    first = compiled(chain_of_thought(), tmp_path, num_trials=3)
    lm = keyword_lm()
    again = compiled(chain_of_thought(), tmp_path, lm=lm, num_trials=3)
    assert n_calls(lm) == 0
    assert again.dump_state() == first.dump_state()


def test_an_outage_raises_and_the_run_is_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="house is on fire"):
        compiled(predict(), tmp_path, lm=keyword_lm(fails=200))
    done = keyword_lm()
    compiled(predict(), tmp_path, lm=done)
    whole = keyword_lm()
    compiled(predict(), tmp_path / "whole", lm=whole)
    assert n_calls(done) <= n_calls(whole) - 190


def test_an_answer_that_can_t_be_parsed_is_n_a_and_no_failure(tmp_path: Path) -> None:
    better = compiled(predict(), tmp_path, lm=keyword_lm(mumbles="name of"), num_trials=3)
    assert better.run.baseline.val.na_rate == pytest.approx(0.25)


def test_a_program_that_never_gives_a_label_is_found_out_by_its_first_runs(tmp_path: Path) -> None:
    mumbling = keyword_lm(mumbles=" ")
    with pytest.raises(ModelError, match=r"none of the first 20 runs of the program ended in one of its labels"):
        compiled(predict(), tmp_path, lm=mumbling)
    assert n_calls(mumbling) <= 40  # each is asked once more in JSON by DSPy's adapter


def test_s_is_told_for_each_step_and_demonstrations_go_where_it_shakes(tmp_path: Path) -> None:
    better = compiled(two_steps(), tmp_path)
    shares = better.sensitivity_by_step
    assert set(shares) == {"find_topic", "classify"}
    assert max(shares.values()) > 0
    pool = json.loads((tmp_path / "run" / "proposals.json").read_text())["edits"]
    shown = [edit for edit in pool if edit["kind"] == "example"]
    assert {edit["step"] for edit in shown} == {step for step, share in shares.items() if share or step == "classify"}


def test_demonstrations_of_a_chain_of_thought_are_what_it_thought_on_the_way_to_the_right_answer(
    tmp_path: Path,
) -> None:
    lm = dspy.LM("test/shown", engine=ShownEngine(), cache=False, num_retries=0)
    better = compiled(chain_of_thought(), tmp_path, lm=lm, hold_back="none", num_trials=3, num_rephrasings=2)
    demos = [demo for candidate in better.front for demo in candidate.program.predict.demos]
    assert demos
    for demo in demos:
        assert demo["reasoning"] == demo["question"].split()[0]
        assert demo["label"] == next(one.label for one in TRAIN if one.question == demo["question"])
        assert demo["augmented"]


def test_a_teacher_gives_the_demonstrations(tmp_path: Path) -> None:
    class Wise(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.predict = dspy.Predict(chain_of_thought().predict.signature)

        def forward(self, question: str) -> Any:
            answer = self.predict(question=question)
            answer.reasoning = "I know."
            return answer

    better = compiled(chain_of_thought(), tmp_path, compile_with={"teacher": Wise()})
    assert better.run.finish_reason


def test_a_metric_takes_the_place_of_f1_and_s_stays_that_of_the_label(tmp_path: Path) -> None:
    def lenient(example: Any, prediction: Any, trace: Any = None) -> float:
        return 1.0 if prediction.label == example.label else 0.5

    plain = compiled(predict(), tmp_path / "a", num_trials=3)
    other = compiled(predict(), tmp_path / "b", num_trials=3, metric=lenient)
    f1 = plain.run.baseline.val.f1
    assert other.run.baseline.val.f1 == pytest.approx(f1 + (1 - f1) / 2)
    assert other.run.baseline.val.sensitivity == plain.run.baseline.val.sensitivity
    low, high = other.run.baseline.test.ci["f1"]
    assert low < other.run.baseline.test.f1 < high


def test_free_text_is_measured_by_what_means_the_same(tmp_path: Path) -> None:
    def same(one: Any, other: Any) -> bool:
        return one[:3].lower() == other[:3].lower()

    class Kind(dspy.Signature):
        """Say what it asks for."""

        question: str = dspy.InputField()
        topic: str = dspy.OutputField()

    given = [dspy.Example(question=one.question, topic=one.question[:4]).with_inputs("question") for one in TRAIN]
    optimizer = SensitivityOptimizer(
        num_trials=4, num_rephrasings=6, equivalence=same, label_field="topic", log_dir=tmp_path / "run", gate="off"
    )
    with dspy.context(lm=keyword_lm()):
        better = optimizer.compile(dspy.Predict(Kind), trainset=given[:10], valset=given[10:])
    baseline, best = better.run.baseline.val, better.run.pick().val
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
    with dspy.context(lm=lm, callbacks=[Count()], adapter=dspy.JSONAdapter()), dspy.track_usage() as usage:
        optimizer = SensitivityOptimizer(num_trials=3, num_rephrasings=2, log_dir=tmp_path / "run", num_threads=3)
        better = optimizer.compile(predict(), trainset=TRAIN, valset=VAL)
    assert len(calls) == n_calls(lm) > 0
    assert all(one.as_json for one in lm._engine_spec.seen)
    assert usage.get_total_tokens()["test/keywords"]["prompt_tokens"] == 10 * n_calls(lm)
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["calls"]["tokens"] <= 12 * n_calls(lm)
    assert better.run.baseline


def test_it_runs_in_a_thread_of_an_async_program_and_the_result_can_be_awaited(tmp_path: Path) -> None:
    async def main() -> Any:
        with dspy.context(lm=keyword_lm()):
            optimizer = SensitivityOptimizer(num_trials=3, num_rephrasings=2, log_dir=tmp_path / "run")
            better = await asyncio.to_thread(optimizer.compile, predict(), trainset=TRAIN, valset=VAL)
            return await better.acall(question="who is it ?")

    assert asyncio.run(main()).label == "Person"


def test_a_language_model_rephrases_and_proposes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    with FakeServer() as server:
        writer = dspy.LM("openai/test", api_base=server.url, cache=False)
        compiled(predict(), tmp_path, prompt_model=writer, num_trials=4)
    rephrasings = json.loads((tmp_path / "run" / "rephrasings.json").read_text())
    assert rephrasings["source"] == "dspy/openai/test"
    authors = {
        edit["provenance"]["author"] for edit in json.loads((tmp_path / "run" / "proposals.json").read_text())["edits"]
    }
    assert authors >= {"rules", "dspy/openai/test"}
    assert "sk-very-secret" not in "".join(
        path.read_text(errors="ignore") for path in (tmp_path / "run").rglob("*.json")
    )


def test_the_same_seed_gives_the_same_program(tmp_path: Path) -> None:
    one, other = (
        compiled(chain_of_thought(), tmp_path / name, num_threads=4, num_trials=3, num_rephrasings=2) for name in "ab"
    )
    assert one.dump_state() == other.dump_state()


class Kind(enum.Enum):
    COUNT = "a count"
    WHO = "who"


def of_kind(kind: str) -> Any:
    fields = {"question": (str, dspy.InputField()), "verdict": (kind, dspy.OutputField())}
    return dspy.Predict(dspy.Signature(fields, "Judge the question."))


@pytest.mark.parametrize(("kind", "values"), [(Kind, (Kind.COUNT, Kind.WHO)), (bool, (True, False))])
def test_enums_and_truth_values_are_classes(tmp_path: Path, kind: Any, values: Any) -> None:
    given = [
        dspy.Example(question=one.question, verdict=values[one.label == "Person"]).with_inputs("question")
        for one in TRAIN
    ]
    with dspy.context(lm=keyword_lm()):
        better = SensitivityOptimizer(num_trials=3, num_rephrasings=4, log_dir=tmp_path / "run").compile(
            of_kind(kind), trainset=given
        )
    assert 0.5 < better.run.baseline.val.f1 <= 1


BAD = {
    "no output of a class": ({"student": dspy.Predict("question -> topic")}, "no output of a class"),
    "no predictor": ({"student": type("Empty", (dspy.Module,), {})()}, "no predictor"),
    "no module": ({"student": "a prompt"}, "no dspy.Module"),
    "empty valset": ({"valset": []}, "valset is empty"),
    "empty trainset": ({"trainset": []}, "trainset is empty"),
    "unknown label": (
        {"valset": [*VAL, dspy.Example(question="who ?", label="Persona").with_inputs("question")]},
        r"valset\[20\]: label 'Persona' is none of the program's labels; did you mean 'Person'",
    ),
    "no label": ({"trainset": [dspy.Example(question="who ?").with_inputs("question")]}, "has no 'label'"),
    "no inputs set": ({"trainset": [dspy.Example(question="who ?", label="Person")]}, "with_inputs"),
    "no examples": ({"trainset": [("who ?", "Person")]}, "no dspy.Example"),
    "one example and no valset": ({"trainset": TRAIN[:1], "valset": None}, "give a valset"),
    "unknown argument": ({"metrik": 1}, "metrik"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_told_before_any_call(what: Any, tmp_path: Path) -> None:
    given, message = BAD[what]
    lm = keyword_lm()
    arguments = {"student": predict(), "trainset": TRAIN, "valset": VAL, **given}
    with dspy.context(lm=lm), pytest.raises(InputError, match=message):
        SensitivityOptimizer(num_trials=3, num_rephrasings=4, log_dir=tmp_path / "run").compile(
            arguments.pop("student"), **arguments
        )
    assert n_calls(lm) == 0
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auto": "huge"}, "auto must be one of"),
        ({"num_trials": 0}, "num_trials"),
        ({"num_rephrasings": 1}, "num_rephrasings"),
        ({"label_field": "colour"}, "label_field 'colour'"),
        ({"metric": lambda example, prediction: "good"}, "the metric returned 'good'"),
        ({"metric": lambda example, prediction: 7}, "the metric returned 7"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        compiled(predict(), tmp_path, **options)


def test_without_a_language_model_nothing_is_tried(tmp_path: Path) -> None:
    with dspy.context(lm=None), pytest.raises(InputError, match="no language model"):
        SensitivityOptimizer(num_trials=3, num_rephrasings=4, log_dir=tmp_path / "run").compile(
            predict(), trainset=TRAIN, valset=VAL
        )


def test_ordered_labels_are_compared_by_how_near_they_are(tmp_path: Path) -> None:
    better = compiled(predict(), tmp_path, num_trials=3, answers="ordinal", order=["Person", "Number"])
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["answers"] == {"type": "ordinal", "positions": [0.0, 1.0]}
    assert run["dataset"]["order"] == ["Person", "Number"]
    scores = better.run.baseline.val
    assert scores.quality_name == "closeness"
    # of two labels, one as far from the other as can be, closeness is the share of right answers
    assert scores.f1 == pytest.approx(scores.ordinal.micro_f1)
    assert 0 < scores.f1 < 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"answers": "ordinal"}, "say the order"),
        ({"answers": "ordinal", "order": ["Number"]}, "not in the order"),
        ({"order": ["Number", "Person"]}, "answers='ordinal'"),
        ({"answers": "ordinal", "order": ["Number", "Person"], "metric": lambda *_: 1.0}, "give one of them"),
    ],
)
def test_labels_that_make_no_order_are_refused(tmp_path: Path, options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        compiled(predict(), tmp_path, num_trials=3, **options)
