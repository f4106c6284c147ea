"""Runs programs on texts: once each, in threads, with the results stored so that no run is paid for twice."""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._examples import example_key, inputs_key
from psopt.dspy_programs._fingerprint import Fingerprint
from psopt.dspy_programs._lm import RunCounter, is_counted, lm_of, own_error
from psopt.dspy_programs._metric import PASSED, judge
from psopt.dspy_programs._outcome import as_text
from psopt.dspy_programs._records import Failures, Records
from psopt.errors import BudgetReachedError, InputError, NoLabelsError
from psopt.models.chat import FIRST, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._outcome import Outcome
    from psopt.dspy_programs._records import Record
    from psopt.models import OnProgress

    Jobs = Mapping[bytes, tuple[Any, str]]
    """The program and the text, by the key of the answer."""


_FEWEST = 3  # texts: if all of these fail, the texts are not the cause
_SHOWN = 60  # characters of an outcome or a text in a message
_SECONDS = 1  # between progress updates: as often as a progress bar is redrawn


class ProgramRunner:
    """Runs programs, each on each text once; their answers are stored in the run directory.

    Parameters
    ----------
    examples : mapping of text to dspy.Example
        The example with which a text is run.
    n_steps : int
        The number of predictors of the program, and of calls reserved for its first runs.
    judged_by : str
        A digest of the metric and the program's own code: answers that were judged in another way are not reused.
    """

    def __init__(
        self,
        outcome: Outcome,
        examples: Mapping[str, Any],
        folder: Path,
        compilation: Compilation,
        *,
        n_steps: int,
        judged_by: str,
    ) -> None:
        self.outcome = outcome
        self.examples = examples
        self.metric = compilation.metric
        self.judged_by = judged_by
        self.records = Records(folder)
        self.failures = Failures(compilation.max_errors)
        self._budget = compilation.models.budget
        self._counter = RunCounter(self._budget, n_steps)
        self._n_threads = compilation.n_threads
        self._as_asked = compilation.as_asked
        self._has_named_a_label = False
        self._asked: dict[str, str] = {}

    def records_of(
        self,
        programs: Sequence[Any],
        texts: Sequence[str],
        on_progress: OnProgress | None = None,
        cells: NDArray[np.bool_] | None = None,
    ) -> list[list[Record | None]]:
        """What each program answers to each text: texts as rows, programs as columns.

        With `cells`, (n_texts, n_programs), only those are run, and the others are None.

        Raises NoLabelsError if none of the first runs ends in a label. Raises ModelError if too many texts fail.
        """
        fingerprints = [Fingerprint.of(program) for program in programs]
        wanted = np.ones((len(texts), len(programs)), dtype=np.bool_) if cells is None else cells
        keys = {
            (row, column): fingerprints[column].key(self.asked(texts[row]), f"outcome {self.judged_by}".rstrip())
            for row, column in np.argwhere(wanted).tolist()
        }
        answered = self.records.get_many(keys.values())
        jobs = {key: (programs[column], texts[row]) for (row, column), key in keys.items() if key not in answered}
        for program in programs:
            self.prepare(program)
        self._budget.count(cached=len(keys) - len(jobs))
        first = self._run_first(jobs, answered.values())
        self._run_all({key: job for key, job in jobs.items() if key not in first}, on_progress)
        answered = self.records.get_many(keys.values())
        if len(texts) >= _FEWEST and all(record.get("failed") for record in answered.values()):
            self.failures.stop()
        rows: list[list[Record | None]] = [[None] * len(programs) for _ in texts]
        for (row, column), key in keys.items():
            rows[row][column] = answered[key]
        return rows

    def asked(self, text: str) -> str:
        """What represents a text in the key of an answer: the inputs, or the whole example if there is a metric."""
        if text not in self._asked:
            key = inputs_key if self.metric is None else example_key
            self._asked[text] = key(self.examples[text])
        return self._asked[text]

    def prepare(self, program: Any) -> Any:
        """Ask the own models of a copy's steps, if they have any, in the same way as the whole program's model."""
        for _, predictor in program.named_predictors():
            if predictor.lm is not None:
                predictor.lm = self._as_asked(predictor.lm)
        self._counter.counts_elsewhere = is_counted(lm_of(program))
        return program

    def run(self, program: Any, text: str) -> Record:
        """Run a program on a text: its outcome, and the outcome's score.

        An answer that cannot be parsed has the outcome None; so has a failed run, as long as few texts fail.

        Raises PsoptError if psopt's own engine gives up (an outage is not an answer), a limit is reached, or too many
        texts have failed.
        """
        example = self.examples[text]
        try:
            with self._counter.one_run():
                prediction = _call(program, dict(example.inputs().items()))
        except dspy.AdapterParseError:
            return {"outcome": None, "merit": 0.0}
        except BudgetReachedError:
            raise
        except Exception as error:  # noqa: BLE001  # the program is a user's code, and may raise anything
            if (own := own_error(error)) is not None:
                raise own from None
            self.failures.add("program", text, error)
            return {"outcome": None, "merit": 0.0, "failed": True}
        value = _value(prediction, self.outcome.field)
        fields = [*prediction.keys()] if hasattr(prediction, "keys") else [self.outcome.field]
        is_there = self.outcome.field in fields
        outcome = as_text(value) if value is not None or (self.outcome.takes_none and is_there) else None
        record = {"outcome": outcome} if is_there else {"outcome": outcome, "gave": ", ".join(map(str, fields))}
        if self.metric is None:
            return {**record, "merit": None}
        return {**record, **self._judged(example, prediction, text)}

    def is_right(self, record: Record, text: str) -> bool:
        """Whether a run's result may be shown as an example: by the metric, otherwise by the example's own outcome."""
        if self.metric is not None:
            return bool(record["merit"] >= PASSED)
        return self.outcome.is_right(record["outcome"], self.examples[text])

    def _judged(self, example: Any, prediction: Any, text: str) -> Record:
        """The metric's judgement of a prediction: a score of 0 if the metric fails."""
        assert self.metric is not None  # noqa: S101  # for the type checker
        try:
            judgement = judge(self.metric, example, prediction)
        except InputError:  # it returns an invalid value, probably on all texts
            raise
        except Exception as error:  # noqa: BLE001  # likewise
            self.failures.add("metric", text, error)
            return {"merit": 0.0, "failed": True}
        feedback = {"feedback": judgement.feedback} if judgement.feedback else {}
        return {"merit": judgement.score, **feedback}

    def _run_first(self, jobs: Jobs, answered: Iterable[Record]) -> set[bytes]:
        """Run a few first, and stop if none of them gives a label: the rest would be a waste."""
        self._has_named_a_label |= any(map(self._names_a_label, answered))
        first = spread([*jobs], FIRST)
        if self._has_named_a_label or len(first) < FIRST:
            return set()
        self._run_all({key: jobs[key] for key in first}, None)
        records = self.records.get_many(first)
        if all(record.get("failed") for record in records.values()):
            self.failures.stop()
        shown = [records[key] for key in first]
        self._has_named_a_label = any(map(self._names_a_label, shown))
        if not self._has_named_a_label:
            raise self._no_labels(jobs[first[0]][0], shown)
        return set(first)

    def _names_a_label(self, record: Record) -> bool:
        return self.outcome.read(record["outcome"]) is not None

    def _no_labels(self, program: Any, records: Sequence[Record]) -> NoLabelsError:
        field = self.outcome.field
        answers = ", ".join(
            repr(text[:_SHOWN]) for text in dict.fromkeys(filter(None, (of["outcome"] for of in records)))
        )
        reason = f"they gave {answers[: 3 * _SHOWN]}" if answers else "no answer could be parsed"
        cure = "raise max_tokens if its answers are cut off, or try another model"
        if not answers and all("gave" in record for record in records):
            reason = f"what it returns has no {field!r}, but {records[0]['gave'] or 'nothing'}"
            cure = f"let forward return dspy.Prediction({field}=..), or name what it returns with label_field=.."
        return NoLabelsError(
            f"{name_of(program)}: none of the first {FIRST} runs of the program ended in one of its labels in "
            f"{field!r}: {reason}; {cure}"
        )

    def _run_all(self, jobs: Jobs, on_progress: OnProgress | None) -> None:
        calls = [partial(self._run_and_keep, key, program, text) for key, (program, text) in jobs.items()]
        _run_in_threads(calls, self._n_threads, on_progress)

    def _run_and_keep(self, key: bytes, program: Any, text: str) -> None:
        self.records.put(key, self.run(program, text))


