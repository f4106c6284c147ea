"""Tables in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table; floats have three decimals, None is a dash."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines) + "\n"


def p_value(value: float | None) -> str | None:
    """A p-value as a cell."""
    if value is None:
        return None
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "–" if value is None else str(value).replace("|", "\\|")
