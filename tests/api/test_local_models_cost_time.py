"""A model that answers here costs time: runs are light, a few answers are timed, and limits hold."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psopt
import pytest
from psopt import LMConfig, Task
from psopt.api import plan_run
from psopt.errors import BudgetReachedError, InputError, ModelError
from psopt.models import AnswerCache, Capabilities
from psopt.models.chat import kept_rate
from psopt.models.minilm import MiniLM
from psopt.models.sim import SimulatedModel
from psopt.runs import RunSettings
from psopt.runs.planning import effort_for
from psopt.search import Observer
from psopt.search_spaces import Example
from psopt.settings import DataOptions, SizeOptions

from tests.cli.limited_runs import own_words
from tests.models.tiny_lm import make_network, save_model
from tests.sweeps import each

N = 60
TASK = Task.from_records(
    [
        {"text": f"what is {own_words(place * N + i)} called ?", "label": "ab"[i % 2] * 3, "split": split}
        for place, split in enumerate(("train", "val", "test"))
        for i in range(N)
    ]
)
TRUTH = {sample.text: sample.label for split in (TASK.train, TASK.val, TASK.test) for sample in split}
LONGER = ", fewer where edits make prompts long"


class Stopped(Exception):  # noqa: N818  # no error
    """What there is to see has been seen."""


class Listener(Observer):
    """Keeps what it is told, and ends the run once that has begun."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def started(self, task: Task, folder: Path) -> None:  # `Observer`'s
        raise Stopped

    def phase(self, what: str) -> None:
        self.told.append(what)


class LocalModel:
    """Answers by a hash, at the pace of a clock that stands still otherwise; is loaded for its first answer."""

    name = "mine/local"
    capabilities = Capabilities()

    def __init__(self, per_second: float = 14.0, loading: float = 40.0) -> None:
        self.now = 0.0
        self.asked: list[int] = []
        self._each = 1 / per_second
        self._loading = loading

    def predict(self, prompts: Sequence[Any], texts: Sequence[str], on_progress: Any = None) -> Any:
        n = len(prompts) * len(texts)
        self.now += n * self._each + (self._loading if not self.asked else 0)
        self.asked.append(n)
        rows = [[(len(text) + len(prompt.description)) % 3 == 0 for prompt in prompts] for text in texts]
        return np.array(rows, dtype=np.int64).reshape(len(texts), len(prompts))


class CachedModel(LocalModel):
    """Has all its answers in a cache already."""

    computed = 0


FEW: Any = {"samples": 20, "rephrasings": 2, "test_samples": 20, "heldout": 2, "rounds": 1, "race": "off"}


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """What is told before the search begins, by the clock of a model."""

    def told(model: LocalModel, **options: Any) -> list[str]:
        listener = Listener()
        (tmp_path / "cache").mkdir(exist_ok=True)
        monkeypatch.setattr("psopt.api._planning.perf_counter", lambda: model.now)
        given = {"out": tmp_path / "run", "cache_dir": tmp_path / "cache", **options}
        with pytest.raises(Stopped):
            psopt.optimize(TASK, model=model, observer=listener, **given)
        return listener.told

    return told