def _call(program: Any, inputs: dict[str, Any]) -> Any:
    """Run a program; an asynchronous one in its own event loop."""
    if not hasattr(type(program), "forward") and hasattr(type(program), "aforward"):
        return asyncio.run(program.acall(**inputs))
    return program(**inputs)


def _value(prediction: Any, field: str) -> Any:
    """The outcome in what a program returns: a field of a prediction or mapping, otherwise the value itself."""
    if hasattr(prediction, "get"):
        return prediction.get(field)
    return getattr(prediction, field, prediction)


def name_of(program: Any) -> str:
    """``program/`` and the name of its class, with that of the language model."""
    return f"program/{type(program).__name__} on {lm_of(program).model}"


def _run_in_threads(
    jobs: Sequence[Callable[[], object]], n_threads: int, on_progress: OnProgress | None = None
) -> None:
    """Run all jobs; each sees the caller's context variables, including DSPy's settings.

    The first error is raised, and jobs that have not begun are dropped. Running jobs are awaited, since they are paid
    for and will be stored; but not after Ctrl-C, because they may hang.
    """
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="psopt-program")
    is_interrupted = False
    try:
        waiting = {pool.submit(contextvars.copy_context().run, job) for job in jobs}
        n_done = 0
        while waiting:
            done, waiting = wait(waiting, timeout=_SECONDS, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
            n_done += len(done)
            if on_progress:
                on_progress(n_done, len(jobs))
    except KeyboardInterrupt:
        is_interrupted = True
        raise
    finally:
        pool.shutdown(wait=not is_interrupted, cancel_futures=True)
