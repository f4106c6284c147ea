"""The conformance suite: every public measure is registered, documented, and keeps the shared promises."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psopt.metrics
import pytest
from psopt.metrics import prediction_counts

from tests.sweeps import each

N_SAMPLES, N_REPHRASINGS, N_CLASSES = 30, 6, 4
DOCS = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
NUMBERS = {"n_classes"}
DRAWS = {"bootstrap_ci": {"n_replicates": 20}, "rephrasing_curve": {"n_subsets": 5}}  # few are enough here
LABELS = {"predictions", "first", "second", "y"}
BY_REPHRASING = LABELS - {"y"} | {"probabilities", "scores", "first_scores", "second_scores", "lengths"}
GIVES: dict[str, str] = {
    "samples": "prediction_counts prediction_distribution sample_sensitivity sample_consistency"
    " sample_prompt_sensi_score sample_posix",
    "answers": "hard_predictions uncertainty",
    "score": "sensitivity consistency micro_f1 macro_f1 spread prompt_sensi_score posix",
    "pairs": "pairwise_consistency",
    "classes": "class_f1",
    "report": "joint_scores flip_pairs score_intervals class_intervals macro_f1_interval mean_interval compare_scores"
    " mean_difference",
    "rephrasings": "rephrasing_damage prompt_f1",
    "simulation": "bootstrap_ci rephrasing_curve noised_predictions reference_scores",
}
"""Every measure by what it gives: one number, an array with a row for each sample, rephrasing or class, one with a row
for each sample and a column for each rephrasing, a square matrix of samples, named numbers, or these from draws."""
KINDS = {name: kind for kind, names in GIVES.items() for name in names.split()}
MEASURES = {name: getattr(psopt.metrics, name) for name in KINDS}


def make_arguments() -> dict[str, Any]:
    """One value for every argument that a measure can require; each first axis is the samples."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES - 1, size=N_SAMPLES)
    shape = (N_SAMPLES, N_REPHRASINGS)
    first, second = (
        np.where(rng.random(shape) < 0.6, y[:, None], rng.integers(N_CLASSES, size=shape)) for _ in range(2)
    )
    return {
        "predictions": first,
        "first": first,
        "second": second,
        "y": y,
        "n_classes": N_CLASSES,
        "counts": prediction_counts(first, N_CLASSES),
        "probabilities": rng.dirichlet(np.ones(N_CLASSES), size=shape),
        "scores": rng.random(shape),
        "first_scores": rng.random(shape),
        "second_scores": rng.random(shape),
        "log_probabilities": -rng.random((*shape, N_REPHRASINGS)),
        "lengths": rng.integers(1, 9, size=shape),
    }


def permute_samples(arguments: dict[str, Any], order: Any) -> dict[str, Any]:
    return {name: value if name in NUMBERS else value[order] for name, value in arguments.items()}


def permute_rephrasings(arguments: dict[str, Any], order: Any) -> dict[str, Any]:
    permuted = {name: value[:, order] if name in BY_REPHRASING else value for name, value in arguments.items()}
    permuted["log_probabilities"] = arguments["log_probabilities"][:, order][:, :, order]
    return permuted


def rename_classes(arguments: dict[str, Any], names: Any) -> dict[str, Any]:
    permuted = {name: names[value] if name in LABELS else value for name, value in arguments.items()}
    for name in ("counts", "probabilities"):
        permuted[name] = arguments[name][..., np.argsort(names)]
    return permuted


def required(function: Any) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.default is parameter.empty]


def call(function: Any, arguments: Any) -> Any:
    return function(**{name: arguments[name] for name in required(function)}, **DRAWS.get(function.__name__, {}))


def flat(result: Any) -> Any:
    """All numbers in a result, in order, whatever holds them."""
    if dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result)]
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, list | tuple):
        return np.concatenate([flat(part) for part in result]) if result else np.zeros(0)
    return np.ravel(result).astype(float)


def same(actual: Any, expected: Any) -> bool:
    return flat(actual) == pytest.approx(flat(expected), abs=1e-12, nan_ok=True)


def measures(*kinds: str, reads: str = "") -> Any:
    """Call a test with each measure of some kinds, all if none is named, that requires an argument."""
    named = [MEASURES[name] for name, kind in KINDS.items() if not kinds or kind in kinds]
    return each("function", [function for function in named if not reads or reads in required(function)])


SAMPLE_ORDER = np.random.default_rng(1).permutation(N_SAMPLES)
# the first rephrasing is the original prompt, against which some measures compare: it stays
REPHRASING_ORDER = np.array([0, *(1 + np.random.default_rng(2).permutation(N_REPHRASINGS - 1))])
# N/A is last by convention: it stays
NEW_NAMES = np.array([2, 0, 1, 3])


def test_every_public_function_is_registered_and_all_is_what_there_is() -> None:
    assert {name for name in psopt.metrics.__all__ if inspect.isfunction(getattr(psopt.metrics, name))} == set(MEASURES)
    # what begins with @ is pytest's: it rewrites the modules of every package that has a plugin for it
    visible = {name for name in vars(psopt.metrics) if not name.startswith(("_", "@"))}
    assert visible == set(psopt.metrics.__all__)


@measures()
def test_the_package_and_the_docs_say_which_question_it_answers_and_its_docstring_what_it_takes(function: Any) -> None:
    name = function.__name__
    (row,) = (line for line in str(psopt.metrics.__doc__).splitlines() if line.startswith(f"{name} "))
    question = row.removeprefix(name).strip()
    assert question.endswith("?")
    assert f"| `{name}` | {question} |" in DOCS.read_text()
    documentation = inspect.getdoc(function) or ""
    assert all(told in documentation for told in (">>> ", *inspect.signature(function).parameters))


