"""The bench of dspy_equal_calls.py: a program on a draw of a data set, whatever optimizes it, and its test."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import time
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import dspy
import numpy as np
from _direct_arms import ARMS, Setting, answered
from _dspy_rivals import OPTIMIZERS, THREADS, Field
from _equal_calls_page import MEASURES, UNOPTIMISED
from _label_lm import AsyncLabelEngine, LabelEngine
from _lm_server import writer_of
from _public_sets import SETS, load_splits, wordings_by_hand
from _rule_writer import RuleWriter
from psopt.evaluation import Predictions, compare_paired, score
from psopt.models import minilm_lm
from psopt.models.minilm import MiniLM, read_request
from psopt.rephrasings import rephrase_by_rules
from psopt.tasks import Sample, Task

if TYPE_CHECKING:
    from _public_sets import Rows
    from psopt.models.minilm import Reading


MINILM = "minilm"


class _Listener:
    """An engine that only records what it is asked."""

    def __init__(self, heard: list[Reading]) -> None:
        self._heard = heard

    def complete(self, request: Any) -> Any:
        from dspy import lm15

        self._heard.append(read_request(request))
        label = self._heard[-1].outputs[-1].labels[0]
        text = f"[[ ## label ## ]]\n{label}\n\n[[ ## completed ## ]]"
        message = lm15.Message(role="assistant", parts=(lm15.TextPart(text),))
        usage = lm15.Usage(input_tokens=0, output_tokens=0)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


class Bench:
    """One data set and seed: a program, its language model, and the test that every optimizer's program takes.

    `model` answers: minilm, or a real model's name. `writer` writes, unless rules do.
    """

    def __init__(
        self, name: str, seed: int, folder: Path, sizes: dict[str, int], model: str = MINILM, writer: str | None = None
    ) -> None:
        self.chosen = SETS[name]
        self.drawn = load_splits(name, folder, (sizes["train"], sizes["val"], sizes["test"]), seed)
        self.train, self.val = self._examples(self.drawn.train), self._examples(self.drawn.val)
        self.labels = tuple(sorted({label for rows in self.drawn for _, label in rows}))
        self.test = self.drawn.test
        self.samples = tuple(Sample(f"{row}", text, label) for row, (text, label) in enumerate(self.test))
        self.wordings = wordings_by_hand(name)[: sizes["wordings"]]
        self.seed = seed
        self.model = model
        texts = [text for text, _ in self.drawn.train]
        if model == MINILM:
            self.lm = minilm_lm(texts, cache=False, cache_dir=folder)
            self.engine = self.lm._engine_spec  # made with the model, to count its calls
        else:
            self.engine = LabelEngine(model)
            awaited = AsyncLabelEngine(self.engine)  # one model in memory, and one count of calls
            self.lm = dspy.LM(f"psopt/{model}", engine=self.engine, async_engine=awaited, cache=False)
        self.alone = MiniLM(texts, cache_dir=folder) if model == MINILM else None  # the same without DSPy
        self.writer = writer

    def program(self) -> Any:
        """The program as its user wrote it."""
        signature = dspy.Signature(
            {self.chosen.field: (str, dspy.InputField()), "label": (Literal[self.labels], dspy.OutputField())},
            self.chosen.instructions,
        )
        return dspy.Predict(signature)

    @cached_property
    def before(self) -> Predictions:
        """What the program answers as its user wrote it."""
        return self.answers(self.program())

    def outcome(self, name: str, calls: int) -> tuple[Predictions, dict[str, Any]]:
        """What the program that an optimizer returns answers on test; the program, and what it cost."""
        program, costs = self._optimized(name, calls)
        instructions = program.signature.instructions
        is_rewritten = self.chosen.instructions not in instructions
        about = {**costs, "instructions": instructions, "is_rewritten": is_rewritten, "demos": len(program.demos)}
        return self.answers(program), about

    def without_dspy(self, name: str, calls: int) -> tuple[Predictions, dict[str, Any]]:
        """The same for one of `ARMS`, which ask the model directly."""
        field = self.chosen.field
        task = Task.from_records(
            [*self.drawn.train, *self.drawn.val],
            name=field, description=self.chosen.instructions, noun=field, labels=self.labels, seed=self.seed,
        )  # fmt: skip
        setting = Setting(task, self.model, calls, self.seed)
        answers, costs, prompt = answered(name, setting, self.samples, self.wordings)
        return answers, {**costs, "instructions": prompt.description, "demos": len(prompt.examples)}

    def _optimized(self, name: str, calls: int) -> tuple[Any, dict[str, float]]:
        writer = partial(self._writer, vary=True)
        field = Field(self.program(), self.train, self.val, writer=writer, calls=calls, seed=self.seed)
        n_before, started = self.engine.n_calls, time.monotonic()
        with dspy.context(lm=self.lm, num_threads=THREADS):
            program = OPTIMIZERS[name](field)
        plain = dspy.Predict(program.signature)  # no language model of its own, no traces
        plain.demos = program.demos
        return plain, {"calls": self.engine.n_calls - n_before, "seconds": round(time.monotonic() - started, 1)}

    def answers(self, program: Any) -> Predictions:
        """What a program answers on test, its instructions reworded."""
        reworded = [program.signature.with_instructions(text) for text in self.reworded(program.signature.instructions)]
        array = self._answered(program, reworded) if self.alone is None else self._predicted(program, reworded)
        return Predictions(array, self.samples, self.labels)

    def reworded(self, instructions: str) -> list[str]:
        """The user's task in hand-written wordings, with what an optimizer has added to it.

        Nobody wrote wordings of instructions that a writer has put in its place: these are reworded by rule. Left as
        they are, they would have S = 0 whatever the model does.
        """
        if self.chosen.instructions not in instructions:
            parts = re.split(r"\n\s*\n", instructions.strip())
            n_parts = len(parts) if "\n" in instructions.strip() else 0  # one line may be taken apart
            n, noun = len(self.wordings), self.chosen.field
            return list(rephrase_by_rules("\n\n".join(parts), noun, n, 1, self.seed, n_parts=n_parts).search)
        return [instructions.replace(self.chosen.instructions, wording) for wording in self.wordings]

    def _answered(self, program: Any, reworded: list[Any]) -> Any:
        with dspy.context(lm=self.lm):
            columns = [
                [self.labels.index(program(**{self.chosen.field: text}, signature=one).label) for text, _ in self.test]
                for one in reworded
            ]
        return np.array(columns).T

    def _predicted(self, program: Any, reworded: list[Any]) -> Any:
        """As minilm answers: through DSPy for one example per wording, directly for the rest.

        That takes a hundredth of the time and gives the same answers.
        """
        heard: list[Reading] = []
        with dspy.context(lm=dspy.LM("psopt/minilm", engine=_Listener(heard), cache=False)):
            for signature in reworded:
                program(**{self.chosen.field: self.test[0][0]}, signature=signature)
        prompts = [reading.prompt(reading.outputs[-1]) for reading in heard]
        return self.alone.predict(prompts, [text for text, _ in self.test])

    def _writer(self, *, vary: bool) -> Any:
        if self.writer:
            return writer_of(self.writer)
        return dspy.LM("rules/writer", engine=RuleWriter(self.chosen.instructions, vary=vary), cache=False)

    def _examples(self, rows: Rows) -> list[Any]:
        field = self.chosen.field
        return [dspy.Example(**{field: text, "label": label}).with_inputs(field) for text, label in rows]


@lru_cache(maxsize=1)
def _bench(
    name: str, seed: int, folder: Path, sizes: tuple[tuple[str, int], ...], model: str, writer: str | None
) -> Bench:
    """The same for all of a draw's rows that one process measures."""
    return Bench(name, seed, folder, dict(sizes), model, writer)


