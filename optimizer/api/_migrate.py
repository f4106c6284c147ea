"""`psopt.migrate`: a run's prompt on another model, what breaks there, and a search for a prompt that works there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.api._optimize import run as run_settings
from psopt.api._optimize import run_folder
from psopt.api._planning import estimate_run
from psopt.api._progress import watched
from psopt.api._setup import Setup
from psopt.errors import InputError
from psopt.evaluation import Evaluator, Predictions, Scores, score
from psopt.models import ModelProvider, OnProgress, calibrates, name_of_model
from psopt.models.chat import grid_price
from psopt.report import fixed_and_broken, unlike
from psopt.runs import (
    MANIFEST,
    REPHRASINGS,
    CostEstimate,
    Grid,
    Phase,
    RunDirectory,
    RunSettings,
    lm_as_in_run,
    picked_prompt,
    read_predictions,
    read_source,
)
from psopt.runs.planning import with_changed_limits
from psopt.search.gating import NomineeTest, stand_ins
from psopt.search_spaces import Calibration, Prompt
from psopt.settings import LMConfig, built, check_keywords
from psopt.text import as_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.search import Observer


@dataclass(frozen=True, eq=False)
class MigrationStart:
    """All that a migration starts from; the old model is not needed, since its answers are read from the run."""

    run: Path
    old_model: str
    prompt_id: str  # of the run's prompt
    old_answers: Predictions  # the old model's to that prompt, on test under the held-out wordings
    setup: Setup  # of a search for the new model, from that prompt

    @property
    def prompt(self) -> Prompt:
        """The run's prompt as the new model gets it."""
        return self.setup.settings.baseline(self.setup.task)

    @property
    def evaluator(self) -> Evaluator:
        """What asks the new model about the run's samples, under its wordings."""
        return self.setup.frozen_evaluator(self.setup.settings.rephrasing)

    def estimate(self, *, search: bool) -> CostEstimate:
        """Count what a migration would ask the new model; nothing is sent."""
        if search:
            return estimate_run(self.setup.task, self.setup.settings, self.setup.models.cache_dir)
        evaluator = self.evaluator
        grid = Grid.of(evaluator.model, evaluator.rephrased(self.prompt, "test"), evaluator.texts("test"))
        price = grid_price(evaluator.model.name, in_batches=self.setup.settings.lm.batch)
        return CostEstimate((Phase("the run's prompt on test", grid.need(price), cached=grid.cached),), price)

    def measured(self, on_progress: OnProgress | None = None) -> Migration:
        """Measure the run's prompt with the new model, on test alone."""
        evaluator = self.evaluator
        if on_progress:
            evaluator.show_progress(on_progress)
        return self._compared({self.prompt.id: evaluator.predictions(self.prompt, "test")}, self.prompt.id)

    def searched(self, out: Path) -> Migration:
        """Read what the search has left in its run directory; nothing is asked."""
        directory = RunDirectory.open(out)
        manifest = directory.read_json(MANIFEST)
        recommended = manifest["recommended"]
        ids = [manifest["baseline"]["id"], *(test["id"] for test in recommended["tests"])]
        answers = {prompt_id: read_predictions(directory, prompt_id, "test") for prompt_id in dict.fromkeys(ids)}
        return self._compared(answers, recommended["id"], out)

    def _compared(self, answers: Mapping[str, Predictions], candidate_id: str, out: Path | None = None) -> Migration:
        """Test all that have answers, but keep only the first, which is the run's prompt, and the chosen one."""
        old, settings = self.old_answers, self.setup.settings
        for new in answers.values():
            if [sample.id for sample in new.samples] != [sample.id for sample in old.samples]:
                raise InputError(f"{out} was tested on other samples than {self.run}: they can't be paired")
            if reason := unlike(old, new):
                raise InputError(f"{self.run} and {settings.model} can't be compared: {reason}")
        tests = {test.id: test for test in stand_ins(old, answers, settings.gate_margin)}
        moved = tuple(
            Moved(name, score(answers[name], intervals=True), tests[name], fixed_and_broken(old, answers[name]))
            for name in dict.fromkeys((next(iter(answers)), candidate_id))
        )
        before = score(old, intervals=True)
        return Migration(self.run, self.old_model, settings.model, self.prompt_id, before, moved, out)


@dataclass(frozen=True, eq=False)
class Moved:
    """A prompt on the new model, compared with the run's prompt on the old one."""

    id: str
    scores: Scores
    test: NomineeTest  # whether it is not worse
    samples: list[dict[str, Any]]  # those answered differently, broken ones first, as `fixed_and_broken` returns them

    @property
    def verdict(self) -> str:
        """``not worse`` by the test, ``worse`` if F1, S or a class surely is at 5 %, otherwise ``not shown``."""
        if self.test.passed:
            return "not worse"
        is_lower = self.test.f1.high < 0 or (self.test.sensitivity.low > 0 and "sensitivity" in self.test.decisive)
        return "worse" if is_lower or any(loss.is_sure for loss in self.test.losses) else "not shown"

    def count(self, kind: str) -> int:
        """How many samples are ``fixed``, or ``broken``."""
        return sum(sample["kind"] == kind for sample in self.samples)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        counts = {kind: self.count(kind) for kind in ("fixed", "broken")}
        test = {**self.test.to_dict(), "p_not_worse": self.test.p_not_worse}
        scores = {"test": self.scores.to_dict(), "against_old": test}
        return {"id": self.id, "verdict": self.verdict, **counts, **scores, "samples": self.samples}


