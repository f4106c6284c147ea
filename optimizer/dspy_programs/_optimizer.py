"""`SensitivityOptimizer`: psopt as one of DSPy's optimizers."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from psopt.api import N_HELDOUT, Run, search_and_record
from psopt.dspy_programs._candidate import ProgramCandidate
from psopt.dspy_programs._data import check_examples, make_data
from psopt.dspy_programs._lm import counted_lm, is_counted, without_cache
from psopt.dspy_programs._model import ProgramModel
from psopt.dspy_programs._outcome import find_outcome
from psopt.dspy_programs._progress import ProgressLine
from psopt.dspy_programs._proposals import ProgramProposals
from psopt.dspy_programs._state import write_program
from psopt.dspy_programs._steps import sensitivity_by_step
from psopt.dspy_programs._wordings import Checking, freeze_wordings
from psopt.errors import DataError, InputError, import_extra
from psopt.evaluation import Evaluator
from psopt.models import ModelProvider
from psopt.models.chat import Budget, LMConfig, stay_here
from psopt.proposals.llm import LLMProposer
from psopt.rephrasings import closeness
from psopt.runs import MANIFEST, RunSettings, free_folder
from psopt.search_spaces import Prompt

if TYPE_CHECKING:
    from psopt.dspy_programs._judge import Metric
    from psopt.dspy_programs._outcome import Equivalence
    from psopt.models.chat import Writer
    from psopt.search import Observer
    from psopt.tasks import Task

dspy = import_extra("dspy", "SensitivityOptimizer", "dspy")
Teleprompter = import_extra("dspy.teleprompt", "SensitivityOptimizer", "dspy").Teleprompter

Auto = Literal["light", "medium", "heavy"]
AUTO: dict[str, tuple[int, int]] = {"light": (15, 5), "medium": (40, 10), "heavy": (100, 20)}
STEPS = "steps.json"
_THREADS = 8


class SensitivityOptimizer(Teleprompter):  # type: ignore[misc, valid-type]  # dspy has no types
    """Make a DSPy program right, insensitive to wording and consistent.

    The instructions of every step are rephrased, and programs compared on how right (F1), insensitive (S) and
    consistent (C) they are under all of them. Notes, definitions and demonstrations are added where the program
    shakes, and searched for with Optuna. The whole Pareto front comes back on the program.

    Parameters
    ----------
    num_trials : int
        Programs to evaluate in total.
    num_rephrasings : int
        Q, the original instructions among them.
    auto : {"light", "medium", "heavy"}, optional
        Sets both: 15 trials of 5, 40 of 10, 100 of 20.
    prompt_model : str or dspy.LM, optional
        Writes rephrasings, notes and definitions; by default rules do.
    task_model : str or dspy.LM, optional
        Runs the program; by default the one that DSPy is configured with. A name (``openai/NAME``, ``dspy/NAME``) is
        asked through psopt's own client.
    judge_model : str or dspy.LM, optional
        Says of each rephrasing that `prompt_model` writes whether it asks for the same.
    lm : LMConfig, optional
        How all of these models are asked, and what they may cost together. Where it is given, a `dspy.LM` too is asked
        through psopt's engine: counted call by call, limited, sent again, kept in the cache. DSPy's own cache, whose
        key holds no server, is never used.
    cache_dir : path, optional
        Where answers and embeddings are kept; by default `psopt.models._cache_folder.cache_folder`.
    metric : callable, optional
        ``metric(example, prediction)`` in [0, 1]; its mean takes the place of F1. By default the label's equality
        decides, and F1 is that of the whole data set.
    equivalence : callable, optional
        ``equivalence(answer, other)`` says whether two answers of free text mean the same; then S and C are of answers
        that mean the same, and F1 is the share of those that mean what the example says.
    label_field : str, optional
        The output that is the class; by default the last one of type Literal, Enum or bool.
    seed : int
    log_dir : path, optional
        The run directory; by default runs/NAME. A run that is there already is gone on with.
    num_threads : int, optional
        By default DSPy's own setting.
    storage : str, optional
        An Optuna storage in place of the run's own SQLite file.
    track_stats : bool
        Leave `pareto_front`, `run` and `sensitivity_by_step` on the program.
    max_calls : int, optional
        Most runs of the program; most requests where psopt's engine sends them.
    pick : str
        Which program of the front is returned: ``knee``, ``short``, ``f1``, ``sensitivity`` or ``consistency``.

    Examples
    --------
    >>> optimizer = SensitivityOptimizer(num_trials=40, num_rephrasings=10)  # doctest: +SKIP
    >>> better = optimizer.compile(program, trainset=train, valset=val)  # doctest: +SKIP
    """

    def __init__(
        self,
        num_trials: int = 40,
        num_rephrasings: int = 10,
        *,
        auto: Auto | None = None,
        prompt_model: Any = None,
        task_model: Any = None,
        judge_model: Any = None,
        lm: LMConfig | None = None,
        cache_dir: str | Path | None = None,
        metric: Metric | None = None,
        equivalence: Equivalence | None = None,
        label_field: str | None = None,
        seed: int = 42,
        log_dir: str | Path | None = None,
        num_threads: int | None = None,
        storage: str | None = None,
        track_stats: bool = True,
        max_calls: int | None = None,
        pick: str = "knee",
    ) -> None:
        super().__init__()
        if auto is not None:
            if auto not in AUTO:
                raise InputError(f"auto must be one of {', '.join(AUTO)} or None, not {auto!r}")
            num_trials, num_rephrasings = AUTO[auto]
        if num_trials < 1 or num_rephrasings < 2:
            raise InputError("num_trials must be 1 or more and num_rephrasings 2 or more")
        self.num_trials, self.num_rephrasings = num_trials, num_rephrasings
        self.prompt_model, self.task_model, self.judge_model = prompt_model, task_model, judge_model
        self.lm, self.cache_dir = lm, cache_dir
        self.metric, self.equivalence, self.label_field = metric, equivalence, label_field
        self.seed, self.log_dir, self.num_threads, self.storage = seed, log_dir, num_threads, storage
        self.track_stats, self.max_calls, self.pick = track_stats, max_calls, pick
        self.settings: RunSettings | None = None  # what the command line was given
        self.like: Task | None = None  # the task that the examples come from, where there is one
        self.rephraser, self.proposer = prompt_model, prompt_model
        self.force = False

    def compile(
        self,
        student: Any,
        *,
        trainset: list[Any],
        teacher: Any = None,
        valset: list[Any] | None = None,
        testset: list[Any] | None = None,
        observer: Observer | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return a better program of the same kind.

        Parameters
        ----------
        student : dspy.Module
        trainset : list of dspy.Example
            What edits and demonstrations are drawn from.
        teacher : dspy.Module, optional
            Gives the demonstrations' answers.
        valset : list of dspy.Example, optional
            What programs are compared on; by default every other example of `trainset`.
        testset : list of dspy.Example, optional
            What the front is scored on at the end, under held-out rephrasings; by default `valset`, which the choice
            has seen: then only the rephrasings are new.

        Raises
        ------
        PsoptError
            If something given can't be used (before any call), or the language model fails.
        """
        if kwargs:
            raise InputError(f"compile does not know {', '.join(sorted(kwargs))}")
        if not isinstance(student, dspy.Module):
            raise InputError(f"the student is no dspy.Module but a {type(student).__name__}")
        splits = _splits(trainset, valset, testset)
        outcome = find_outcome(student, [*splits["train"], *splits["val"]], self.label_field, self.equivalence)
        name = type(student).__name__.lower()
        instructions = dict(student.named_predictors())[outcome.step].signature.instructions
        data = make_data(name, " ".join(instructions.split()), outcome, splits, self.num_rephrasings)
        if self.like is not None and set(self.like.labels) != set(data.task.labels):
            raise InputError(
                f"the program's labels are {', '.join(data.task.labels)}; the data's are {', '.join(self.like.labels)}"
            )
        stay_here()
        models = self._models()
        with self._setting(student, models):
            own = observer or ProgressLine()
            try:
                return self._optimize(student.deepcopy(), teacher, outcome, data, own, models)
            finally:
                if isinstance(own, ProgressLine):
                    own.close()

    def _optimize(
        self, student: Any, teacher: Any, outcome: Any, data: Any, observer: Observer, models: ModelProvider
    ) -> Any:
        folder = Path(self.log_dir) if self.log_dir else free_folder(Path("runs"), data.task.name)
        writer = self._writer(self.rephraser, models)
        wordings = freeze_wordings(
            student,
            outcome.step,
            data.task,
            self.num_rephrasings,
            N_HELDOUT,
            self.seed,
            writer,
            self._checking(models, writer),
        )
        threads = self.num_threads or dspy.settings.num_threads or _THREADS
        model = ProgramModel(
            student,
            outcome,
            data.examples,
            wordings,
            folder,
            models.budget,
            metric=self.metric,
            teacher=teacher,
            n_threads=threads,
            wrap=partial(self._asked, models=models),
        )
        task = data.task if self.like is None else _with_words(data.task, self.like)
        evaluator = Evaluator(
            model, wordings.rephrasings, {"train": task.train, "val": task.val, "test": task.test}, budget=models.budget
        )
        start = Prompt(wordings.rephrasings.search[0], task.labels, task.noun)
        shares = sensitivity_by_step(model, start, [sample.text for sample in task.train])
        drafting = self._writer(self.proposer, models) if outcome.equivalence is None else None
        run = search_and_record(
            task,
            self._settings(task.name, model.name, max(len(task.train), len(task.val))),
            start,
            evaluator,
            LLMProposer(drafting) if drafting else None,
            propose=ProgramProposals(model, shares),
            out=folder,
            resume=(folder / MANIFEST).exists(),
            force=self.force,
            observer=observer,
        )
        return self._best(run, model, shares)

    def _best(self, run: Run, model: ProgramModel, shares: dict[str, float]) -> Any:
        """The chosen program, with the front on it, and every one of them on disk."""
        original = model.wordings.original
        unique = {one.id: one for one in (run.baseline, *run.front, run.short)}
        programs = {prompt_id: model.apply(one.prompt, original) for prompt_id, one in unique.items()}
        for prompt_id, program in programs.items():
            write_program(program, run.path, prompt_id)
        better = programs[run.pick(self.pick).id].deepcopy()
        better._compiled = True
        if self.track_stats:
            better.run = run
            better.sensitivity_by_step = shares
            better.pareto_front = tuple(
                ProgramCandidate(one.id, one.edits, one.val, one.test, programs[one.id]) for one in run.front
            )
        return better

    def _settings(self, name: str, model: str, samples: int) -> RunSettings:
        if self.settings is not None:
            return self.settings
        return RunSettings(
            dataset=name,
            model=model,
            seed=self.seed,
            trials=self.num_trials,
            rephrasings=self.num_rephrasings,
            samples=samples,
            storage=self.storage,
            program="python",
            lm=self._options,
        )

    @property
    def _options(self) -> LMConfig:
        return self.lm or LMConfig()

    def _models(self) -> ModelProvider:
        """Where all models of the run come from, and what they may spend together."""
        limits = self._options if self.max_calls is None else replace(self._options, max_calls=self.max_calls)
        return ModelProvider(self.cache_dir, self._options, Budget.of(limits))

    def _writer(self, model: Any, models: ModelProvider) -> Writer | None:
        return models.writer(model) if model is not None else None

    def _checking(self, models: ModelProvider, writer: Writer | None) -> Checking:
        """How rephrasings that a model writes are checked."""
        keep_labels = self.settings.keep_labels if self.settings else True
        judge = models.judge(self.judge_model) if self.judge_model is not None else None
        return Checking(keep_labels, judge, closeness(models) if writer else None)

    def _asked(self, model: Any, models: ModelProvider) -> Any:
        """The language model as it is asked: through psopt's engine by name or with options, else without a cache."""
        if isinstance(model, str) or (self.lm is not None and not _is_free(model)):
            return counted_lm(model, models)
        return without_cache(model)

    def _setting(self, student: Any, models: ModelProvider) -> Any:
        """DSPy's settings with the task model.

        Raises
        ------
        InputError
            If there is no language model at all.
        """
        model = self.task_model if self.task_model is not None else dspy.settings.lm
        if model is not None:
            return dspy.context(lm=self._asked(model, models))
        if [name for name, predictor in student.named_predictors() if predictor.lm is None]:
            raise InputError("no language model: use dspy.configure(lm=dspy.LM(..)), or give task_model=..")
        return contextlib.nullcontext()


def _is_free(lm: Any) -> bool:
    """Whether an LM is the embedded one, which needs no engine around it; or already asked through psopt's."""
    return is_counted(lm) or lm.model == "psopt/minilm"


def _with_words(task: Task, like: Task) -> Task:
    """A task with the name, the definitions and the origin of another one."""
    return replace(task, name=like.name, definitions=like.definitions, noun=like.noun, info=like.info)


def _splits(trainset: Any, valset: Any, testset: Any) -> dict[str, list[Any]]:
    """Train, val and test; val is every other example of the trainset where there is none, and test is val."""
    train = check_examples("trainset", trainset)
    if valset is None:
        if len(train) < 4:
            raise DataError(f"trainset holds {len(train)} examples, too few to take a valset from: give a valset")
        train, val = train[::2], train[1::2]
    else:
        val = check_examples("valset", valset)
    return {"train": train, "val": val, "test": val if testset is None else check_examples("testset", testset)}
