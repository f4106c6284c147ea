"""`SensitivityOptimizer`: psopt as a DSPy optimizer."""

from __future__ import annotations

import copy
import logging
import tempfile
import uuid
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.api import SearchBar
from psopt.dspy_programs._compilation import (
    AUTO_CALLS,
    Auto,
    Compilation,
    check_modules,
    check_names,
    check_values,
    python_words,
)
from psopt.dspy_programs._compile import compile_program
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._examples import split_examples
from psopt.dspy_programs._saving import finished_copy
from psopt.models import ModelProvider
from psopt.models.chat import Budget, LMConfig
from psopt.rephrasings import given_wordings
from psopt.runs import RunSettings
from psopt.search_spaces import SearchRestriction
from psopt.settings import GATE_MARGIN, DataOptions, SearchOptions, spelled_for_python
from psopt.tasks import check_answers
from psopt.text import as_path
from psopt.tracking import listed, split_callbacks, tracked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from psopt.dspy_programs._compile import Compiled
    from psopt.dspy_programs._examples import Given
    from psopt.dspy_programs._outcome import Equivalence, Metric
    from psopt.search import Candidate, Observer
    from psopt.settings import GateMode, HoldBack
    from psopt.tasks import Task
    from psopt.tracking import Callback

_TRIALS, _REPHRASINGS = 40, 10  # like the command without an effort
_SMALL = frozenset({"light", "medium"})
# From the simulations in experiments/promise.py: with 100 samples a sure gate keeps less than half of the true gain.
_ENOUGH_TO_BE_SURE = 100
_THREADS = 8  # dspy's own default (`dspy.settings.num_threads`)
# A child of DSPy's logger, so that dspy.enable_logging and dspy.disable_logging apply to it.
_LOGGER = logging.getLogger("dspy.teleprompt.psopt")