@each("model", [LocalModel(), lambda _: "aaa", "openai/test"])
def test_what_costs_time_or_money_is_a_light_run(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    settings = RunSettings(DataOptions("data.csv"), "openai/test")
    plan = plan_run(TASK, settings, SizeOptions(), tmp_path, model=model)
    assert (plan.effort, plan.limits.calls) == ("light", 5000)
    if isinstance(model, LocalModel):
        assert model.asked == []


def test_the_embedded_ones_answer_everything() -> None:
    for model in (MiniLM, SimulatedModel):
        assert effort_for(None, LMConfig(), is_free=model.capabilities.is_free) == "full"
        assert not model.capabilities.costs_time


def test_answers_that_the_run_asks_for_anyway_are_timed(timed: Any, tmp_path: Path) -> None:
    model, cached = LocalModel(), CachedModel(per_second=1e6)
    assert timed(cached, out=tmp_path / "1") == ["timing a few answers of mine/local"]
    told = timed(model)
    # One for which the model is loaded; 8 take .57 s, which is over too soon, and 16 take 1.14 s.
    assert model.asked == [1, 8, 16]
    plan = json.loads((tmp_path / "run" / "run.json").read_text())["plan"]
    minutes = plan["calls"] / (14 * 60)
    how_long = f"about {minutes:.0f} to {2.5 * minutes:.0f} minutes: 14 answers per second{LONGER}"
    assert told[:2] == ["timing a few answers of mine/local", how_long]
    rate = kept_rate(AnswerCache(tmp_path / "cache"), "mine/local", None)
    assert rate
    assert rate.per_minute == pytest.approx(840)
    assert timed(cached, out=tmp_path / "2") == told  # the rate that was measured before


@pytest.mark.parametrize(
    ("per_second", "options", "how_long", "shorter"),
    [
        (10, {}, rf"minutes: 10 answers per second{LONGER}$", ["within five minutes: --max-calls 1200"]),
        (
            10,
            {"effort": "full"},
            rf": 10 answers per second{LONGER}$",
            ["within five minutes: --max-calls 1200 and no --effort"],
        ),
        (1, {"max_calls": 900}, rf"minutes: 60 answers per minute{LONGER}$", []),  # it is the smallest
        (0.2, {"max_calls": 930}, rf"hours: 12 answers per minute{LONGER}$", []),  # hardly longer than the smallest
        (5, {"max_calls": 300}, r"^about 1 to [23] minutes: 5 answers per second", []),  # as long as that allows
    ],
)
def test_it_is_said_how_long_a_run_takes_and_what_fits_in_five_minutes(
    timed: Any, per_second: float, options: dict[str, Any], how_long: str, shorter: list[str]
) -> None:
    _, told, *more = timed(LocalModel(per_second), **options)
    assert re.search(how_long, told), told
    assert more == shorter


def test_a_limit_holds_also_over_resume_and_pays_the_final_test(tmp_path: Path) -> None:
    model = f"hf/{save_model(tmp_path / 'model')}"
    options: Any = {"out": tmp_path / "run", "cache_dir": tmp_path / "cache", "max_calls": 200, **FEW}
    for trials in (30, 40):
        with pytest.raises(BudgetReachedError, match="max_calls=200 is reached"):
            psopt.optimize(TASK, model=model, trials=trials, resume=trials == 40, **options)
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["calls"]["made"] <= 200
    assert run["baseline"]["test"]


@pytest.fixture(scope="module")
def short_sighted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that reads 270 tokens."""
    network = make_network(max_position_embeddings=270)
    return f"hf/{save_model(tmp_path_factory.mktemp('hf') / 'model', network=network)}"


def test_a_search_tries_nothing_that_its_model_can_not_read(tmp_path: Path, short_sighted: str) -> None:
    """With all examples the prompt would be too long for it: what fits is tried, and the run comes to its end."""
    sizes: dict[str, Any] = {"trials": 4, "rounds": 1, "samples": 12, "test_samples": 12, "rephrasings": 2}
    run = psopt.optimize(TASK, model=short_sighted, out=tmp_path / "run", heldout=2, **sizes)
    trials = run.trials_frame()
    assert (trials.state == "complete").sum() == 4
    assert max(map(len, trials.edits[trials.state == "complete"])) > 1
    eight = tuple(Example(sample.text, str(sample.label)) for sample in TASK.train[:8])
    with pytest.raises(ModelError, match="exceed the 270 tokens"):
        psopt.measure(TASK, replace(run.baseline.prompt, examples=eight), model=short_sighted, rephrasings=2)


@each("split", ["train", "val", "test"])
def test_a_sample_that_no_prompt_can_be_asked_about_is_named_before_the_search(
    tmp_path: Path, short_sighted: str, split: str
) -> None:
    splits = {name: getattr(TASK, name) for name in ("train", "val", "test")}
    splits[split] = (replace(splits[split][0], id="the-long-one", text="what is it " * 300), *splits[split][1:])
    whole = {**FEW, "trials": 2, "samples": N, "test_samples": N}
    with pytest.raises(
        InputError, match=r"sample the-long-one, of 3,300 characters, is longer .* than the model reads"
    ):
        psopt.optimize(replace(TASK, **splits), model=short_sighted, out=tmp_path / split, **whole)
    assert not (tmp_path / split).exists()


def asked_beside(folder: Path) -> dict[str, Any]:
    """Wordings of people, and probes: what a user can ask for beside the search."""
    (folder / "people.txt").write_text("Say what the text is.\n\nWhich of the two is it?\n\nName its kind.\n")
    rows = [json.dumps({"text": f"what is {i} ?", "label": "ab"[i % 2] * 3}) for i in range(30)]
    (folder / "probes.jsonl").write_text("\n".join(rows))
    return {"heldout_from": folder / "people.txt", "probe": str(folder / "probes.jsonl"), "out": folder / "run"}


class OneSided(LocalModel):
    """Answers "aaa" to everything, and knows better: without the label prior it is right."""

    capabilities = Capabilities(has_probabilities=True, has_label_prior=True)

    def predict(self, prompts: Sequence[Any], texts: Sequence[str], on_progress: Any = None) -> Any:
        return self.predict_proba(prompts, texts).argmax(axis=2)

    def predict_proba(self, prompts: Sequence[Any], texts: Sequence[str], _: Any = None) -> Any:
        super().predict(prompts, texts)
        of_a = [[0.9 if TRUTH.get(text) == "aaa" else 0.55] * len(prompts) for text in texts]
        return np.stack([of_a, 1 - np.array(of_a), np.zeros_like(of_a)], axis=2)


def test_a_limit_pays_for_wordings_of_others_and_for_probes_with_their_label_priors(tmp_path: Path) -> None:
    with pytest.raises(BudgetReachedError):
        psopt.optimize(TASK, model=OneSided(), max_calls=1200, **asked_beside(tmp_path))
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["recommended"]["verdict"] == "better"
    assert {"after", "before"} <= set(run["other_wordings"]["differences"]["f1"])
    assert run["probe"]["recommended"]["f1"] >= 0
