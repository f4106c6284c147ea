"""What calibration does by itself, apart from the edits of a run's prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.runs._recommendation import quality_name

if TYPE_CHECKING:
    from collections.abc import Mapping


def calibration_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Say what run.json's `calibration` comes to, as the screen and the report show it; nothing where it has none."""
    alone = manifest.get("calibration")
    if not alone:
        return []
    split = "test" if alone["test"] else "val"
    before, after = manifest["baseline"][split], alone[split]
    line = f"Calibration alone, on {split}: {_changes(before, after, quality_name(manifest))}"
    name = manifest["recommended"]["id"]
    chosen = next((of for of in manifest["front"] if of["id"] == name), None)
    if chosen is None or name == alone["id"] or not chosen.get(split):
        return [f"{line}."]
    return [f"{line}; the edits of {name} on top: {_changes(after, chosen[split], quality_name(manifest))}."]


def _changes(before: Mapping[str, Any], after: Mapping[str, Any], quality: str) -> str:
    names = {"f1": quality, "sensitivity": "S", "consistency": "C"}
    pairs = [(name, before.get(key), after.get(key)) for key, name in names.items()]
    return ", ".join(
        f"{name} {100 * was:.1f} -> {100 * now:.1f}" for name, was, now in pairs if was is not None and now is not None
    )
