"""PSS by model and set, as in ProSA's (P24) tables: label sets, MATH, and free answers that a judge rates.

    python experiments/prosa_free.py
    PSOPT_DATA_DIR=... python experiments/prosa_free.py --model openai/NAME .. --judge openai/NAME [--limit 100]

Without --model no outside service is asked: scripted models and a scripted judge, on a socket, answer questions written
for this project, so that PSS and S are known in advance. That checks the instrument and shows nothing about models.
With --model the official files are read from PSOPT_DATA_DIR (a missing one is named with its address), or these samples
(--own-samples); the number of calls is printed before the first.

12 wordings of the instructions for label sets and MATH, 3 for free answers, all written here
(experiments/wordings/). What differs from the paper: its templates also vary where the question and the options stand.
For AlpacaEval and Arena-Hard it rewrites the requests themselves, as --versions does, from its authors' files. Y(p) is
here a judge's rating of an answer against the baseline's, in both orders, in [0, 1]. HumanEval is left out. MATH's
results are compared as numbers where possible, otherwise as LaTeX in one spelling: nothing is computed, and an equal
result in another form counts as wrong.
Expected: more examples, lower PSS (--shots); higher confidence, lower PSS (--confidence, where a server gives
log-probabilities).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _prosa_cases import SEED, Case
from _prosa_page import prosa_free
from _prosa_server import JUDGE, SCRIPTS, ScriptedServer
from _prosa_sets import FREE, LABEL, SETS
from _setting import HERE, rounded
from psopt.errors import InputError, PsoptError
from psopt.evaluation import evaluate, score
from psopt.metrics import sample_prompt_sensi_score
from psopt.models import ModelProvider
from psopt.models.chat import LMConfig
from scipy.stats import spearmanr

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions

OWN_SAMPLES = HERE / "samples" / "prosa"
JUDGE_CALLS = 2  # per answer: in both orders


def measure(case: Case, model: str, shots: int, provider: ModelProvider) -> dict[str, Any]:
    """Let a model answer, and score its answers."""
    predictions = case.predictions(model, shots, provider)
    scores = score(predictions)
    return {
        "set": case.title,
        "model": model,
        "shots": shots,
        "n": case.n,
        "q": case.q,
        "quality_name": scores.quality_name,
        "quality": scores.f1,
        "pss": float(sample_pss(predictions).mean()),
        "sensitivity": scores.sensitivity,
        "na_rate": scores.na_rate,
        "judge": dict(predictions.judge_measures or {}),
    }


def sample_pss(predictions: Predictions) -> NDArray[np.float64]:
    """Each question's PSS, (N,): from its answers' scores, or from whether they are right."""
    quality = predictions.quality
    return sample_prompt_sensi_score(predictions.array == predictions.truth[:, None] if quality is None else quality)


def by_confidence(case: Case, model: str, provider: ModelProvider) -> dict[str, Any]:
    """PSS against the mean probability of the most probable letter: P24's decoding confidence."""
    (task,) = case.tasks
    answering = provider.answering(model, task)
    predictions = evaluate(answering, case.prompt(0), case.wordings, task.test, from_probabilities=True)
    assert predictions.probabilities is not None  # noqa: S101  # they were asked for
    confidences = predictions.probabilities[:, :, :-1].max(axis=2).mean(axis=1)
    pss = sample_pss(predictions)
    varies = np.ptp(confidences) > 0 and np.ptp(pss) > 0
    test = spearmanr(confidences, pss) if varies else None
    about = {"set": case.title, "model": model, "confidence": float(confidences.mean()), "pss": float(pss.mean())}
    return {**about, "rho": test and float(test.statistic), "p_value": test and float(test.pvalue)}


def known(case: Case, model: str, shots: int) -> dict[str, float]:
    """The scores that a scripted model must have."""
    script = SCRIPTS[model.removeprefix("openai/")]
    sizes = (case.n, case.q, case.of.answers)
    pss = script.known_pss(*sizes, with_examples=shots > 0)
    return {"known_pss": pss, "known_sensitivity": script.known_sensitivity(*sizes, with_examples=shots > 0)}


