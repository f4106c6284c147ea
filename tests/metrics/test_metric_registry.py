"""The conformance suite: every public measure is registered, documented, and keeps the shared promises."""

from __future__ import annotations

import ast
import dataclasses
import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psopt.metrics
import pytest
from psopt.metrics import prediction_counts, prediction_distribution

from tests.sweeps import each

if TYPE_CHECKING:
    from collections.abc import Iterator

N_SAMPLES, N_REPHRASINGS, N_CLASSES = 30, 6, 4
DOCS = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
NUMBERS = {"n_classes"}
GIVES: dict[str, list[Any]] = {
    "samples": [
        psopt.metrics.prediction_counts,
        psopt.metrics.prediction_distribution,
        psopt.metrics.sample_sensitivity,
        psopt.metrics.sample_consistency,
        psopt.metrics.sample_prompt_sensi_score,
        psopt.metrics.sample_posix,
    ],
    "answers": [psopt.metrics.hard_predictions, psopt.metrics.uncertainty],
    "score": [
        psopt.metrics.sensitivity,
        psopt.metrics.consistency,
        psopt.metrics.micro_f1,
        psopt.metrics.macro_f1,
        psopt.metrics.spread,
        psopt.metrics.prompt_sensi_score,
        psopt.metrics.posix,
    ],
    "pairs": [psopt.metrics.pairwise_consistency],
    "classes": [psopt.metrics.class_f1],
    "report": [
        psopt.metrics.joint_scores,
        psopt.metrics.flip_pairs,
        psopt.metrics.score_intervals,
        psopt.metrics.class_intervals,
        psopt.metrics.macro_f1_interval,
        psopt.metrics.mean_interval,
        psopt.metrics.compare_scores,
        psopt.metrics.mean_difference,
    ],
    "rephrasings": [psopt.metrics.rephrasing_damage, psopt.metrics.prompt_f1],
    "simulation": [
        psopt.metrics.bootstrap_ci,
        psopt.metrics.rephrasing_curve,
        psopt.metrics.noised_predictions,
        psopt.metrics.reference_scores,
    ],
}
"""Every measure by what it gives: one number, an array with a row for each sample, rephrasing or class, one with a row
for each sample and a column for each rephrasing, a square matrix of samples, named numbers, or these from draws."""
MEASURES = {function.__name__: function for functions in GIVES.values() for function in functions}


def make_arguments(seed: int = 0) -> dict[str, Any]:
    """One value for every argument that a measure can require; each first axis is the samples."""
    rng = np.random.default_rng(seed)
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


def permute_samples(arguments: Any, order: Any) -> dict[str, Any]:
    return {name: value if name in NUMBERS else value[order] for name, value in arguments.items()}


def permute_rephrasings(arguments: Any, order: Any) -> Any:
    permuted = dict(arguments)
    for name in (
        "predictions",
        "first",
        "second",
        "probabilities",
        "scores",
        "first_scores",
        "second_scores",
        "lengths",
    ):
        permuted[name] = arguments[name][:, order]
    permuted["log_probabilities"] = arguments["log_probabilities"][:, order][:, :, order]
    return permuted


def rename_classes(arguments: Any, names: Any) -> Any:
    permuted = dict(arguments)
    for name in ("predictions", "first", "second", "y"):
        permuted[name] = names[arguments[name]]
    for name in ("counts", "probabilities"):
        permuted[name] = arguments[name][..., np.argsort(names)]
    return permuted


def required(function: Any) -> list[Any]:
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.default is parameter.empty]


def call(function: Any, arguments: Any, **options: Any) -> Any:
    return function(**{name: arguments[name] for name in required(function)}, **options)


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


def measures(*kinds: Any) -> Any:
    return each("function", [function for kind in kinds for function in GIVES[kind]])


def measures_of(argument: Any) -> Any:
    return each("function", [function for function in MEASURES.values() if argument in required(function)])


EVERY = measures(*GIVES)
SAMPLE_ORDER = np.random.default_rng(1).permutation(N_SAMPLES)
# the first rephrasing is the original prompt, against which some measures compare: it stays
REPHRASING_ORDER = np.array([0, *(1 + np.random.default_rng(2).permutation(N_REPHRASINGS - 1))])
# N/A is last by convention: it stays
NEW_NAMES = np.array([2, 0, 1, 3])


def test_every_public_function_is_registered() -> None:
    public = {name for name in psopt.metrics.__all__ if inspect.isfunction(getattr(psopt.metrics, name))}
    assert public == set(MEASURES)


def test_all_is_what_there_is() -> None:
    # what begins with @ is pytest's: it rewrites the modules of every package that has a plugin for it
    visible = {name for name in vars(psopt.metrics) if not name.startswith(("_", "@"))}
    assert visible == set(psopt.metrics.__all__)


@each("name", MEASURES)
def test_the_package_and_the_docs_say_which_question_it_answers(name: Any) -> None:
    (row,) = (line for line in str(psopt.metrics.__doc__).splitlines() if line.startswith(f"{name} "))
    question = row.removeprefix(name).strip()
    assert question.endswith("?")
    assert f"| `{name}` | {question} |" in DOCS.read_text()


@EVERY
def test_docstrings_teach(function: Any) -> None:
    documentation = inspect.getdoc(function) or ""
    for section in ("Parameters\n----", "Returns\n----", "Examples\n----", ">>> "):
        assert section in documentation
    for parameter in inspect.signature(function).parameters:
        assert parameter in documentation


@measures("score")
def test_a_score_is_a_plain_float(function: Any) -> None:
    assert type(call(function, make_arguments())) is float


@measures("samples", "answers")
def test_a_row_a_sample(function: Any) -> None:
    assert len(call(function, make_arguments())) == N_SAMPLES


