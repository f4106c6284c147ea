"""A model that answers here costs time: runs are light, a few answers are timed, and limits hold."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import psopt
import pytest
from psopt import LMConfig, Task
from psopt.api import plan_run
from psopt.errors import BudgetReachedError, InputError, ModelError
from psopt.models import Capabilities
from psopt.models.minilm import MiniLM
from psopt.models.sim import SimulatedModel
from psopt.runs import RunSettings
from psopt.runs.planning import effort_for
from psopt.search import Observer
from psopt.search_spaces import Example
from psopt.settings import DataOptions, SizeOptions

from tests.cli.limited_runs import own_words
from tests.models.tiny_lm import make_network, save_model

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    """Keeps what it is told, and on request ends the run once that has begun."""

    def __init__(self, *, stops: bool = True) -> None:
        self.told: list[str] = []
        self.stops = stops

    def started(self, task: Task, folder: Path) -> None:  # `Observer`'s
        if self.stops:
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


def optimize(
    monkeypatch: pytest.MonkeyPatch, folder: Path, model: LocalModel, listener: Listener, **options: Any
) -> Any:
    (folder / "cache").mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr("psopt.api._planning.perf_counter", lambda: model.now)
    options = {"out": folder / "run", **options}
    return psopt.optimize(TASK, model=model, cache_dir=folder / "cache", observer=listener, **options)


def timed(monkeypatch: pytest.MonkeyPatch, folder: Path, model: LocalModel, **options: Any) -> list[str]:
    """What is told before the search begins."""
    listener = Listener()
    with pytest.raises(Stopped):
        optimize(monkeypatch, folder, model, listener, **options)
    return listener.told


@pytest.mark.parametrize("model", [LocalModel(), lambda _: "aaa", "openai/test"])
def test_what_costs_time_or_money_is_a_light_run(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    settings = RunSettings(DataOptions("data.csv"), "openai/test")
    plan = plan_run(TASK, settings, SizeOptions(), tmp_path, model=model)
    assert (plan.effort, plan.limits.calls) == ("light", 5000)
    if isinstance(model, LocalModel):
        assert model.asked == []


@pytest.mark.parametrize(
    ("can", "effort"),
    [
        (MiniLM.capabilities, "full"),
        (SimulatedModel.capabilities, "full"),
        (Capabilities(has_probabilities=True), "light"),
    ],
)
def test_the_embedded_ones_answer_everything(can: Capabilities, effort: str) -> None:
    assert effort_for(None, LMConfig(), is_free=can.is_free) == effort
    assert can.costs_time == (effort == "light")


def test_answers_that_the_run_asks_for_anyway_are_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = LocalModel(per_second=14.0)
    told = timed(monkeypatch, tmp_path, model)
    # One for which the model is loaded; 8 take .57 s, which is over too soon, and 16 take 1.14 s.
    assert model.asked == [1, 8, 16]
    plan = json.loads((tmp_path / "run" / "run.json").read_text())["plan"]
    minutes = plan["calls"] / (14 * 60)
    how_long = f"about {minutes:.0f} to {2.5 * minutes:.0f} minutes: 14 answers per second{LONGER}"
    assert told[:2] == ["timing a few answers of mine/local", how_long]
    assert json.loads((tmp_path / "cache" / "rates.json").read_text())["mine/local"]["per_minute"] == pytest.approx(840)


def test_of_a_long_run_it_is_said_what_fits_in_five_minutes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    *_, how_long, shorter = timed(monkeypatch, tmp_path, LocalModel(per_second=10.0))
    assert how_long.endswith(f"minutes: 10 answers per second{LONGER}")
    assert shorter == "within five minutes: --max-calls 1200"


def test_of_a_run_that_is_the_smallest_no_smaller_one_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = timed(monkeypatch, tmp_path, LocalModel(per_second=1.0), max_calls=900)
    assert len(told) == 2
    assert told[-1].endswith(f"minutes: 60 answers per minute{LONGER}")


def test_a_run_that_its_limit_stops_takes_as_long_as_that_allows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = timed(monkeypatch, tmp_path, LocalModel(per_second=5.0), max_calls=300)
    assert len(told) == 2
    assert re.match(r"about 1 to [23] minutes: 5 answers per second", told[1]), told[1]


def test_a_run_that_is_asked_for_in_full_is_timed_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    *_, how_long, shorter = timed(monkeypatch, tmp_path, LocalModel(per_second=10.0), effort="full")
    assert how_long.endswith(f": 10 answers per second{LONGER}")
    assert shorter == "within five minutes: --max-calls 1200 and no --effort"


def test_of_cached_answers_the_rate_that_was_measured_before_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cached = CachedModel(per_second=1e6)
    assert timed(monkeypatch, tmp_path, cached, out=tmp_path / "1") == ["timing a few answers of mine/local"]
    first = timed(monkeypatch, tmp_path, LocalModel(per_second=14.0), out=tmp_path / "2")
    assert timed(monkeypatch, tmp_path, cached, out=tmp_path / "3") == first


def test_a_limit_holds_and_pays_the_final_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = LocalModel()
    few = {"samples": 20, "rephrasings": 2, "test_samples": 20, "heldout": 2, "rounds": 1, "race": "off"}
    with pytest.raises(BudgetReachedError, match="--max-calls 400 is reached"):
        optimize(monkeypatch, tmp_path, model, Listener(stops=False), trials=40, lm=LMConfig(max_calls=400), **few)
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["calls"]["made"] == sum(model.asked) <= 900
    assert run["baseline"]["test"]


def test_a_limit_holds_over_resume(tmp_path: Path) -> None:
    model = f"hf/{save_model(tmp_path / 'model')}"
    few = {"samples": 20, "rephrasings": 2, "test_samples": 20, "heldout": 2, "rounds": 1, "race": "off"}
    options: Any = {"out": tmp_path / "run", "cache_dir": tmp_path / "cache", "max_calls": 400, **few}
    for trials in (30, 40):
        with pytest.raises(BudgetReachedError, match="--max-calls 400 is reached"):
            psopt.optimize(TASK, model=model, trials=trials, resume=trials == 40, **options)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["calls"]["made"] <= 400


def test_a_limit_that_pays_nothing_is_refused_before_the_first_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = LocalModel()
    with pytest.raises(InputError, match="can't pay the original prompt on val and the final test: at least"):
        optimize(monkeypatch, tmp_path, model, Listener(), lm=LMConfig(max_calls=50))
    assert model.asked == []
    assert not (tmp_path / "run").exists()


def test_a_search_tries_nothing_that_its_model_can_not_read(tmp_path: Path) -> None:
    """With all examples the prompt would be too long for it: what fits is tried, and the run comes to its end."""
    model = f"hf/{save_model(tmp_path / 'model', network=make_network(max_position_embeddings=270))}"
    sizes: dict[str, Any] = {"trials": 4, "rounds": 1, "samples": 12, "test_samples": 12, "rephrasings": 2}
    run = psopt.optimize(TASK, model=model, out=tmp_path / "run", heldout=2, **sizes)
    trials = run.trials_frame()
    assert (trials.state == "complete").sum() == 4
    assert max(map(len, trials.edits[trials.state == "complete"])) > 1
    eight = tuple(Example(sample.text, str(sample.label)) for sample in TASK.train[:8])
    with pytest.raises(ModelError, match="exceed the 270 tokens"):
        psopt.measure(TASK, replace(run.baseline.prompt, examples=eight), model=model, rephrasings=2)


class OneSided(LocalModel):
    """Answers "aaa" to everything, and knows better: without the label prior it is right."""

    capabilities = Capabilities(has_probabilities=True, has_label_prior=True)

    def predict(self, prompts: Sequence[Any], texts: Sequence[str], on_progress: Any = None) -> Any:
        return self.predict_proba(prompts, texts).argmax(axis=2)

    def predict_proba(self, prompts: Sequence[Any], texts: Sequence[str], _: Any = None) -> Any:
        super().predict(prompts, texts)
        of_a = [[0.9 if TRUTH.get(text) == "aaa" else 0.55] * len(prompts) for text in texts]
        return np.stack([of_a, 1 - np.array(of_a), np.zeros_like(of_a)], axis=2)


def test_a_limit_pays_for_wordings_of_others_and_for_probes_with_the_label_priors_that_they_take(
    tmp_path: Path,
) -> None:
    (tmp_path / "people.txt").write_text("Say what the text is.\n\nWhich of the two is it?\n\nName its kind.\n")
    rows = [json.dumps({"text": f"what is {i} ?", "label": "ab"[i % 2] * 3}) for i in range(30)]
    (tmp_path / "probes.jsonl").write_text("\n".join(rows))
    given: dict[str, Any] = {"heldout_from": tmp_path / "people.txt", "probe": str(tmp_path / "probes.jsonl")}
    with pytest.raises(BudgetReachedError):
        psopt.optimize(TASK, model=OneSided(), max_calls=1100, out=tmp_path / "run", **given)
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["recommended"]["verdict"] == "better"
    assert {"after", "before"} <= set(run["other_wordings"]["differences"]["f1"])
    assert run["probe"]["recommended"]["f1"] >= 0


class Trading(LocalModel):
    """The more is added to the prompt, the more answers are right, and the more of them hang on its wording."""

    def predict(self, prompts: Sequence[Any], texts: Sequence[str], on_progress: Any = None) -> Any:
        super().predict(prompts, texts)
        answers = [[self._answer(prompt, text) for prompt in prompts] for text in texts]
        return np.array(answers, dtype=np.int64)

    def _answer(self, prompt: Any, text: str) -> int:
        n_added = len(prompt.notes) + len(prompt.definitions) + len(prompt.examples)
        is_wrong = zlib.crc32(text.encode()) % 100 < max(0, 45 - 6 * n_added)
        is_flipped = zlib.crc32((text + prompt.description).encode()) % 100 < 2 + 2 * n_added
        return int(TRUTH.get(text) == "bbb") ^ is_wrong ^ is_flipped


def test_a_large_front_is_tested_after_what_the_user_has_asked_for(tmp_path: Path) -> None:
    rows = [json.dumps({"text": f"what is {i} ?", "label": "ab"[i % 2] * 3}) for i in range(30)]
    (tmp_path / "probes.jsonl").write_text("\n".join(rows))
    (tmp_path / "people.txt").write_text("Say what the text is.\n\nWhich of the two is it?\n\nName its kind.\n")
    given: dict[str, Any] = {"heldout_from": tmp_path / "people.txt", "probe": str(tmp_path / "probes.jsonl")}
    psopt.optimize(TASK, model=Trading(), max_calls=3000, race="off", out=tmp_path / "run", **given)
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert len([member for member in run["front"] if not member["test"]]) == 1
    assert run["other_wordings"]
    assert run["probe"]
