"""Runs programs on texts: once each, in threads, with the results stored so that no run is paid for twice."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._examples import example_key, inputs_key
from psopt.dspy_programs._fingerprint import as_json_data, fingerprint
from psopt.dspy_programs._lm import RunCounter, lm_of
from psopt.dspy_programs._outcome import PASSED, as_text, judge
from psopt.errors import InputError, ModelError, NoLabelsError, PsoptError, causes, first_line
from psopt.models import CACHE_FILES, AnswerCache, answer_key
from psopt.models.chat import FIRST, spread
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._outcome import Outcome
    from psopt.models import OnProgress

    Jobs = Mapping[bytes, tuple[Any, str]]
    """The program and the text, by the key of the answer."""
    Record = dict[str, Any]
    """A run has its ``outcome`` (None if it could not be parsed), ``merit`` and the metric's ``feedback``.

    It has its ``steps`` if demonstrations need them: what each read and answered. One that ``failed`` only counts for
    this process: the next one tries again.
    """


_STEP = "_psopt_step"
"""The attribute for a predictor's name: modules that run copies of others (BestOfN, Refine) copy it as well."""
_FEWEST = 3  # texts: if all of these fail, the texts are not the cause
_SHOWN = 60  # characters of an outcome or a text in a message
_LONGEST = 300  # characters of an error
_SECONDS = 1  # between looks: a bar is redrawn as often, and Windows heeds Ctrl-C only between them


