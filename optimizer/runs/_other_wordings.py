"""What a run says of its prompts under wordings of another source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.runs._recommendation import quality_name

if TYPE_CHECKING:
    from collections.abc import Mapping


def other_wordings_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Say what run.json's `other_wordings` come to, as the screen and the report show it; nothing where it has none."""
    measured = manifest.get("other_wordings")
    if not measured:
        return []
    names = {"f1": quality_name(manifest), "sensitivity": "S", "consistency": "C"}
    where = f"Under {measured['n_wordings']} wordings of {measured['source']}, on test"
    own = measured["own_sensitivity"]
    if not measured["differences"]:  # the baseline is kept, and nothing was nominated
        scores = measured["baseline"]
        parts = [f"{name} {_percent(scores[key])}" for key, name in names.items() if scores.get(key) is not None]
        return [f"{where}: {', '.join(parts)}; S under psopt's own held-out ones {_percent(own['before'])}."]
    parts = [f"{names[key]} {_change(of)}" for key, of in measured["differences"].items()]
    return [
        f"{where}, baseline -> {measured['id']}: {', '.join(parts)}; S under psopt's own held-out ones "
        f"{_percent(own['before'])} -> {_percent(own['after'])}."
    ]


def _change(of: Mapping[str, float]) -> str:
    low, high = 100 * of["low"], 100 * of["high"]
    return f"{_percent(of['before'])} -> {_percent(of['after'])} ({low:+.1f} to {high:+.1f})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
