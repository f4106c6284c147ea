"""The sets of ProSA's study as they are measured: tasks, wordings, prompts, and a model's answers to them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from _prosa_sets import FREE, LABEL, LETTERS, MATH
from _setting import HERE
from psopt.answers import AnswerType
from psopt.evaluation import Predictions, evaluate
from psopt.rephrasings import read_file
from psopt.search_spaces import Example, Prompt
from psopt.tasks import DatasetInfo, Sample, Task, subset
from psopt.templates import Field, Message, Part, Template

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from _prosa_sets import Question, QuestionSet
    from psopt.models import ModelProvider

WORDINGS = {LABEL: "prosa_choices.json", MATH: "prosa_math.json", FREE: "prosa_free.json"}
SHOTS = 4  # examples, if any: enough to show the form, and few enough for any context
SEED = 42
# A problem needs room for the steps to the result: the box at the end decides, and no wording asks for it.
MATH_TEMPLATE = Template(
    (Message("user", (Part(0), "\nEnd with the result in \\boxed{}.\n\nProblem: ", Field("text", "{text}"))),),
    answer="_prosa_math:answer_of",
)


@dataclass(frozen=True)
class Case:
    """A set as it is measured: under several wordings of the instruction, or with several versions of each request.

    Attributes
    ----------
    of : QuestionSet
    questions : tuple of tuple of Question
        Those that are measured, each in its versions; with one version where wordings vary.
    tasks : tuple of Task
        The same questions as a task for each version.
    wordings : tuple of str
        One where versions vary.
    examples : tuple of Example
        Those that may be shown.
    """

    of: QuestionSet
    questions: tuple[tuple[Question, ...], ...]
    tasks: tuple[Task, ...]
    wordings: tuple[str, ...]
    examples: tuple[Example, ...] = ()

    @classmethod
    def read(cls, of: QuestionSet, data: Path, limit: int | None, judge: str, *, with_examples: bool) -> Case:
        """Read the set's files, to be measured under all wordings; at most `limit` questions are chosen, by a seed.

        Raises
        ------
        DataError
            If a file is missing or can't be used.
        """
        examples = _drawn(of.examples(data)) if with_examples and of.training else ()
        questions = _chosen(of, of.questions(data), limit)
        wordings = _wordings(of)
        return cls(of, questions, (_task(of, questions, 0, judge, wordings[0]),), wordings, examples)

    @classmethod
    def read_versions(cls, of: QuestionSet, data: Path, limit: int | None, judge: str) -> Case:
        """Read the set's files and the authors' versions of each request, to be measured under the first wording.

        Raises
        ------
        DataError
            If a file is missing or can't be used.
        """
        questions = _chosen(of, of.questions_in_versions(data), limit)
        wording = _wordings(of)[0]
        tasks = tuple(_task(of, questions, version, judge, wording) for version in range(len(of.versions)))
        return cls(of, questions, tasks, (wording,))

    @property
    def title(self) -> str:
        """Its name in the tables."""
        return f"{self.of.title}, requests" if len(self.tasks) > 1 else self.of.title

    @property
    def n(self) -> int:
        """N."""
        return len(self.questions)

    @property
    def q(self) -> int:
        """Q: wordings, or versions."""
        return len(self.tasks) * len(self.wordings)

    @property
    def shots(self) -> tuple[int, ...]:
        """0, and as many examples as may be shown at once."""
        return (0, len(self.examples)) if self.examples else (0,)

    def prompt(self, shots: int) -> Prompt:
        """The prompt with this many examples."""
        task = self.tasks[0]
        template = MATH_TEMPLATE if self.of.answers == MATH else None
        examples = self.examples[:shots]
        return Prompt(
            self.wordings[0], task.labels, self.of.noun, examples=examples, template=template, asks=task.spec.form
        )

    def predictions(self, model: str, shots: int, provider: ModelProvider) -> Predictions:
        """Let a model answer every question under every wording, or in every version."""
        prompt = self.prompt(shots)
        of_version = []
        for task in self.tasks:
            answering = provider.answering(model, task)
            answer_type = AnswerType.of(task)
            of_version.append(evaluate(answering, prompt, self.wordings, task.test, answer_type=answer_type))
        return of_version[0] if len(of_version) == 1 else _side_by_side(of_version)


def _wordings(of: QuestionSet) -> tuple[str, ...]:
    """The wordings of a set's instruction; for MATH, they fill the one part of its template."""
    return read_file(HERE / "wordings" / WORDINGS[of.answers]).search


def _chosen(
    of: QuestionSet, questions: Sequence[tuple[Question, ...]], limit: int | None
) -> tuple[tuple[Question, ...], ...]:
    """At most `limit` questions, stratified by the right answer where it is a letter."""
    samples = [Sample(str(place), versions[0].text, versions[0].right) for place, versions in enumerate(questions)]
    chosen = subset(samples, limit or len(samples), seed=SEED, by_label=of.answers == LABEL)
    return tuple(questions[int(sample.id)] for sample in chosen)


def _task(of: QuestionSet, questions: Sequence[tuple[Question, ...]], version: int, judge: str, wording: str) -> Task:
    """One version of all questions as a task."""
    asked = [versions[version] for versions in questions]
    samples = tuple(Sample(str(number), question.text, question.right) for number, question in enumerate(asked, 1))
    content = json.dumps([(sample.text, sample.label) for sample in samples])
    info = DatasetInfo(of.name, "file", hashlib.sha256(content.encode()).hexdigest())
    answers = f"{FREE}+judge:{judge}" if of.answers == FREE else of.answers
    labels = LETTERS if of.answers == LABEL else ()
    return Task(of.name, wording, labels, (), (), samples, info, noun=of.noun, answers=answers)


def _drawn(questions: Sequence[Question]) -> tuple[Example, ...]:
    """The examples that prompts show, drawn by a seed."""
    samples = [Sample(str(n), question.text, question.right) for n, question in enumerate(questions, 1)]
    return tuple(Example(sample.text, str(sample.label)) for sample in subset(samples, SHOTS, seed=SEED))


def _side_by_side(of_version: Sequence[Predictions]) -> Predictions:
    """The answers to all versions of the same questions as one grid, (N, versions), with the score of each."""
    first = of_version[0]
    judged = [predictions.judge_measures or {} for predictions in of_version]
    return Predictions(
        np.hstack([predictions.array for predictions in of_version]),
        first.samples,
        first.labels,
        metric_scores=np.hstack([predictions.metric_scores for predictions in of_version]),
        answers=first.answers,
        judge_measures={name: float(np.mean([of[name] for of in judged])) for name in judged[0]},
    )