@measures("rephrasings")
def test_a_number_a_rephrasing(function: Any) -> None:
    assert call(function, make_arguments()).shape == (N_REPHRASINGS,)


@measures("score", "rephrasings", "classes", "report")
def test_the_order_of_the_samples_does_not_matter(function: Any) -> None:
    arguments = make_arguments()
    assert same(call(function, permute_samples(arguments, SAMPLE_ORDER)), call(function, arguments))


@measures("samples", "answers", "pairs")
def test_results_move_with_their_samples(function: Any) -> None:
    arguments = make_arguments()
    expected = call(function, arguments)[SAMPLE_ORDER]
    if function in GIVES["pairs"]:
        expected = expected[:, SAMPLE_ORDER]
    assert same(call(function, permute_samples(arguments, SAMPLE_ORDER)), expected)


@measures("score", "samples", "classes", "report", "pairs")
def test_the_order_of_the_rephrasings_does_not_matter(function: Any) -> None:
    arguments = make_arguments()
    assert same(call(function, permute_rephrasings(arguments, REPHRASING_ORDER)), call(function, arguments))


@measures("rephrasings", "answers")
def test_results_move_with_their_rephrasings(function: Any) -> None:
    arguments = make_arguments()
    expected = call(function, arguments)[..., REPHRASING_ORDER]
    if expected.ndim == 3:
        expected = call(function, arguments)[:, REPHRASING_ORDER]
    assert same(call(function, permute_rephrasings(arguments, REPHRASING_ORDER)), expected)


@measures("score", "rephrasings", "pairs")
def test_the_names_of_the_classes_do_not_matter(function: Any) -> None:
    arguments = make_arguments()
    assert same(call(function, rename_classes(arguments, NEW_NAMES)), call(function, arguments))


@EVERY
def test_lists_do_as_well_as_arrays_and_arguments_are_left_alone(function: Any) -> None:
    arguments = make_arguments()
    lists = {name: value if name in NUMBERS else value.tolist() for name, value in arguments.items()}
    assert same(call(function, lists), call(function, arguments))
    for name, value in make_arguments().items():
        assert np.array_equal(arguments[name], value)


@EVERY
def test_read_only_and_strided_arrays_are_read(function: Any) -> None:
    arguments = make_arguments()
    odd = {}
    for name, value in arguments.items():
        odd[name] = value if name in NUMBERS else np.repeat(value, 2, axis=0)[::2]
        if name not in NUMBERS:
            odd[name].flags.writeable = False
    assert same(call(function, odd), call(function, arguments))


@measures("simulation")
def test_a_seed_decides_a_simulation(function: Any) -> None:
    arguments = make_arguments()
    options = {"seed": 0}
    assert same(call(function, arguments, **options), call(function, arguments, **options))
    assert not same(call(function, arguments, **options), call(function, arguments, seed=1))


@measures_of("counts")
def test_counts_may_be_probabilities(function: Any) -> None:
    """What reads counts reads p_tau too, or refuses it by name."""
    arguments = make_arguments()
    hard = call(function, arguments)
    assert same(call(function, {**arguments, "counts": arguments["counts"] / N_REPHRASINGS}), hard)
    call(function, {**arguments, "counts": prediction_distribution(arguments["probabilities"])})


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
    if name in ("predictions", "first", "second", "y"):
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
def test_a_spoilt_argument_is_an_error_that_names_it(function: Any, argument: Any, how: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"\b{argument} "):
        call(function, {**make_arguments(), argument: value})


@EVERY
def test_lengths_must_match(function: Any) -> None:
    for argument in set(required(function)) & {"y", "second", "second_scores", "lengths"}:
        short = {**make_arguments(), argument: make_arguments()[argument][:-1]}
        with pytest.raises(ValueError, match=f"^{argument} has "):
            call(function, short)


@measures_of("n_classes")
def test_labels_beyond_the_last_class_are_refused(function: Any) -> None:
    for argument in set(required(function)) & {"predictions", "first", "second", "y"}:
        high = make_arguments()
        high[argument] = np.where(high[argument] == 0, N_CLASSES, high[argument])
        with pytest.raises(ValueError, match=f"^{argument} holds 4; with 4 classes"):
            call(function, high)


@measures_of("n_classes")
def test_the_number_of_classes_is_an_integer_of_two_or_more(function: Any) -> None:
    for n_classes in (1, 0, -3, 2.5, True, "4", None):
        with pytest.raises(ValueError, match=r"^n_classes is "):
            call(function, {**make_arguments(), "n_classes": n_classes})


@EVERY
def test_one_sample_gives_a_value_or_an_error_that_says_so(function: Any) -> None:
    arguments = permute_samples(make_arguments(), np.array([0]))
    if function.__name__ == "bootstrap_ci":
        with pytest.raises(ValueError, match="predictions has one sample"):
            call(function, arguments)
    else:
        call(function, arguments)


def test_importing_the_metrics_imports_numpy_alone() -> None:
    code = "import sys, json, psopt.metrics; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"scipy", "sklearn", "optuna", "pandas", "torch", "dspy", "click", "rich"} & set(json.loads(printed))


def test_the_metrics_import_nothing_of_the_rest() -> None:
    folder = Path(psopt.metrics.__file__).parent
    trees = [ast.parse(path.read_text()) for path in folder.glob("*.py")]
    imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    absolute = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    absolute |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom) and node.level == 0}
    assert not [name for name in absolute if name.startswith("psopt")]


def test_the_page_of_the_measures_is_true() -> None:
    """Every example of docs/metrics.md runs, and prints what it says."""
    failed, tried = doctest.testfile(str(DOCS), module_relative=False)
    assert tried > len(MEASURES)
    assert failed == 0