def one_draw(
    name: str,
    seed: int,
    wanted: list[tuple[str, int]],
    folder: Path,
    sizes: dict[str, int],
    model: str = MINILM,
    writer: str | None = None,
) -> dict[str, Any]:
    """Let optimizers work on one draw of one data set, each within its number of calls."""
    logging.disable(logging.CRITICAL)  # DSPy's optimizers print and warn hundreds of times
    nowhere = Path(os.devnull).open("w")  # noqa: SIM115  # as long as the process
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        bench = _bench(name, seed, folder, tuple(sizes.items()), model, writer)
        before = bench.before
        rows: dict[str, Any] = {UNOPTIMISED: _scores(before)}
        for optimizer, calls in wanted:
            after, about = (
                bench.without_dspy(optimizer, calls) if optimizer in ARMS else bench.outcome(optimizer, calls)
            )
            rows[f"{optimizer} / {calls}"] = {**_scores(after), "against": _against(before, after), **about}
    return rows


def _scores(predictions: Predictions) -> dict[str, float]:
    scores = score(predictions)
    return {name: round(float(getattr(scores, name)), 4) for name in MEASURES}


def _against(before: Predictions, after: Predictions) -> dict[str, list[float]]:
    """Differences from the program as it was: the value and its 95 % interval."""
    differences = compare_paired(before, after)
    told = {name: (differences[name].difference, differences[name].low, differences[name].high) for name in MEASURES}
    return {name: [round(float(value), 4) for value in values] for name, values in told.items()}