@measures(*GIVES.keys() - {"simulation"})
def test_results_move_with_their_samples_and_rephrasings_or_do_not_mind_their_order(function: Any) -> None:
    arguments, kind = make_arguments(), KINDS[function.__name__]
    found = call(function, arguments)
    expected = found[SAMPLE_ORDER] if kind in ("samples", "answers", "pairs") else found
    if kind == "pairs":
        expected = expected[:, SAMPLE_ORDER]
    assert same(call(function, permute_samples(arguments, SAMPLE_ORDER)), expected)
    match kind:
        case "answers":
            found = found[:, REPHRASING_ORDER]
        case "rephrasings":
            found = found[REPHRASING_ORDER]
    assert same(call(function, permute_rephrasings(arguments, REPHRASING_ORDER)), found)


@measures("score", "rephrasings", "pairs")
def test_the_names_of_the_classes_do_not_matter(function: Any) -> None:
    arguments = make_arguments()
    assert same(call(function, rename_classes(arguments, NEW_NAMES)), call(function, arguments))


@measures()
def test_lists_read_only_and_strided_arrays_are_read_and_left_alone(function: Any) -> None:
    arguments = make_arguments()
    expected = call(function, arguments)
    lists = {name: value if name in NUMBERS else value.tolist() for name, value in arguments.items()}
    assert same(call(function, lists), expected)
    odd = {name: value if name in NUMBERS else np.repeat(value, 2, axis=0)[::2] for name, value in arguments.items()}
    for name in odd.keys() - NUMBERS:
        odd[name].flags.writeable = False
    assert same(call(function, odd), expected)
    for name, value in make_arguments().items():
        assert np.array_equal(arguments[name], value)


def broken(value: Any, name: str) -> Iterator[Any]:
    """Ways to spoil an argument, whatever it is."""
    yield "empty", value[:0]
    yield "one axis too many", value[..., None][..., None]
    yield "ragged", [*value.tolist(), value[0].tolist()[:-1] if value.ndim > 1 else [0]]
    yield "text", np.full(value.shape, "yes")
    yield "objects", np.full(value.shape, None)
    yield "complex", value.astype(complex)
    with_nan = value.astype(float)
    with_nan[(0,) * value.ndim] = np.nan
    yield "NaN", with_nan
    if name != "log_probabilities":
        low = value.copy()
        low[(0,) * value.ndim] = -1
        yield "negative", low
    if name in LABELS:
        yield "fractions", value + 0.5
        yield "whole floats", value.astype(float)
        yield "booleans", value > 0
    if name == "counts":
        yield "ragged rows", value + np.eye(*value.shape, dtype=np.int64)
        yield "one class", value[:, :1]
        yield "nothing counted", value * 0
        yield "counts as floats", value.astype(float)
        yield "probabilities that sum to 0.9", 0.9 * value / N_REPHRASINGS


SPOILT = [
    (function, argument, how, value)
    for function in MEASURES.values()
    for argument in required(function)
    if argument not in NUMBERS
    for how, value in broken(make_arguments()[argument], argument)
]


@each("function, argument, how, value", SPOILT)
def test_a_spoilt_argument_is_an_error_that_names_it(function: Any, argument: str, how: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"\b{argument} "):
        call(function, {**make_arguments(), argument: value})


@measures()
def test_lengths_must_match(function: Any) -> None:
    for argument in set(required(function)) & {"y", "second", "second_scores", "lengths"}:
        short = {**make_arguments(), argument: make_arguments()[argument][:-1]}
        with pytest.raises(ValueError, match=f"^{argument} has "):
            call(function, short)


@measures(reads="n_classes")
def test_labels_beyond_the_last_class_and_numbers_of_classes_that_are_none_are_refused(function: Any) -> None:
    for argument in set(required(function)) & LABELS:
        high = make_arguments()
        high[argument] = np.where(high[argument] == 0, N_CLASSES, high[argument])
        with pytest.raises(ValueError, match=f"^{argument} holds 4; with 4 classes"):
            call(function, high)
    for n_classes in (1, 0, -3, 2.5, True, "4", None):
        with pytest.raises(ValueError, match=r"^n_classes is "):
            call(function, {**make_arguments(), "n_classes": n_classes})


@measures()
def test_one_sample_gives_a_value_or_an_error_that_says_so(function: Any) -> None:
    arguments = permute_samples(make_arguments(), np.array([0]))
    if function.__name__ == "bootstrap_ci":
        with pytest.raises(ValueError, match="predictions has one sample"):
            call(function, arguments)
    else:
        call(function, arguments)


def test_the_metrics_import_numpy_alone_and_nothing_of_the_rest() -> None:
    code = "import sys, json, psopt.metrics; print(json.dumps(sorted(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    modules = [name.split(".") for name in json.loads(printed)]
    heavy = {"scipy", "sklearn", "optuna", "pandas", "torch", "dspy", "click", "rich"}
    assert not heavy & {package for package, *_ in modules}
    assert {inner[0] for package, *inner in modules if package == "psopt" and inner} == {"_version", "metrics"}


def test_the_page_of_the_measures_is_true() -> None:
    """Every example of docs/metrics.md runs, and prints what it says."""
    failed, tried = doctest.testfile(str(DOCS), module_relative=False)
    assert tried > len(MEASURES)
    assert failed == 0