@dataclass(frozen=True, eq=False)
class Migration:
    """How a run's prompt does on another model."""

    run: Path
    old_model: str
    new_model: str
    prompt_id: str
    before: Scores  # of the run's prompt on the old model
    # On the new model: the run's prompt, and the one that the search recommends if that is another one
    moved: tuple[Moved, ...]
    out: Path | None = None  # the search's run directory; None where only the run's prompt was measured

    def __repr__(self) -> str:
        """Both models, and the verdict on the prompt to use."""
        return f"<Migration {self.old_model} -> {self.new_model}: {self.moved[-1].id} is {self.moved[-1].verdict}>"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        old = {"model": self.old_model, "id": self.prompt_id, "test": self.before.to_dict()}
        moved = [each.to_dict() for each in self.moved]
        return {
            "run": str(self.run),
            "out": self.out and str(self.out),
            "old": old,
            "model": self.new_model,
            "moved": moved,
        }


def migrate(
    run: str | Path,
    *,
    model: Any,
    pick: str = "recommended",
    search: bool = True,
    trials: int | None = None,
    out: str | Path | None = None,
    cache_dir: str | Path | None = None,
    observer: Observer | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Migration:
    """Move a run's prompt to another model: find what breaks there, and search from it for a prompt that works.

    The old model is not asked: its answers on test are read from the run. The new one is asked about the same test
    samples under the same wordings, and tested against the old one (see `psopt.search.gating.stand_ins`).

    Raises InputError if the run is not finished, or already of this model; if its data are not available or have
    changed; or if an argument can't be used. Raises BudgetReachedError as `optimize` does.

    Parameters
    ----------
    run : path
        A finished run of the old model.
    model : str, callable, dspy.LM or Model
        The new model, as in `optimize`.
    pick : str
        Which of the run's prompts, as in `Run.pick`.
    search : bool
        Search from that prompt, with the run's sizes; otherwise it is only measured.
    trials : int, optional
        How many prompts the search evaluates, by default as many as the run did.
    out : path, optional
        The search's run directory; by default ``runs/TASK-MODEL``.
    cache_dir, observer, progress
        As in `optimize`.
    **settings
        How the new model is asked and what it may cost, by name: `LMConfig`'s options.
    """
    check_keywords(settings, LMConfig)
    source = read_source(picked_prompt(as_path(run, "a run"), pick))
    lm = lm_as_in_run([source], model, built(LMConfig, settings), settings)
    start = start_migration(run, model, lm, pick, trials=trials, cache_dir=cache_dir)
    if not search:
        return start.measured()
    task, search_settings = start.setup.task, start.setup.settings
    folder = run_folder(search_settings.model, task, out)
    own_model = None if isinstance(model, str) else model
    with watched(observer, progress) as watcher:
        run_settings(task, search_settings, model=own_model, out=folder, cache_dir=cache_dir, observer=watcher)
    return start.searched(folder)


def start_migration(
    run: str | Path,
    model: Any,
    lm: LMConfig,
    pick: str = "recommended",
    *,
    trials: int | None = None,
    cache_dir: str | Path | None = None,
    command: str = "",
) -> MigrationStart:
    """Read what a migration starts from; nothing is asked. Raises InputError as `migrate` does."""
    directory = RunDirectory.open(run)
    manifest = directory.read_json(MANIFEST)
    old = RunSettings.from_dict(manifest["settings"])
    if old.program:
        raise InputError(f"{run} is of a DSPy program, which brings its own model: compile it again with the new one")
    if len(old.models) > 1:
        raise InputError(f"{run} is of several models: optimize for the new one with --prompt {run}")
    path = picked_prompt(Path(run), pick)
    source = read_source(path)
    answers = read_predictions(directory, path.stem, "test")
    name = name_of_model(model)
    # a model of the same name at another address may be a different one
    measured = source.measured
    is_same_place = measured is None or lm.api_base in {None, measured.server, measured.client.get("api_base")}
    if name == manifest["model"] and is_same_place:
        raise InputError(f"{run} is of {name} already: name another --model, or search on with `psopt resume {run}`")
    if old.has_own_task(manifest["dataset"]["source"]):
        raise InputError(
            f"{run} was made with a task made in Python: give the run's prompt to psopt.optimize(task, ..)"
        )
    task = old.load_task()
    if task.info.sha256 != manifest["dataset"]["sha256"]:
        raise InputError(f"the data of {run} have changed since, so its answers say nothing of them: put them back")
    settings = with_changed_limits(old, asdict(lm))
    if settings.limited_by == "effort":
        lm = replace(lm, max_calls=old.lm.max_calls)
    models = ModelProvider(cache_dir, lm)
    answering = models.answering(model, task)
    prompt = source.for_task(task)
    if prompt.calibration is not None:  # its prior is measured again, where the model can have one
        prompt = replace(prompt, calibration=Calibration() if calibrates(answering) else None)
    settings = replace(
        settings,
        lm=lm,
        search=replace(old.search, trials=trials or old.search.trials),
        strategy="simple",
        storage=None,
        study_name="",
        probe=None,
        log=(),
        model=name,
        own_model=not isinstance(model, str),
        prompt=prompt,
        prompt_file=str(path),
        rephrasing=old.rephrasing.frozen_in(directory.path / REPHRASINGS),
        command=command,
    )
    setup = Setup(task, settings, models, (answering,))
    return MigrationStart(directory.path, manifest["model"], path.stem, answers, setup)
