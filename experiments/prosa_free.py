"""PSS over model and set, as ProSA (P24) tables it: label sets, MATH, and free answers that a judge rates.

    python experiments/prosa_free.py
    PSOPT_DATA_DIR=... python experiments/prosa_free.py --model openai/NAME .. --judge openai/NAME [--limit 100]

Without --model nothing is asked of the world: scripted models and a scripted judge answer, on a socket, questions that
were written for this project, so that PSS and S are known before. That checks the instrument and finds nothing about
models. With --model the official files are read from PSOPT_DATA_DIR (a missing one is named with its address), or these
samples (--own-samples); how many calls that takes is said before the first.

12 wordings of the instructions for label sets and MATH, 3 for free answers, all written here
(experiments/wordings/). What differs from the paper: its templates also vary where the question and the options stand;
of AlpacaEval and Arena-Hard it rewrites the requests themselves, and here the instruction before them is reworded. Y(p)
is here what a judge rates an answer beside the baseline's, in both orders, in [0, 1]. HumanEval is left out. MATH's
results are compared as numbers where they are such, else as LaTeX in one spelling: nothing is computed, and an equal
result in another form counts as wrong.
Expected: more examples, lower PSS (--shots); higher confidence, lower PSS (--confidence, where a server gives
log-probabilities).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _prosa_page import prosa_free
from _prosa_server import JUDGE, SCRIPTS, ScriptedServer
from _prosa_sets import FREE, LABEL, LETTERS, MATH, SETS
from _setting import HERE, rounded
from psopt.answers import AnswerType
from psopt.errors import InputError, PsoptError
from psopt.evaluation import evaluate, score
from psopt.metrics import correctness, sample_prompt_sensi_score
from psopt.models import ModelProvider
from psopt.models.chat import LMConfig
from psopt.rephrasings import read_file
from psopt.search_spaces import Example, Prompt
from psopt.tasks import DatasetInfo, Sample, Task, subset
from psopt.templates import Field, Message, Part, Template
from scipy.stats import spearmanr

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _prosa_sets import Question, QuestionSet
    from numpy.typing import NDArray
    from psopt.evaluation import Predictions

OWN_SAMPLES = HERE / "samples" / "prosa"
WORDINGS = {LABEL: "prosa_choices.json", MATH: "prosa_math.json", FREE: "prosa_free.json"}
SHOTS = 4  # examples, where there are any: enough to show the form, and few enough for any context
SEED = 42
# A problem needs room for its way to the result: what is boxed at the end decides, and stands in no wording.
MATH_TEMPLATE = Template(
    (Message("user", (Part(0), "\nEnd with the result in \\boxed{}.\n\nProblem: ", Field("text", "{text}"))),),
    answer="_prosa_math:answer_of",
)
JUDGE_CALLS = 2  # an answer: in both orders


@dataclass(frozen=True)
class Case:
    """A set as it is measured: its task, its wordings, and what may be shown as examples."""

    of: QuestionSet
    task: Task
    wordings: tuple[str, ...]
    examples: tuple[Example, ...]

    @classmethod
    def read(cls, of: QuestionSet, data: Path, limit: int | None, judge: str, *, with_examples: bool) -> Case:
        """Read the set's files; at most `limit` questions are chosen, by a seed.

        Raises
        ------
        DataError
            If a file is missing or can't be used.
        """
        questions = of.questions(data)
        n_parts = 1 if of.answers == MATH else 0
        wordings = read_file(HERE / "wordings" / WORDINGS[of.answers], n_parts).search
        samples = tuple(Sample(str(n), question.text, question.right) for n, question in enumerate(questions, 1))
        samples = subset(samples, limit or len(samples), seed=SEED, by_label=of.answers == LABEL)
        content = json.dumps([(sample.text, sample.label) for sample in samples])
        info = DatasetInfo(of.name, "file", hashlib.sha256(content.encode()).hexdigest())
        answers = f"{FREE}+judge:{judge}" if of.answers == FREE else of.answers
        labels = LETTERS if of.answers == LABEL else ()
        task = Task(of.name, wordings[0], labels, (), (), samples, info, noun=of.noun, answers=answers)
        examples = _drawn(of.examples(data)) if with_examples and of.training else ()
        return cls(of, task, wordings, examples)

    @property
    def n_cells(self) -> int:
        """How many answers a prompt takes: N x Q."""
        return len(self.task.test) * len(self.wordings)

    @property
    def shots(self) -> tuple[int, ...]:
        """0, and as many examples as may be shown at once."""
        return (0, len(self.examples)) if self.examples else (0,)

    def prompt(self, shots: int) -> Prompt:
        """The prompt with so many examples."""
        template = MATH_TEMPLATE if self.of.answers == MATH else None
        asks = self.task.spec.form
        examples = self.examples[:shots]
        return Prompt(self.wordings[0], self.task.labels, self.of.noun, examples=examples, template=template, asks=asks)


def _drawn(questions: Sequence[Question]) -> tuple[Example, ...]:
    """The examples that prompts show, drawn by a seed."""
    samples = [Sample(str(n), question.text, question.right) for n, question in enumerate(questions, 1)]
    return tuple(Example(sample.text, str(sample.label)) for sample in subset(samples, SHOTS, seed=SEED))


def measure(case: Case, model: str, shots: int, provider: ModelProvider) -> dict[str, Any]:
    """Let a model answer every question under every wording, and score that."""
    answering = provider.answering(model, case.task)
    prompt = case.prompt(shots)
    answer_type = AnswerType.of(case.task)
    predictions = evaluate(answering, prompt, case.wordings, case.task.test, answer_type=answer_type)
    scores = score(predictions)
    about = {"set": case.of.name, "model": model, "shots": shots, "n": len(case.task.test), "q": len(case.wordings)}
    measured = {"quality_name": scores.quality_name, "quality": scores.f1, "pss": float(sample_pss(predictions).mean())}
    judged = predictions.judge_measures or {}
    return {**about, **measured, "sensitivity": scores.sensitivity, "na_rate": scores.na_rate, "judge": dict(judged)}


def sample_pss(predictions: Predictions) -> NDArray[np.float64]:
    """Each question's PSS, (N,): of what its answers are worth, or of whether they are right."""
    quality = predictions.quality
    return sample_prompt_sensi_score(correctness(predictions.array, predictions.truth) if quality is None else quality)


