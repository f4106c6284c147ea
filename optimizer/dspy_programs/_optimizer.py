"""`SensitivityOptimizer`: psopt as one of DSPy's optimizers."""

from __future__ import annotations

import copy
import json
import tempfile
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from psopt.dspy_programs._compilation import Compilation
from psopt.dspy_programs._compile import compile_program
from psopt.dspy_programs._compile_arguments import check_arguments
from psopt.dspy_programs._copying import copy_of
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._examples import split_examples
from psopt.dspy_programs._metric import n_extra_arguments
from psopt.dspy_programs._progress import ProgressLine
from psopt.dspy_programs._python_words import in_python_words
from psopt.dspy_programs._results import ProgramCandidate, candidate_programs, detailed_results, trial_logs
from psopt.dspy_programs._sizing import AUTO_CALLS
from psopt.errors import InputError
from psopt.models import ModelProvider
from psopt.models.chat import Budget, LMConfig
from psopt.rephrasings import given_wordings
from psopt.runs import MANIFEST, RunSettings
from psopt.search_spaces import SearchRestriction
from psopt.settings import GATE_MARGIN, DataOptions, SearchOptions
from psopt.tasks import ORDINAL, check_answers
from psopt.tracking import split_callbacks, tracked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from psopt.dspy_programs._compilation import Compiled
    from psopt.dspy_programs._examples import Given
    from psopt.dspy_programs._metric import Metric
    from psopt.dspy_programs._outcome import Equivalence
    from psopt.search import Observer
    from psopt.settings import GateMode, HoldBack
    from psopt.tracking import Callback

Auto = Literal["light", "medium", "heavy"]
_TRIALS, _REPHRASINGS = 40, 10  # as the command's without an effort
_SMALL = frozenset({"light", "medium"})
# Of the simulations of `psopt.search.gate`: with 100 samples under half of the true gain passes a sure gate.
_ENOUGH_TO_BE_SURE = 100
_THREADS = 8  # as dspy's own (`dspy.settings.num_threads`)


