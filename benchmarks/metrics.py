"""Time every measure at N = 500 to 1,000,000 samples, and the linear C_y against a loop over pairs.

    python benchmarks/metrics.py [N ...]

C = 7 classes, Q = 30 rephrasings, the best of several runs, predictions and counts as int64. A dash: its input (POSIX:
N Q Q numbers) or output (the pairwise matrix) is too large, or, of the resampling statistics, it takes too long.
"""

from __future__ import annotations

import inspect
import os
import sys
import tracemalloc
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt import metrics
from psopt.metrics import bootstrap_ci, consistency, prediction_counts, prediction_distribution

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (500, 5_000, 50_000, 1_000_000)
N_CLASSES, N_REPHRASINGS = 7, 30
LARGEST = {
    "pairwise_consistency": 5_000,
    "posix": 50_000,
    "sample_posix": 50_000,
    "bootstrap_ci": 5_000,
    "rephrasing_curve": 5_000,
}
LARGEST_NAIVE = 5_000


def make_data(n_samples: int) -> dict[str, Any]:
    """Samples of varying difficulty: most keep their answer, some change it."""
    rng = np.random.default_rng(0)
    shape = (n_samples, N_REPHRASINGS)
    y = rng.integers(N_CLASSES - 1, size=n_samples)
    ease = rng.beta(2, 1, size=(n_samples, 1))
    predictions, second = (
        np.where(rng.random(shape) < ease, y[:, None], rng.integers(N_CLASSES, size=shape)) for _ in range(2)
    )
    data = {"predictions": predictions, "first": predictions, "second": second, "y": y, "n_classes": N_CLASSES}
    data |= {"counts": prediction_counts(predictions, N_CLASSES), "scores": rng.random(shape)}
    data |= {"first_scores": data["scores"], "second_scores": rng.random(shape)}
    data["probabilities"] = 0.8 * np.eye(N_CLASSES)[predictions] + 0.2 / N_CLASSES
    data["lengths"] = rng.integers(1, 20, size=shape)
    if n_samples <= LARGEST["posix"]:
        data["log_probabilities"] = -rng.random((*shape, N_REPHRASINGS))
    return data


def naive_consistency(counts: np.ndarray, y: np.ndarray) -> float:
    """Pooled C_y, pair after pair; plain lists of integers, which a loop reads faster than arrays."""
    rows, labels = counts.tolist(), y.tolist()
    total = pairs = 0
    for first, label in zip(rows, labels, strict=True):
        for second, other in zip(rows, labels, strict=True):
            if label == other:
                total += sum(abs(a - b) for a, b in zip(first, second, strict=True))
                pairs += 1
    return 1 - total / (2 * N_REPHRASINGS * pairs)


def seconds(call: Callable[[], Any], budget: float = 0.5) -> float:
    """Best time of a call, repeated until the budget is spent: at least once, at most 50 times."""
    best, spent = float("inf"), 0.0
    for _ in range(50):
        start = perf_counter()
        call()
        taken = perf_counter() - start
        best, spent = min(best, taken), spent + taken
        if spent > budget:
            break
    return best


def written(value: float) -> str:
    """A time in the most readable unit."""
    return f"{value:.2f} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def time_measures(data: dict[str, Any], n_samples: int) -> dict[str, str]:
    """The time of every measure, of C_y from other inputs, and of the naive loop."""
    times = {}
    for name, measure in inspect.getmembers(metrics, inspect.isfunction):
        if n_samples > LARGEST.get(name, n_samples):
            times[name] = "-"
            continue
        parameters = inspect.signature(measure).parameters.values()
        values = {p.name: data[p.name] for p in parameters if p.default is p.empty}
        if name == "pairwise_consistency":
            values["counts"] = data["counts"][data["y"] == 0]
        times[name] = written(seconds(lambda call=measure, given=values: call(**given)))
    predictions, y = data["predictions"], data["y"]
    shares = prediction_distribution(data["probabilities"])
    times["C_y from predictions"] = written(seconds(lambda: consistency(prediction_counts(predictions, N_CLASSES), y)))
    times["C_y from p_tau (sorts)"] = written(seconds(lambda: consistency(shares, y)))
    return times | time_naive(data, n_samples)


def time_naive(data: dict[str, Any], n_samples: int) -> dict[str, str]:
    """The loop over pairs and the linear form on the same counts, one after the other."""
    if n_samples > LARGEST_NAIVE:
        return {"C_y, naive loop": "-", "naive / linear": "-"}
    counts, y = data["counts"], data["y"]
    start = perf_counter()
    expected = naive_consistency(counts, y)
    slow = perf_counter() - start
    fast = seconds(lambda: consistency(counts, y))
    if abs(expected - consistency(counts, y)) > 1e-12:
        raise AssertionError("the linear and the pairwise C_y differ")
    return {"C_y, naive loop": written(slow), "naive / linear": f"{slow / fast:,.0f}"}


def peak_memory(data: dict[str, Any]) -> float:
    """Peak memory of C_y, its input included, in inputs."""
    counts, y = data["counts"], data["y"]
    tracemalloc.start()
    consistency(counts, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = counts.nbytes + y.nbytes
    return (size + peak) / size


def print_table(columns: dict[int, dict[str, str]]) -> None:
    """One row per measure, one column per size, in Markdown."""
    print("| measure | " + " | ".join(f"N = {n:,}" for n in columns) + " |")
    print("|---" + "|--:" * len(columns) + "|")
    for name in next(iter(columns.values())):
        print(f"| {name} | " + " | ".join(times[name] for times in columns.values()) + " |")


def main(sizes: tuple[int, ...]) -> None:
    """Print the table, then the targets next to the measured values."""
    columns, asked = {}, []
    for n_samples in sizes:
        data = make_data(n_samples)
        columns[n_samples] = time_measures(data, n_samples)
        if n_samples == 500:
            taken = seconds(lambda given=data: bootstrap_ci(given["predictions"], given["y"], N_CLASSES), budget=2)
            asked.append(f"1,000 two-way bootstrap replicates at N = 500: {written(taken)} (asked: under 2 s)")
        if n_samples == 5_000:
            asked.append(f"naive loop / linear C_y at N = 5,000: {columns[n_samples]['naive / linear']} (5,000)")
        if n_samples == 1_000_000:
            asked.append(f"C_y at N = 1,000,000: {columns[n_samples]['consistency']} (under 100 ms)")
            asked.append(f"its peak memory: {peak_memory(data):.2f} inputs (under 2)")
    print_table(columns)
    print(f"\nNumPy {np.__version__}, {os.cpu_count()} cores.", *asked, sep="\n- ")


if __name__ == "__main__":
    main(tuple(int(size.replace(",", "")) for size in sys.argv[1:]) or SIZES)