class Failures:
    """Counts the texts on which a program or a metric failed, not the runs: most fail under all wordings or none."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self.by_text: dict[str, str] = {}  # the first error of each text that failed
        self._n_runs = 0
        self._first: tuple[str, Exception] | None = None

    def add(self, part: str, text: str, error: Exception) -> None:
        """Count a failure of `part` (the program, the metric) on a text.

        Raises psopt's own error if that is the cause, which DSPy wraps: an outage, or a value that is probably invalid
        on all texts. Raises ModelError if too many texts have failed.
        """
        for cause in causes(error):
            if isinstance(cause, PsoptError):
                raise cause from None
        reason = first_line(error)[:_LONGEST] if str(error).strip() else ""
        message = f"{type(error).__name__}: {reason}".removesuffix(": ")
        with self._lock:
            self._n_runs += 1
            self.by_text.setdefault(text, message)
            self._first = self._first or (part, error)
            n_texts = len(self.by_text)
        if n_texts > self._most:
            others = f", after {counted(self._most, 'other text')} (max_errors={self._most})" if self._most else ""
            raise ModelError(f"the {part} failed on {text[:_SHOWN]!r}{others}: {message}") from error

    def stop(self) -> None:
        """Raise ModelError: there were only failures."""
        failing_part, error = self._first or ("program", RuntimeError())
        raise ModelError(f"the {failing_part} fails on every text: {next(iter(self.by_text.values()))}") from error

    @property
    def line(self) -> str:
        """A line about them at the end; empty if there are none."""
        if not self.by_text:
            return ""
        text, message = next(iter(self.by_text.items()))
        failed = f"{counted(self._n_runs, 'run')} on {counted(len(self.by_text), 'text')} failed and count as no answer"
        return f"{failed}, the first on {text[:_SHOWN]!r}: {message}"


class ProgramRunner:
    """Runs programs, each on each text once; their answers are stored in the run directory.

    `examples` holds the example with which each text is run; `student` is the user's own program, whose steps no copy
    of it may call. `judged_by` is a digest of the metric and the program's own code: answers that were judged in
    another way are not reused.
    """

    def __init__(
        self,
        outcome: Outcome,
        examples: Mapping[str, Any],
        folder: Path,
        compilation: Compilation,
        *,
        student: Any,
        judged_by: str,
    ) -> None:
        self.outcome = outcome
        self.examples = examples
        self.metric = compilation.metric
        self.failures = Failures(compilation.max_errors)
        self._compilation = compilation
        self._judged_by = judged_by
        self._folder = folder
        self._failed: dict[bytes, Record] = {}  # by their keys, as those in the cache
        self._counter = RunCounter(compilation.models.budget)
        self._own_steps = student.named_predictors()
        self.fields = {step: predictor.signature.fields for step, predictor in self._own_steps}
        example = next(iter(examples.values()))
        # Whether demonstrations show something that examples alone lack
        self.needs_steps = any(name not in example for name in chain.from_iterable(self.fields.values()))
        self._has_named_a_label = False
        # What represents a text in the key of an answer: the inputs, or the whole example if there is a metric
        key_of = inputs_key if self.metric is None else example_key
        self._asked = {text: key_of(example) for text, example in examples.items()}

    def records_of(
        self,
        programs: Sequence[Any],
        texts: Sequence[str],
        on_progress: OnProgress | None = None,
        cells: NDArray[np.bool_] | None = None,
        code: str = "",
    ) -> NDArray[np.object_]:
        """What each program answers to each text: texts as rows, programs as columns.

        With `cells`, (n_texts, n_programs), only those are run, and the others are None. `code` is a digest of the
        programs' own code if they are no copies of the student.

        Raises NoLabelsError if none of the first runs ends in a label. Raises ModelError if too many texts fail.
        """
        keys = self._keys(programs, texts, cells, code)
        answered = self._kept(keys.values())
        jobs = {key: (programs[column], texts[row]) for (row, column), key in keys.items() if key not in answered}
        self._prepare(programs)
        self._compilation.models.budget.count(cached=len(keys) - len(jobs))
        first = self._run_first(jobs, answered.values())
        self._run_all({key: job for key, job in jobs.items() if key not in first}, on_progress)
        answered = self._kept(keys.values())
        if len(texts) >= _FEWEST and all(record.get("failed") for record in answered.values()):
            self.failures.stop()
        records = np.full((len(texts), len(programs)), None, dtype=np.object_)
        for place, key in keys.items():
            records[place] = answered[key]
        return records

    def calls_left(self, programs: Sequence[Any], texts: Sequence[str]) -> int:
        """How many calls the runs take that are not stored, if each calls every step once and no answer is cached."""
        keys = set(self._keys(programs, texts).values())
        self._prepare(programs)
        kept = self._kept(keys) if (self._folder / CACHE_FILES[0]).exists() else ()  # looking would create the file
        n_steps = len(programs[0].named_predictors())
        return (len(keys) - len(kept)) * max(n_steps, self._counter.n_expected)

    def _keys(
        self, programs: Sequence[Any], texts: Sequence[str], cells: NDArray[np.bool_] | None = None, code: str = ""
    ) -> dict[tuple[int, int], bytes]:
        """The key of each answer, by its text and program."""
        if cells is None:
            cells = np.ones((len(texts), len(programs)), dtype=np.bool_)
        fingerprints = list(map(fingerprint, programs))
        kind = f"run {self._judged_by} {code}".rstrip()
        return {
            (row, column): answer_key(kind=kind, text=self._asked[texts[row]], **fingerprints[column])
            for row, column in np.argwhere(cells).tolist()
        }

    @cached_property
    def _cache(self) -> AnswerCache:
        return AnswerCache(self._folder)

    def _kept(self, keys: Collection[bytes]) -> dict[bytes, Record]:
        """The records that there are, by their keys."""
        failed = {key: self._failed[key] for key in keys if key in self._failed}
        return failed | self._cache.get_many(list(keys))

    def _prepare(self, programs: Sequence[Any]) -> None:
        """Name copies' steps, and ask their own models, if they have any, in the same way as the whole program's."""
        for program in programs:
            for step, predictor in program.named_predictors():
                setattr(predictor, _STEP, step)
                if predictor.lm is not None:
                    predictor.lm = self._compilation.as_asked(predictor.lm)
            self._counter.expect(program)

    def _run(self, program: Any, text: str) -> Record:
        """Run a program on a text; an answer that cannot be parsed has the outcome None, and so has a failed run."""
        example = self.examples[text]
        try:
            with self._counter.one_run() as calls, dspy.context(trace=[]):
                prediction = _call(program, dict(example.inputs().items()))
                self._check_steps(calls.steps, program)
                steps = self._steps()
                return {**self._record(example, prediction, text), **steps}
        except dspy.AdapterParseError:
            return {"outcome": None, "merit": 0.0}
        except Exception as error:  # noqa: BLE001  # the program is a user's code, and may raise anything
            self.failures.add("program", text, error)
            return {"outcome": None, "merit": 0.0, "failed": True}

    def _check_steps(self, called: set[int], program: Any) -> None:
        """Raise InputError if a run has called the user's own steps, which no edit reaches, instead of the copy's."""
        for name, step in self._own_steps:
            if id(step) in called:
                raise InputError(
                    f"{type(program).__name__} calls {name} through a function that holds your own program, so that no "
                    "rewording or edit reaches it: call steps by self, in methods"
                )

    def _steps(self) -> Record:
        """What each step of the run has read and answered, if demonstrations need that."""
        if not self.needs_steps:
            return {}
        named = [(getattr(step, _STEP, None), inputs, outputs) for step, inputs, outputs in dspy.settings.trace]
        return {"steps": {name: as_json_data({**read, **dict(gave.items())}) for name, read, gave in named if name}}

    def _record(self, example: Any, prediction: Any, text: str) -> Record:
        """The outcome of a prediction, and the metric's judgement."""
        record: Record = {"outcome": None, "merit": None}
        field = self.outcome.field
        is_missing = hasattr(prediction, "keys") and field not in [*prediction.keys()]
        if is_missing:
            record["gave"] = ", ".join(map(str, prediction.keys()))
        # a field of a prediction or a mapping, otherwise the value itself
        value = prediction.get(field) if hasattr(prediction, "get") else getattr(prediction, field, prediction)
        if value is not None or (self.outcome.takes_none and not is_missing):
            record["outcome"] = as_text(value)
        if self.metric is None:
            return record
        try:
            record["merit"], feedback = judge(self.metric, example, prediction)
        except Exception as error:  # noqa: BLE001  # likewise
            self.failures.add("metric", text, error)
            return {**record, "merit": 0.0, "failed": True}
        return {**record, "feedback": feedback} if feedback else record

    def is_right(self, record: Record, text: str) -> bool:
        """Whether a run's result may be shown as an example: by the metric, otherwise by the example's own outcome."""
        if self.metric is not None:
            return bool(record["merit"] >= PASSED)
        return self.outcome.is_right(record["outcome"], self.examples[text])

    def _run_first(self, jobs: Jobs, answered: Iterable[Record]) -> set[bytes]:
        """Run a few first, and stop if none of them gives a label: the rest would be a waste."""
        self._note_labels(answered)
        first = spread([*jobs], FIRST)
        if self._has_named_a_label or len(first) < FIRST:
            return set()
        self._run_all({key: jobs[key] for key in first}, None)
        records = self._kept(first)
        if all(record.get("failed") for record in records.values()):
            self.failures.stop()
        self._note_labels(records.values())
        if not self._has_named_a_label:
            raise self._no_labels(jobs[first[0]][0], [records[key] for key in first])
        return set(first)

    def _note_labels(self, records: Iterable[Record]) -> None:
        self._has_named_a_label |= any(self.outcome.read(record["outcome"]) is not None for record in records)

    def _no_labels(self, program: Any, records: Sequence[Record]) -> NoLabelsError:
        field = self.outcome.field
        answers = dict.fromkeys(repr(record["outcome"][:_SHOWN]) for record in records if record["outcome"])
        reason = "no answer could be parsed"
        cure = "raise max_tokens if its answers are cut off, or try another model"
        if answers:
            reason = f"they gave {', '.join(answers)[: 3 * _SHOWN]}"
            if self.metric is not None:
                cure += "; add --answers text if the metric alone says what is right"
        elif all("gave" in record for record in records):
            reason = f"what it returns has no {field!r}, but {records[0]['gave'] or 'nothing'}"
            cure = f"let forward return dspy.Prediction({field}=..), or name what it returns with label_field=.."
        return NoLabelsError(
            f"{name_of(program)}: none of the first {FIRST} runs of the program ended in one of its labels in "
            f"{field!r}: {reason}; {cure}"
        )

    def _run_all(self, jobs: Jobs, on_progress: OnProgress | None) -> None:
        """Run all jobs in threads, with the caller's context variables; the first error is raised, the rest dropped.

        Running jobs are awaited, since they are paid for; but not after Ctrl-C, because they may hang.
        """

        def keep(key: bytes) -> None:
            record = self._run(*jobs[key])
            if record.get("failed"):
                self._failed[key] = record
            else:
                self._cache.put(key, record)

        pool = ThreadPoolExecutor(self._compilation.n_threads, thread_name_prefix="psopt-program")
        is_interrupted = False
        try:
            waiting = {pool.submit(contextvars.copy_context().run, keep, key) for key in jobs}
            while waiting:
                done, waiting = wait(waiting, timeout=_SECONDS, return_when=FIRST_EXCEPTION)
                for run in done:
                    run.result()
                if on_progress:
                    on_progress(len(jobs) - len(waiting), len(jobs))
        except KeyboardInterrupt:
            is_interrupted = True
            raise
        finally:
            pool.shutdown(wait=not is_interrupted, cancel_futures=True)


def _call(program: Any, inputs: dict[str, Any]) -> Any:
    """Run a program; an asynchronous one in its own event loop."""
    if not hasattr(type(program), "forward") and hasattr(type(program), "aforward"):
        return asyncio.run(program.acall(**inputs))
    return program(**inputs)


def name_of(program: Any) -> str:
    """``program/`` and the name of its class, with that of the language model."""
    return f"program/{type(program).__name__} on {lm_of(program).model}"