@dataclass(repr=False, eq=False)
class SensitivityOptimizer(dspy.teleprompt.Teleprompter):  # type: ignore[misc]  # dspy has no types
    """Make a DSPy program right, insensitive to wording and consistent.

    The instructions of every step are rephrased, and programs compared on how right (F1), insensitive (S) and
    consistent (C) they are under all of them. Notes, definitions and demonstrations are added where the program
    is unstable, and searched for with Optuna. What comes back has
    passed the gate, or is the program as it was; the whole Pareto front is on it.

    Parameters
    ----------
    metric : callable, optional
        ``metric(example, prediction)``, or with a trace, or with GEPA's five arguments: a truth value, a number in
        [0, 1], or a score with feedback (which `prompt_model` is told). Its mean takes the place of F1; examples need
        no label then. By default the label's equality decides, and F1 is that of the whole data set.
    num_trials : int, optional
        Programs to evaluate in total.
    num_rephrasings : int, optional
        Q, the original instructions among them. Where this or `num_trials` is told, nothing is planned: all examples
        are used.
    auto : {"light", "medium", "heavy"}, optional
        How large it is: below 2,000, 5,000 or 20,000 calls of language models, all steps and the final test among
        them; by default as `max_calls` pays for, else ``light``, unless `num_trials` or `num_rephrasings` is told.
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
        Where answers and embeddings are kept; by default `psopt.models.cache_folder`.
    equivalence : callable, optional
        ``equivalence(answer, other)`` says whether two answers of free text mean the same; then S and C are of answers
        that mean the same, and F1 is the share of those that mean what the example says.
    label_field : str, optional
        The output that is the class; by default the last one of type Literal, Enum or bool.
    seed : int
    log_dir : path, optional
        The run directory; by default one of the system's temporary folders. A run that is there already is
        resumed where program, metric, examples, language model and seed are the same; else it is put aside in
        a folder beside it (``-earlier-1``), and everything is evaluated anew.
    num_threads : int, optional
        By default DSPy's own setting.
    storage : str, optional
        An Optuna storage in place of the run's own SQLite file.
    track_stats : bool
        Leave `front` (also as `pareto_front`), `run`, `sensitivity_by_step`, `failures`, `score`, `detailed_results`,
        `trial_logs` and `candidate_programs` on the program.
    max_calls : int, optional
        Most calls of language models, those of every step counted: the search is as large as they pay for, and no
        larger than `auto` where that is told too.
    pick : str
        Which program is returned: ``recommended``, ``knee``, ``short``, ``f1``, ``sensitivity`` or ``consistency``.
    gate : {"sure", "likely", "off"}, optional
        What a program must show on the testset to be recommended in place of yours; see `psopt.search.gate`. By default
        ``likely`` with ``auto="light"`` and ``"medium"``, and wherever the size is planned and the testset has fewer
        than 100 examples: such tests are too small to be sure of anything but the largest differences. Else ``sure``.
    gate_margin : float
        By how much its F1 may be lower.
    answers : str, optional
        What answers are, where the output's type does not say it: ``ordinal`` where labels stand in an order,
        ``number:0.01``, ``text``, ``text:token-f1``, ``labels``, ``free`` (see `psopt.tasks.AnswerSpec`). Of their own
        a Literal, a bool or an Enum are labels, a list of these is several, and an int or a float a number, unless few
        are met again and again.
    order : sequence of str, optional
        The labels from the least to the most; labels that are numbers need none.
    max_prompt_tokens : int, optional
        Most tokens per call of the instructions and demonstrations that are handed back; by default any number, of at
        most 25 edits and 16 demonstrations.
    callbacks : iterable, optional
        Who records the run: ``"mlflow"``, ``"mlflow:EXPERIMENT"``; a `psopt.tracking.Tracker`, or its
        ``"MODULE:NAME"``; or a function ``callback(study, trial)``, called after each trial (see
        `psopt.optimize`). A callback of DSPy's (``dspy.utils.BaseCallback``) is told what DSPy tells it, beside those
        of ``dspy.configure(callbacks=..)``.
    heldout_from : sequence of str, or path, optional
        Wordings of the instructions from another source, written by people for instance: the program that is handed
        back is put to them on the testset too, beside one's own held-out ones.
    hold_back : {"all", "private", "copies", "none"}
        Examples that are no demonstrations: those with private text, near copies of the valset's or testset's, or both.
    provide_traceback : bool, optional
        Show the whole traceback where a program or metric ends the run.
    max_errors : int, optional
        On how many texts the program, or the metric, may fail before that ends the run; by default DSPy's own setting
        (10). Until then such a run counts as no answer, and is told in `failures`; an outage stops at once, and the
        same call with the same `log_dir` goes on.

    Examples
    --------
    >>> optimizer = SensitivityOptimizer(num_trials=40, num_rephrasings=10)  # doctest: +SKIP
    >>> better = optimizer.compile(program, trainset=train, valset=val)  # doctest: +SKIP
    """

    metric: Metric | None = None
    num_trials: int | None = None
    num_rephrasings: int | None = None
    _: KW_ONLY
    auto: Auto | None = None
    prompt_model: Any = None
    task_model: Any = None
    judge_model: Any = None
    lm: LMConfig | None = None
    cache_dir: str | Path | None = None
    equivalence: Equivalence | None = None
    label_field: str | None = None
    seed: int = 42
    log_dir: str | Path | None = None
    num_threads: int | None = None
    storage: str | None = None
    track_stats: bool = True
    max_calls: int | None = None
    pick: str = "recommended"
    gate: GateMode | None = None
    gate_margin: float = GATE_MARGIN
    max_prompt_tokens: int | None = None
    answers: str | None = None
    order: Sequence[str] = ()
    max_errors: int | None = None
    provide_traceback: bool | None = None
    callbacks: Iterable[Callback] = ()
    heldout_from: Sequence[str] | str | Path = ()
    hold_back: HoldBack = "all"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before anything is asked."""
        _check_metric(self.metric)
        with in_python_words():
            check_answers("SensitivityOptimizer", self.answers, self.order)
            self._wordings, self._wordings_from = given_wordings(self.heldout_from)
        if self.answers == ORDINAL and self.metric is not None:
            raise InputError("a metric says what an answer is worth, and so does answers='ordinal': give one of them")
        if self.auto is not None and self.auto not in AUTO_CALLS:
            raise InputError(f"auto must be one of {', '.join(AUTO_CALLS)} or None, not {self.auto!r}")
        if self.auto is not None and self._is_sized:
            raise InputError("auto sets num_trials and num_rephrasings: give it, or them")
        trials, rephrasings = self._sizes
        if trials < 1 or rephrasings < 2:
            raise InputError("num_trials must be 1 or more and num_rephrasings 2 or more")
        listed = list(self.callbacks)
        self.callbacks = [callback for callback in listed if _is_dspy_s(callback)]  # where DSPy looks for its own
        self._log, self._trackers = split_callbacks(callback for callback in listed if not _is_dspy_s(callback))

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
        """Return a better program of the same kind; the student as it was where none has passed the gate.

        Parameters
        ----------
        student : dspy.Module
        trainset : list of dspy.Example
            What edits and demonstrations are drawn from.
        teacher : dspy.Module, optional
            Gives the demonstrations' answers.
        valset : list of dspy.Example, optional
            What programs are compared on; by default every other example of `trainset`. No example serves both: of
            those that are in both sets every other one does the one thing, where too few would be left else.
        testset : list of dspy.Example, optional
            What the front is scored on at the end, under held-out rephrasings, and what decides whether a program is
            recommended; by default a third of the trainset where a valset is given that is no larger, else a half of
            the valset. It is set aside: nothing is drawn from it or chosen by it.

        **kwargs
            ``num_trials``, ``seed``, ``max_errors``, ``num_threads`` and ``provide_traceback``, as MIPROv2 takes them.

        Raises
        ------
        PsoptError
            If something given can't be used (before any call), or the language model fails.
        """
        check_arguments(kwargs)
        optimizer = self._with(kwargs)
        if optimizer is not self:
            return optimizer.compile(
                student, trainset=trainset, teacher=teacher, valset=valset, testset=testset, observer=observer
            )
        if not isinstance(student, dspy.Module):
            raise InputError(f"the student is no dspy.Module but a {type(student).__name__}")
        splits = split_examples(trainset, valset, testset)
        line = ProgressLine()
        try:
            with in_python_words(with_traceback=bool(self.provide_traceback)):
                return self._best(self._compile(student, splits, teacher, observer or line))
        finally:
            line.close()

    def _compile(
        self, student: Any, splits: Mapping[str, Sequence[Given]], teacher: Any, observer: Observer
    ) -> Compiled:
        """Compile, watched by those who record the run."""
        limits = self._limits
        if limits.max_calls is None:
            limits = replace(limits, max_calls=self._most_calls)
        models = ModelProvider(self.cache_dir, self.lm or LMConfig(), Budget.of(limits))
        told = [*dspy.settings.callbacks, *self.callbacks]
        with dspy.context(callbacks=told), tracked(observer, self._log, self._trackers, models.budget) as tracking:
            compilation = Compilation(
                settings=self._settings(len(splits["test"])),
                models=models,
                task_model=self.task_model,
                rephraser=self.prompt_model,
                judge=self.judge_model,
                proposer=self.prompt_model,
                uses_engine=self.lm is not None,
                n_threads=self.num_threads or dspy.settings.num_threads or _THREADS,
                observer=tracking,
                # A run directory is what nobody has asked for: without a log_dir it is the system's to clear away.
                folder=Path(self.log_dir or tempfile.mkdtemp(prefix="psopt-")),
                label_field=self.label_field,
                metric=self.metric,
                equivalence=self.equivalence,
                teacher=teacher,
                max_errors=dspy.settings.max_errors if self.max_errors is None else self.max_errors,
                most_calls=self._most_calls,
            )
            return compile_program(student, splits, compilation)

    def _with(self, arguments: dict[str, Any]) -> SensitivityOptimizer:
        """The optimizer with what `compile` was told in the place of its own."""
        told = {name: value for name, value in arguments.items() if value is not None and hasattr(self, name)}
        if not told:
            return self
        optimizer = copy.copy(self)
        for name, value in told.items():
            setattr(optimizer, name, value)
        if "num_trials" in told:
            optimizer.auto = None
        return optimizer

    @property
    def _is_sized(self) -> bool:
        return self.num_trials is not None or self.num_rephrasings is not None

    @property
    def _sizes(self) -> tuple[int, int]:
        """Trials and rephrasings, where one of the two is told, and the other not."""
        return (
            _TRIALS if self.num_trials is None else self.num_trials,
            _REPHRASINGS if self.num_rephrasings is None else self.num_rephrasings,
        )

    @property
    def _most_calls(self) -> int | None:
        """By how many calls the sizes are chosen; None where they are told."""
        if self._is_sized:
            return None
        limits = [self._limits.max_calls, AUTO_CALLS[self.auto] if self.auto else None]
        return min((limit for limit in limits if limit is not None), default=AUTO_CALLS["light"])

    @property
    def _effort(self) -> Auto | Literal["full"]:
        """The least preset that pays for as much as the sizes are chosen by; ``full`` where they are told."""
        most = self._most_calls
        if most is None:
            return "full"
        efforts: tuple[Auto, ...] = get_args(Auto)
        return next((effort for effort in efforts if most <= AUTO_CALLS[effort]), "heavy")

    @property
    def _limits(self) -> LMConfig:
        lm = self.lm or LMConfig()
        return lm if self.max_calls is None else replace(lm, max_calls=self.max_calls)

    def _settings(self, n_test: int) -> RunSettings:
        trials, rephrasings = self._sizes
        effort = self._effort
        is_of_auto = effort != "full" and self._limits.max_calls is None
        is_small = effort in _SMALL or (effort != "full" and n_test < _ENOUGH_TO_BE_SURE)
        return RunSettings(
            data=DataOptions("", answers=self.answers, order=tuple(self.order)),  # named once the examples are read
            search=SearchOptions(
                trials,
                seed=self.seed,
                parts=SearchRestriction(max_prompt_tokens=self.max_prompt_tokens, hold_back=self.hold_back),
            ),
            rephrasings=rephrasings,
            storage=self.storage,
            program="python",
            gate=self.gate or ("likely" if is_small else "sure"),
            gate_margin=self.gate_margin,
            lm=self.lm or LMConfig(),
            effort=effort,
            limited_by="effort" if is_of_auto else "user",
            log=self._log,
            heldout_from=self._wordings,
            heldout_from_name=self._wordings_from,
        )

    def _best(self, compiled: Compiled) -> Any:
        """The chosen program, on request with the front on it."""
        run = compiled.run
        better = copy_of(compiled.programs[run.pick(self.pick).id])
        better._compiled = True
        if not self.track_stats:
            return better
        better.run = run
        better.failures = compiled.failures
        n_calls = json.loads((run.path / MANIFEST).read_text("utf-8"))["calls"]["made"]
        better.detailed_results = detailed_results(compiled, run.pick(self.pick).id, n_calls, self.seed)
        better.trial_logs = trial_logs(compiled)
        better.candidate_programs = candidate_programs(compiled)
        better.score = run.pick(self.pick).val.f1
        better.sensitivity_by_step = compiled.sensitivity_by_step
        better.front = better.pareto_front = tuple(
            ProgramCandidate(member.id, member.edits, member.val, member.test, compiled.programs[member.id])
            for member in run.front
        )
        return better


def _is_dspy_s(callback: Any) -> bool:
    return isinstance(callback, dspy.utils.BaseCallback)


def _check_metric(metric: Any) -> None:
    """Refuse what is no metric before anything is asked."""
    if metric is None:
        return
    if not callable(metric):
        raise InputError(
            f"the metric comes first, and {metric!r} is none: name the others, "
            f"SensitivityOptimizer(num_trials=.., num_rephrasings=..)"
        )
    n_extra_arguments(metric)