@dataclass(repr=False, eq=False)
class SensitivityOptimizer(dspy.teleprompt.Teleprompter):  # type: ignore[misc]  # dspy has no types
    """Make a DSPy program right, insensitive to wording and consistent.

    The instructions of every step are rephrased, and programs compared on how right (F1), insensitive (S) and
    consistent (C) they are under all of them. Notes, definitions and demonstrations are added where the program is
    unstable, and Optuna searches for the best combination. The returned program has passed the gate, or is the
    unchanged original; it holds the whole Pareto front.

    Parameters
    ----------
    metric : callable, optional
        ``metric(example, prediction)``, or with a trace, or with GEPA's five arguments: a truth value, a number in [0,
        1], or a score with feedback (which `prompt_model` receives). Its mean replaces F1; then examples need no label.
        By default the label's equality decides, and F1 is that of the whole data set.
    num_trials : int, optional
        Programs to evaluate in total.
    num_rephrasings : int, optional
        Q, including the original instructions. If this or `num_trials` is given, nothing is planned: all examples are
        used.
    auto : {"light", "medium", "heavy"}, optional
        The size: below 2,000, 5,000 or 20,000 calls of language models, including all steps and the final test. By
        default what `max_calls` allows, otherwise ``light``, unless `num_trials` or `num_rephrasings` is given.
    prompt_model : str or dspy.LM, optional
        Writes rephrasings, notes and definitions; by default rules do.
    task_model : str or dspy.LM, optional
        Runs the program; by default the one that DSPy is configured with. A named one (``openai/NAME``, ``dspy/NAME``)
        is asked through psopt's own client.
    judge_model : str or dspy.LM, optional
        Judges whether each rephrasing that `prompt_model` writes asks for the same.
    lm : LMConfig, optional
        How all of these models are asked, and what they may cost together. If given, even a `dspy.LM` is asked through
        psopt's engine: every call is counted, limited, retried and cached. DSPy's own cache, whose key lacks the
        server, is never used.
    cache_dir : path, optional
        Where answers and embeddings are stored; by default `psopt.models.cache_folder`.
    equivalence : callable, optional
        ``equivalence(answer, other)`` says whether two free-text answers mean the same. Then S and C treat such answers
        as equal, and F1 is the share of answers that mean the same as the example's.
    label_field : str, optional
        The output that holds the class; by default the last one of type Literal, Enum or bool.
    seed : int
    log_dir : path, optional
        The run directory; by default a temporary folder of the system. An existing run is resumed if program, metric,
        examples, language model and seed are the same. Otherwise it is moved to a folder next to it (``-earlier-1``),
        and everything is evaluated again.
    num_threads : int, optional
        By default DSPy's own setting.
    storage : str, optional
        An Optuna storage instead of the run's own SQLite file.
    track_stats : bool
        Store `front` (also as `pareto_front`), `run`, `sensitivity_by_step`, `failures`, `score`, `detailed_results`,
        `trial_logs` and `candidate_programs` on the program.
    max_calls : int, optional
        The maximum number of language model calls, counting every step. The search is as large as that allows, and no
        larger than `auto` if that is also given.
    pick : str
        Which program is returned: ``recommended``, ``knee``, ``short``, ``f1``, ``sensitivity`` or ``consistency``.
    gate : {"sure", "likely", "off"}, optional
        What a program must show on the testset to be recommended instead of yours; see docs/guides/gate.md. By default
        ``likely`` with ``auto="light"`` and ``"medium"``, and whenever the size is planned and the testset has fewer
        than 100 examples: such tests can only confirm the largest differences. Otherwise ``sure``.
    gate_margin : float
        By how much its F1 may be lower.
    answers : str, optional
        The type of answers, if the output's type does not show it: ``ordinal`` for labels in an order, ``number:0.01``,
        ``text``, ``text:token-f1``, ``labels``, ``free`` (see `psopt.tasks.AnswerSpec`). By default a Literal, a bool
        or an Enum is a label, a list of these is several labels, and an int or a float is a number, unless a few values
        keep recurring.
    order : sequence of str, optional
        The labels from lowest to highest; not needed for labels that are numbers.
    max_prompt_tokens : int, optional
        The maximum tokens per call in the returned instructions and demonstrations; by default no limit, with at most
        25 edits and 16 demonstrations.
    callbacks : iterable, optional
        What records the run, as in `psopt.optimize`. A DSPy callback (``dspy.utils.BaseCallback``) gets DSPy's events,
        in addition to those of ``dspy.configure(callbacks=..)``.
    heldout_from : sequence of str, or path, optional
        Wordings of the instructions from another source, for instance by people: the returned program is also tested
        with them on the testset, besides psopt's own held-out ones.
    hold_back : {"all", "private", "copies", "none"}
        Examples excluded from demonstrations: those with private text, near copies of the valset or testset, or both.
    provide_traceback : bool, optional
        Taken from DSPy's other optimizers, without effect: Python shows the traceback of an error that ends the run.
    max_errors : int, optional
        On how many texts the program or the metric may fail before the run ends; by default DSPy's own setting (10).
        Until then a failure counts as no answer, and is listed in `failures`. An outage stops the run at once; the same
        call with the same `log_dir` resumes it.

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
        """Refuse invalid arguments before anything is asked."""
        check_values(self)
        with spelled_for_python(python_words):
            check_answers("SensitivityOptimizer", self.answers, self.order)
            self._wordings, self._wordings_from = given_wordings(self.heldout_from)
        callbacks, of_dspy = listed(self.callbacks), dspy.utils.BaseCallback
        trackers = (callback for callback in callbacks if not isinstance(callback, of_dspy))
        self._log, self._trackers = split_callbacks(trackers)
        # where DSPy looks for its own
        self.callbacks = [callback for callback in callbacks if isinstance(callback, of_dspy)]

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
        """Return a better program of the same kind; the unchanged student if none has passed the gate.

        Parameters
        ----------
        student : dspy.Module
        trainset : list of dspy.Example
            The source of edits and demonstrations.
        teacher : dspy.Module, optional
            Gives the demonstrations' answers.
        valset : list of dspy.Example, optional
            The examples on which programs are compared; by default half of `trainset`, drawn at random. No example
            serves both purposes: if too few would remain, every other shared example serves one, the rest the other.
        testset : list of dspy.Example, optional
            The examples on which the front is scored at the end, under held-out rephrasings, which decide whether a
            program is recommended. By default a third of the trainset if a valset is given that is not larger,
            otherwise half of the valset. They are set aside: no edits come from them and no choice uses them.

        **kwargs
            ``num_trials``, ``seed``, ``max_errors``, ``num_threads`` and ``provide_traceback``, as in MIPROv2.

        Raises
        ------
        PsoptError
            If an argument cannot be used (before any call), or the language model fails.
        """
        check_names(kwargs)
        check_modules(student, teacher)
        optimizer = self._with(kwargs)
        splits = split_examples(trainset, valset, testset)
        line = ProgressLine()
        try:
            with spelled_for_python(python_words):
                return optimizer._best(optimizer._compile(student, splits, teacher, observer or line))
        finally:
            line.close()

    def _compile(
        self, student: Any, splits: Mapping[str, Sequence[Given]], teacher: Any, observer: Observer
    ) -> Compiled:
        """Compile, with the run's trackers attached."""
        budget = Budget.of(self._limits)
        if budget.max_calls is None:
            budget.max_calls = self._most_calls
        models = ModelProvider(self.cache_dir, self.lm or LMConfig(), budget)
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
                # Without a log_dir nobody asked for a run directory, so it is temporary, and the system cleans it up.
                folder=as_path(self.log_dir or tempfile.mkdtemp(prefix="psopt-"), "log_dir"),
                label_field=self.label_field,
                metric=self.metric,
                equivalence=self.equivalence,
                teacher=teacher,
                max_errors=dspy.settings.max_errors if self.max_errors is None else self.max_errors,
                most_calls=self._most_calls,
            )
            return compile_program(student, splits, compilation)

    def _with(self, arguments: dict[str, Any]) -> SensitivityOptimizer:
        """The optimizer with its own settings overridden by the arguments of `compile`."""
        optimizer = copy.copy(self)
        for name, value in arguments.items():
            if value is not None and hasattr(self, name):
                setattr(optimizer, name, value)
        if arguments.get("num_trials") is not None:
            optimizer.auto = None
        check_values(optimizer)
        return optimizer

    @property
    def _most_calls(self) -> int | None:
        """The number of calls for which sizes are chosen; None if sizes are given."""
        if self.num_trials is not None or self.num_rephrasings is not None:
            return None
        limits = [self._limits.max_calls, AUTO_CALLS[self.auto] if self.auto else None]
        return min((limit for limit in limits if limit is not None), default=AUTO_CALLS["light"])

    @property
    def _effort(self) -> Auto | Literal["full"]:
        """The smallest preset that allows the calls for which sizes are chosen; ``full`` if sizes are given."""
        most = self._most_calls
        if most is None:
            return "full"
        return next((effort for effort, n_calls in AUTO_CALLS.items() if most <= n_calls), "heavy")

    @property
    def _limits(self) -> LMConfig:
        lm = self.lm or LMConfig()
        return lm if self.max_calls is None else replace(lm, max_calls=self.max_calls)

    def _settings(self, n_test: int) -> RunSettings:
        effort = self._effort
        is_small = effort in _SMALL or (effort != "full" and n_test < _ENOUGH_TO_BE_SURE)
        usual_gate: GateMode = "likely" if is_small else "sure"
        is_of_auto = effort != "full" and self._limits.max_calls is None
        return RunSettings(
            data=DataOptions("", answers=self.answers, order=tuple(self.order)),  # named after reading the examples
            search=SearchOptions(
                self.num_trials or _TRIALS,
                seed=self.seed,
                parts=SearchRestriction(max_prompt_tokens=self.max_prompt_tokens, hold_back=self.hold_back),
            ),
            rephrasings=self.num_rephrasings or _REPHRASINGS,
            storage=self.storage,
            program="python",
            gate=self.gate or usual_gate,
            gate_margin=self.gate_margin,
            lm=self.lm or LMConfig(),
            effort=effort,
            limited_by="effort" if is_of_auto else "user",
            log=self._log,
            heldout_from=self._wordings,
            heldout_from_name=self._wordings_from,
        )

    def _best(self, compiled: Compiled) -> Any:
        """The chosen program, with the front attached if requested."""
        best = compiled.run.pick(self.pick)
        better = finished_copy(compiled.programs[best.id])
        if self.track_stats:
            compiled.record_on(better, best, self.seed)
        return better


class ProgressLine(SearchBar):
    """Logs expectations, progress and results next to the bar; reports trials to DSPy's callbacks."""

    def started(self, task: Task, folder: Path) -> None:
        """Say what is searched, and where the run is written."""
        _LOGGER.info("psopt: %s, written to %s", task.name, folder)
        super().started(task, folder)

    def phase(self, text: str) -> None:
        """Say what is being done."""
        _LOGGER.info("psopt: %s", text)
        super().phase(text)

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """Count a trial."""
        super().trial(candidate, n_done, n_total)
        # An evaluation is reported after it ends, since its parts run together with those of others.
        val = candidate.val
        inputs = {"program": candidate.id, "edits": [str(edit) for edit in candidate.edits]}
        outputs = {"score": val.f1, "sensitivity": val.sensitivity, "consistency": val.consistency}
        call_id = uuid.uuid4().hex
        for callback in dspy.settings.callbacks:
            callback.on_evaluate_start(call_id=call_id, instance=None, inputs=inputs)
            callback.on_evaluate_end(call_id=call_id, outputs=outputs, exception=None)
