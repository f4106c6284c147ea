"""A DSPy program as a task model: prompts become instructions and demonstrations, predictions become classes."""

from __future__ import annotations

import contextvars
import json
import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.dspy_programs._account import Account
from psopt.dspy_programs._judge import merit
from psopt.dspy_programs._lm import is_counted, place_of, reason_of, without_cache
from psopt.dspy_programs._outcome import as_text
from psopt.errors import BudgetReachedError, ModelError, NoLabelsError
from psopt.models import AnswerCache, Capabilities, answer_key
from psopt.models.chat import FIRST, public_address, spread
from psopt.search_spaces import render_additions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.dspy_programs._judge import Metric
    from psopt.dspy_programs._outcome import Outcome
    from psopt.dspy_programs._wordings import Wordings
    from psopt.models import OnProgress
    from psopt.models.chat import Budget
    from psopt.search_spaces import Prompt

    Record = dict[str, Any]

_SHOWN = 60  # characters of an outcome in a message


class ProgramModel:
    """Runs a program under prompts; what it answered once, is kept in the run directory and not asked again.

    A prompt's description names a wording of all steps' instructions; definitions and notes are added to those of the
    step that gives the outcome; examples become demonstrations, complete with what the program itself answered at
    every step on its way to the right outcome.

    Parameters
    ----------
    program : dspy.Module
    outcome : Outcome
    examples : mapping of text to dspy.Example
    wordings : Wordings
    folder : path
        Where answers are kept once it exists.
    budget : Budget
    metric : callable, optional
    teacher : dspy.Module, optional
        Gives the demonstrations, in the program's place.
    n_threads : int
    wrap : callable, optional
        Makes of a step's own language model the one that is asked; by default the same without DSPy's cache.
    """

    capabilities = Capabilities(counts_calls=True, has_metric_scores=True)

    def __init__(
        self,
        program: Any,
        outcome: Outcome,
        examples: Mapping[str, Any],
        wordings: Wordings,
        folder: Path,
        budget: Budget,
        *,
        metric: Metric | None = None,
        teacher: Any = None,
        n_threads: int = 8,
        wrap: Callable[[Any], Any] = without_cache,
    ) -> None:
        self.program, self.outcome, self.wordings = program, outcome, wordings
        self._examples, self._folder, self._account = examples, folder, Account(budget)
        self._metric, self._teacher, self._n_threads = metric, teacher, n_threads
        self._wrap = wrap
        self._cache: AnswerCache | None = None
        self._lock = threading.Lock()
        self._records: dict[bytes, Record] = {}
        self._names_labels = False
        self.steps = tuple(name for name, _ in program.named_predictors())

    @property
    def name(self) -> str:
        """``program/`` and the name of its class, with that of the language model."""
        return f"program/{type(self.program).__name__} on {_lm_of(self.program).model}"

    @property
    def server(self) -> str | None:
        """The address that the program's model is asked at, where that is known."""
        lm = _lm_of(self.program)
        if is_counted(lm):
            return str(lm._engine_spec.server) if lm._engine_spec.server else None
        return public_address(lm.kwargs.get("api_base") or lm.kwargs.get("base_url"))

    def predict(
        self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> NDArray[np.int64]:
        """Run the program on every text under every prompt (see `Model.predict`).

        An answer that can't be parsed is N/A.

        Raises
        ------
        ModelError
            If the program fails otherwise: an outage is no answer.
        """
        programs = [self.apply(prompt, self.wordings.instructions[prompt.description]) for prompt in prompts]
        return self._classes(self._records_of(programs, texts, on_progress), texts, prompts[0].labels)

    def metric_scores(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> NDArray[np.float64] | None:
        """What the metric says of each answer (see `MetricScoredModel.metric_scores`)."""
        if self._metric is None:
            return None
        programs = [self.apply(prompt, self.wordings.instructions[prompt.description]) for prompt in prompts]
        return np.array([[one["merit"] for one in row] for row in self._records_of(programs, texts)])

    def predict_steps(
        self, prompt: Prompt, instructions: Sequence[Mapping[str, str]], texts: Sequence[str]
    ) -> NDArray[np.int64]:
        """Run a prompt under any wordings of the steps: (n_texts, n_wordings) classes."""
        programs = [self.apply(prompt, one) for one in instructions]
        return self._classes(self._records_of(programs, texts), texts, prompt.labels)

    def apply(self, prompt: Prompt, instructions: Mapping[str, str]) -> Any:
        """Return a copy of the program with a prompt in it, under a wording of its steps."""
        program = self.program.deepcopy()
        for step, predictor in program.named_predictors():
            parts = [instructions.get(step, predictor.signature.instructions)]
            if step == self.outcome.step and (added := render_additions(prompt)):
                parts.append(added)
            predictor.signature = predictor.signature.with_instructions("\n\n".join(parts))
            shown = [one.text for one in prompt.examples if one.step in {"", step}]
            found = [self.demonstration(step, text) for text in shown]
            predictor.demos = [*predictor.demos, *(demo for demo in found if demo is not None)]
        return program

    def demonstration(self, step: str, text: str) -> Any:
        """A dspy.Example for a step; None where the program does not get to the right outcome by itself."""
        import dspy

        example = self._examples[text]
        predictor = dict(self.program.named_predictors())[step]
        fields = [*predictor.signature.input_fields, *predictor.signature.output_fields]
        if all(name in example for name in fields):
            return dspy.Example({name: example[name] for name in fields})
        steps = self._traced(text)["steps"]
        return dspy.Example(augmented=True, **steps[step]) if step in steps else None

    @property
    def needs_traces(self) -> bool:
        """Whether examples alone don't hold what demonstrations show."""
        example = next(iter(self._examples.values()))
        return any(
            name not in example
            for _, predictor in self.program.named_predictors()
            for name in (*predictor.signature.input_fields, *predictor.signature.output_fields)
        )

    def _traced(self, text: str) -> Record:
        """What each step read and answered on the way to the right outcome; no step where it was not right."""
        import dspy

        teacher = self._teacher or self.program
        key = self._key(teacher, text, "trace")
        known = self._known([key]).get(key)
        if known is not None:
            return known
        program = self._ready(teacher.deepcopy())
        names = {id(predictor): step for step, predictor in program.named_predictors()}
        example, steps = self._examples[text], {}
        with dspy.context(trace=[]):
            record = self._run(program, text)
            trace = list(dspy.settings.trace or ())
        if self._is_right(record, example):
            for predictor, inputs, outputs in trace:
                steps[names[id(predictor)]] = _plain({**inputs, **dict(outputs.items())})
        return self._keep(key, {"steps": steps})

    def _is_right(self, record: Record, example: Any) -> bool:
        if record["outcome"] is None:
            return False
        gold = as_text(example[self.outcome.field])
        same = self.outcome.equivalence
        return bool(same(record["outcome"], gold)) if same else bool(record["outcome"] == gold)

    def _classes(self, rows: list[list[Record]], texts: Sequence[str], labels: Sequence[str]) -> NDArray[np.int64]:
        """Outcomes as indices into the labels; an outcome that is none of them is N/A."""
        if self.outcome.equivalence is not None:
            return np.array([self._alike(row, text, len(labels)) for row, text in zip(rows, texts, strict=True)])
        index = {label: number for number, label in enumerate(labels)}
        return np.array([[index.get(one["outcome"], len(labels)) for one in row] for row in rows])

    def _alike(self, row: list[Record], text: str, n_labels: int) -> list[int]:
        """Free text by what means the same: 0 is right, others are numbered as they come."""
        same, kinds, found = self.outcome.equivalence, [as_text(self._examples[text][self.outcome.field])], []
        assert same is not None  # noqa: S101  # for the type checker
        for record in row:
            answer = record["outcome"]
            if answer is None:
                found.append(n_labels)
                continue
            number = next((number for number, kind in enumerate(kinds) if same(answer, kind)), None)
            if number is None:
                kinds.append(answer)
                number = len(kinds) - 1
            found.append(min(number, n_labels - 1))
        return found

    def _records_of(
        self, programs: Sequence[Any], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> list[list[Record]]:
        """What each program answers to each text, in threads where it is not known."""
        states = [_state(program) for program in programs]
        known_as = list(zip(programs, states, strict=True))
        keys = [[self._key_of(program, state, text) for program, state in known_as] for text in texts]
        known = self._known([key for row in keys for key in row])
        jobs = {
            key: (program, text)
            for row, text in zip(keys, texts, strict=True)
            for key, program in zip(row, programs, strict=True)
            if key not in known
        }
        for program in programs:
            self._ready(program)
        self._account.had_already(len(texts) * len(programs) - len(jobs))
        self._check_first(jobs, known.values())
        self._run_all({key: job for key, job in jobs.items() if key not in self._records}, on_progress)
        return [[self._records[key] for key in row] for row in keys]

    def _check_first(self, jobs: Mapping[bytes, tuple[Any, str]], known: Iterable[Record]) -> None:
        """Run a few first, and stop if none of them ends in a label: the rest would be paid for nothing.

        Raises
        ------
        NoLabelsError
            If none does.
        """
        self._names_labels = self._names_labels or any(self._is_label(record["outcome"]) for record in known)
        first = spread([*jobs], FIRST)
        if self._names_labels or len(first) < FIRST:
            return
        self._run_all({key: jobs[key] for key in first}, None)
        outcomes = [self._records[key]["outcome"] for key in first]
        self._names_labels = any(map(self._is_label, outcomes))
        if not self._names_labels:
            said = ", ".join(repr(outcome[:_SHOWN]) for outcome in dict.fromkeys(filter(None, outcomes)))
            what = f"they gave {said[: 3 * _SHOWN]}" if said else "no answer could be parsed"
            raise NoLabelsError(
                f"{self.name}: none of the first {FIRST} runs of the program ended in one of its labels in "
                f"{self.outcome.field!r}: {what}; raise max_tokens if its answers are cut off, or try another model"
            )

    def _is_label(self, outcome: str | None) -> bool:
        return outcome is not None and (self.outcome.equivalence is not None or outcome in self.outcome.labels)

    def _run_all(self, jobs: Mapping[bytes, tuple[Any, str]], on_progress: OnProgress | None) -> None:
        pool = ThreadPoolExecutor(self._n_threads, thread_name_prefix="psopt-program")
        is_interrupted = False
        try:
            waiting = {
                pool.submit(contextvars.copy_context().run, self._run_and_keep, key, program, text)
                for key, (program, text) in jobs.items()
            }
            n_done = 0
            while waiting:
                done, waiting = wait(waiting, timeout=1, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                n_done += len(done)
                if on_progress:
                    on_progress(n_done, len(jobs))
        except KeyboardInterrupt:
            is_interrupted = True  # what is under way may hang
            raise
        finally:
            pool.shutdown(wait=not is_interrupted, cancel_futures=True)

    def _ready(self, program: Any) -> Any:
        """Let a copy's steps ask their own models, where they have any, as the whole program's model is asked."""
        for _, predictor in program.named_predictors():
            if predictor.lm is not None:
                predictor.lm = self._wrap(predictor.lm)
        self._account.counts_elsewhere = is_counted(_lm_of(program))
        return program

    def _run_and_keep(self, key: bytes, program: Any, text: str) -> None:
        self._keep(key, self._run(program, text))

    def _run(self, program: Any, text: str) -> Record:
        """Run a program once: its outcome and what that is worth."""
        import dspy

        example = self._examples[text]
        try:
            with self._account.one_run():
                prediction = program(**dict(example.inputs().items()))
        except dspy.AdapterParseError:
            return {"outcome": None, "merit": 0.0}
        except BudgetReachedError:
            raise
        except Exception as error:
            if (own := reason_of(error)) is not None:
                raise own from None
            reason = str(error).splitlines()[0][:300] if str(error) else ""
            raise ModelError(f"the program failed on {text[:60]!r}: {type(error).__name__}: {reason}") from error
        value = prediction.get(self.outcome.field) if hasattr(prediction, "get") else None
        worth = None if self._metric is None else merit(self._metric, example, prediction)
        return {"outcome": None if value is None else as_text(value), "merit": worth}

    def _key(self, program: Any, text: str, kind: str = "outcome") -> bytes:
        return self._key_of(program, _state(program), text, kind)

    def _key_of(self, program: Any, state: str, text: str, kind: str = "outcome") -> bytes:
        import dspy

        adapter = type(dspy.settings.adapter).__name__
        lm = _lm_of(program)
        settings = str(sorted(_public(lm).items()))
        return answer_key(kind=kind, state=state, text=text, lm=[lm.model, settings, *place_of(lm)], adapter=adapter)

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Record]:
        new = [key for key in keys if key not in self._records]
        if new and self._store is not None:
            self._records.update(self._store.get_many(new))
        return {key: self._records[key] for key in keys if key in self._records}

    def _keep(self, key: bytes, record: Record) -> Record:
        self._records[key] = record
        if self._store is not None:
            self._store.put(key, record)
        return record

    @property
    def _store(self) -> AnswerCache | None:
        """Answers on disk, from when the run directory exists."""
        with self._lock:
            if self._cache is None and self._folder.is_dir():
                self._cache = AnswerCache(self._folder)
                self._cache.put_many(self._records)
        return self._cache


def _lm_of(program: Any) -> Any:
    import dspy

    own = next((predictor.lm for _, predictor in program.named_predictors() if predictor.lm is not None), None)
    return own or dspy.settings.lm


def _public(lm: Any) -> dict[str, Any]:
    """What decides an LM's answers beside its name, without secrets."""
    from psopt.models.chat import public_settings as public

    return public(lm.kwargs)


def _state(program: Any) -> str:
    """What decides a program's answers: instructions, fields and demonstrations of every step."""
    return json.dumps(_plain(program.dump_state()), sort_keys=True)


def _plain(value: Any) -> Any:
    """As JSON data; what is none, as text."""
    return json.loads(json.dumps(value, default=as_text))