def runs_of(cases: Sequence[Case], models: Sequence[str]) -> Iterator[tuple[Case, str, int]]:
    """Every set with every model, without and with examples."""
    return ((case, model, shots) for case in cases for model in models for shots in case.shots)


def expected_calls(cases: Sequence[Case], models: Sequence[str], *, confidence: bool) -> tuple[int, int]:
    """The expected calls of models and, at most, of the judge."""
    asked = sum(case.n * case.q for case, _, _ in runs_of(cases, models))
    if confidence:
        asked += len(models) * sum(case.n * case.q for case in cases if case.of.answers == LABEL)
    rated = len(models) * JUDGE_CALLS * sum(case.n * case.q for case in cases if case.of.answers == FREE)
    return asked, rated


def offline(words: argparse.Namespace) -> dict[str, Any]:
    """Let the scripted models answer our own samples, and add the true value to each score."""
    models = [f"openai/{name}" for name in SCRIPTS]
    cases = read_cases(words, OWN_SAMPLES, f"openai/{JUDGE}", with_examples=True, with_versions=True)
    asked = [(case.of, case.questions, case.wordings) for case in cases]
    with ScriptedServer(asked) as server, tempfile.TemporaryDirectory() as folder:
        provider = ModelProvider(folder, LMConfig(api_base=server.url))
        results = measure_all(cases, models, provider, confidence=True)
        results["calls"] = {"answers": sum(server.n_asked[name] for name in SCRIPTS), "ratings": server.n_asked[JUDGE]}
        results["calls"]["sent_again"] = provider.budget.usage.failed
    for (case, model, shots), row in zip(runs_of(cases, models), results["rows"], strict=True):
        row |= known(case, model, shots)
    return results


def online(words: argparse.Namespace) -> dict[str, Any]:
    """Ask real models, and a real judge."""
    data = OWN_SAMPLES if words.own_samples else Path(words.data or os.environ.get("PSOPT_DATA_DIR") or "data")
    judge = words.judge or ""
    cases = read_cases(words, data, judge, with_examples=words.shots, with_versions=words.versions)
    lm = LMConfig(api_base=words.api_base, max_calls=words.max_calls).changed(max_tokens=words.max_tokens)
    return measure_all(cases, words.model, ModelProvider(lm=lm), confidence=words.confidence, only_count=words.dry_run)


def read_cases(
    words: argparse.Namespace, data: Path, judge: str, *, with_examples: bool, with_versions: bool
) -> list[Case]:
    """Read all sets before any model is asked.

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
    cases = [Case.read(of, data, words.limit, judge, with_examples=with_examples) for of in chosen]
    versioned = [of for of in chosen if of.versions and with_versions]
    return cases + [Case.read_versions(of, data, words.limit, judge) for of in versioned]


def measure_all(
    cases: Sequence[Case], models: Sequence[str], provider: ModelProvider, *, confidence: bool, only_count: bool = False
) -> dict[str, Any]:
    """Measure every set with every model; first print how many calls that takes."""
    asked, rated = expected_calls(cases, models, confidence=confidence)
    spared = "what the cache holds is not asked again; a rating that can't be read is asked once more"
    print(f"calls to come: {asked:,} answers, at most {rated:,} ratings ({spared})", flush=True)
    results: dict[str, Any] = {"expected_calls": {"answers": asked, "ratings": rated}, "rows": [], "by_confidence": []}
    if only_count:
        return results
    for case, model, shots in runs_of(cases, models):
        row = measure(case, model, shots, provider)
        results["rows"].append(row)
        print(f"{case.title}, {model}, {shots} examples: PSS {row['pss']:.3f}, S {row['sensitivity']:.3f}", flush=True)
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
    """Write the results as JSON and as a Markdown page."""
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
    parser.add_argument("--versions", action="store_true", help="the authors' versions of free requests, too")
    parser.add_argument("--confidence", action="store_true", help="label sets by log-probabilities, too")
    parser.add_argument("--dry-run", action="store_true", help="say how many calls it takes, and make none")
    parser.add_argument("--api-base")
    parser.add_argument("--max-calls", type=int)
    parser.add_argument("--max-tokens", type=int, help="of one answer; default 256 for a letter, else 1,024")
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
    """Measure and save; a user error is one line."""
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