def by_confidence(case: Case, model: str, provider: ModelProvider) -> dict[str, Any]:
    """PSS against the mean probability of the most probable letter: P24's decoding confidence."""
    answering = provider.answering(model, case.task)
    predictions = evaluate(answering, case.prompt(0), case.wordings, case.task.test, from_probabilities=True)
    assert predictions.probabilities is not None  # noqa: S101  # they were asked for
    confidences = predictions.probabilities[:, :, :-1].max(axis=2).mean(axis=1)
    pss = sample_pss(predictions)
    varies = np.ptp(confidences) > 0 and np.ptp(pss) > 0
    test = spearmanr(confidences, pss) if varies else None
    about = {"set": case.of.name, "model": model, "confidence": float(confidences.mean()), "pss": float(pss.mean())}
    return {**about, "rho": test and float(test.statistic), "p_value": test and float(test.pvalue)}


def known(case: Case, model: str, shots: int) -> dict[str, float]:
    """What a scripted model's scores have to be."""
    script = SCRIPTS[model.removeprefix("openai/")]
    sizes = (len(case.task.test), len(case.wordings), case.of.answers)
    pss = script.known_pss(*sizes, with_examples=shots > 0)
    return {"known_pss": pss, "known_sensitivity": script.known_sensitivity(*sizes, with_examples=shots > 0)}


def runs_of(cases: Sequence[Case], models: Sequence[str]) -> Iterator[tuple[Case, str, int]]:
    """Every set with every model, without and with examples."""
    return ((case, model, shots) for case in cases for model in models for shots in case.shots)


def expected_calls(cases: Sequence[Case], models: Sequence[str], *, confidence: bool) -> tuple[int, int]:
    """How many calls of models and, at most, of the judge are to come."""
    asked = sum(case.n_cells for case, _, _ in runs_of(cases, models))
    if confidence:
        asked += len(models) * sum(case.n_cells for case in cases if case.of.answers == LABEL)
    rated = len(models) * JUDGE_CALLS * sum(case.n_cells for case in cases if case.of.answers == FREE)
    return asked, rated


def offline(words: argparse.Namespace) -> dict[str, Any]:
    """Let the scripted models answer our own samples, and put beside each score what it has to be."""
    models = [f"openai/{name}" for name in SCRIPTS]
    cases = read_cases(words, OWN_SAMPLES, f"openai/{JUDGE}", with_examples=True)
    asked = [(case.of, _questions(case), case.wordings) for case in cases]
    with ScriptedServer(asked) as server, tempfile.TemporaryDirectory() as folder:
        lm = LMConfig(api_base=server.url)
        results = measure_all(cases, models, ModelProvider(folder, lm), confidence=True)
        results["calls"] = {"answers": sum(server.n_asked[name] for name in SCRIPTS), "ratings": server.n_asked[JUDGE]}
    for (case, model, shots), row in zip(runs_of(cases, models), results["rows"], strict=True):
        row |= known(case, model, shots)
    return results


def _questions(case: Case) -> list[Question]:
    """The questions that are measured, in the order in which they are."""
    by_text = {question.text: question for question in case.of.questions(OWN_SAMPLES)}
    return [by_text[sample.text] for sample in case.task.test]


def online(words: argparse.Namespace) -> dict[str, Any]:
    """Ask real models, and a real judge."""
    data = OWN_SAMPLES if words.own_samples else Path(words.data or os.environ.get("PSOPT_DATA_DIR") or "data")
    cases = read_cases(words, data, words.judge or "", with_examples=words.shots)
    lm = LMConfig(api_base=words.api_base, max_calls=words.max_calls)
    return measure_all(cases, words.model, ModelProvider(lm=lm), confidence=words.confidence, only_count=words.dry_run)


