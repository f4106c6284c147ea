"""The front as a picture: F1 against S on test, consistency as the size of the dot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT, MARGIN = 640, 360, 48


@dataclass(frozen=True, slots=True)
class Dot:
    """One prompt in the plot, in pixels."""

    x: float
    y: float
    radius: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis, in pixels, and its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Plot:
    """What the template draws."""

    dots: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    width: int = WIDTH
    height: int = HEIGHT
    margin: int = MARGIN


def front_plot(run: dict[str, Any]) -> Plot:
    """Lay out the baseline and the front: S to the right, F1 upwards."""
    entries = [("baseline", run["baseline"])]
    entries += [("knee" if one["knee"] else "front", one) for one in run["front"]]
    x_range = _range([entry["test"]["sensitivity"] for _, entry in entries])
    y_range = _range([entry["test"]["f1"] for _, entry in entries])

    def x(value: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * (value - x_range[0]) / (x_range[1] - x_range[0])

    def y(value: float) -> float:
        return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (value - y_range[0]) / (y_range[1] - y_range[0])

    dots = tuple(
        Dot(
            x(entry["test"]["sensitivity"]),
            y(entry["test"]["f1"]),
            3 + 8 * entry["test"]["consistency"],
            kind,
            f"{kind} {entry['id']}: F1 {entry['test']['f1']:.3f}, S {entry['test']['sensitivity']:.3f}, "
            f"C {entry['test']['consistency']:.3f}",
        )
        for kind, entry in entries
    )
    return Plot(
        dots,
        tuple(Tick(x(value), f"{value:.2f}") for value in _ticks(x_range)),
        tuple(Tick(y(value), f"{value:.2f}") for value in _ticks(y_range)),
    )


def _range(values: list[float]) -> tuple[float, float]:
    pad = max(0.02, 0.1 * (max(values) - min(values)))
    return max(0.0, min(values) - pad), min(1.0, max(values) + pad)


def _ticks(bounds: tuple[float, float]) -> list[float]:
    low, high = bounds
    return [low + (high - low) * step / 4 for step in range(5)]