def read_cases(words: argparse.Namespace, data: Path, judge: str, *, with_examples: bool) -> list[Case]:
    """Read all sets before anybody is asked.

    Raises
    ------
    InputError
        If a file is missing or can't be used, or free answers have no judge.
    """
    chosen = [of for of in SETS if of.name in words.sets]
    free = [of.title for of in chosen if of.answers == FREE]
    if free and not judge:
        raise InputError(
            f"{' and '.join(free)}: a judge rates free answers; add --judge MODEL, or leave them out of --set"
        )
    return [Case.read(of, data, words.limit, judge, with_examples=with_examples) for of in chosen]


def measure_all(
    cases: Sequence[Case], models: Sequence[str], provider: ModelProvider, *, confidence: bool, only_count: bool = False
) -> dict[str, Any]:
    """Measure every set with every model; say first how many calls that takes."""
    asked, rated = expected_calls(cases, models, confidence=confidence)
    print(f"calls to come: {asked:,} answers, at most {rated:,} ratings (answers in the cache are not asked again)")
    results: dict[str, Any] = {"expected_calls": {"answers": asked, "ratings": rated}, "rows": [], "by_confidence": []}
    if only_count:
        return results
    for case, model, shots in runs_of(cases, models):
        row = measure(case, model, shots, provider)
        results["rows"].append(row)
        print(
            f"{case.of.title}, {model}, {shots} examples: PSS {row['pss']:.3f}, S {row['sensitivity']:.3f}", flush=True
        )
    if confidence:
        with_logprobs = ModelProvider(provider.cache_dir, replace(provider.lm, logprobs=True), provider.budget)
        of_labels = [case for case in cases if case.of.answers == LABEL]
        results["by_confidence"] = [by_confidence(case, model, with_logprobs) for case in of_labels for model in models]
    return results


def about(words: argparse.Namespace) -> str:
    """The setting, in words."""
    n = "all" if words.limit is None else f"at most {words.limit}"
    if not words.model:
        return (
            f"Scripted models and a scripted judge on samples written for this project ({n} of 12 a set): PSS and S "
            "are known from the script, and what is measured has to be that. It is a check of the instrument; nothing "
            "is found here about language models, and nothing compares with the published numbers."
        )
    data = "samples written for this project" if words.own_samples else "the official files"
    judge = f", judge {words.judge}" if words.judge else ""
    return f"{', '.join(words.model)}{judge}; {data}, {n} questions a set; seed {SEED}."


def save(results: dict[str, Any], words: argparse.Namespace) -> None:
    """Write the results as JSON and as a page in Markdown."""
    name = "prosa_free_models" if words.model else "prosa_free"
    results = rounded({"setting": {"words": about(words)}, **results})
    words.results.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=1, ensure_ascii=False)
    (words.results / f"{name}.json").write_text(text + "\n", "utf-8")
    page = f"# ProSA's table of PSS\n\n{results['setting']['words']}\n\n{prosa_free(results)}"
    (words.results / f"{name}.md").write_text(page.rstrip() + "\n", "utf-8")
    print(page)


def read_words() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [of.name for of in SETS]
    parser.add_argument("--offline", action="store_true", help="scripted models on own samples: the default")
    parser.add_argument("--model", nargs="+", default=[], help="openai/NAME, azure/NAME, dspy/NAME")
    parser.add_argument("--judge", help="the model that rates free answers")
    parser.add_argument("--set", nargs="+", default=names, choices=names, dest="sets")
    parser.add_argument("--limit", type=int, help="at most so many questions a set, chosen by a seed")
    parser.add_argument("--data", type=Path, help="folder of the official files; default $PSOPT_DATA_DIR")
    parser.add_argument("--own-samples", action="store_true", help="the samples written for this project")
    parser.add_argument("--shots", action="store_true", help="label sets with examples of their training files, too")
    parser.add_argument("--confidence", action="store_true", help="label sets by log-probabilities, too")
    parser.add_argument("--dry-run", action="store_true", help="say how many calls it takes, and make none")
    parser.add_argument("--api-base")
    parser.add_argument("--max-calls", type=int)
    parser.add_argument("--results", type=Path, default=HERE / "results")
    words = parser.parse_args()
    if words.offline and words.model:
        parser.error("--offline asks scripted models alone: leave --model out")
    if words.dry_run and not words.model:
        parser.error("--dry-run counts what models would be asked: add --model")
    if words.limit is not None and words.limit < 1:
        parser.error("--limit must be at least 1")
    return words


def main() -> None:
    """Measure and save; a fault of the user's is one line."""
    words = read_words()
    try:
        results = online(words) if words.model else offline(words)
    except PsoptError as error:
        print(error, file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    if not words.dry_run:
        save(results, words)


if __name__ == "__main__":
    main()
