"""What a run says of its prompts beside the verdict, as the screen and the report show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.runs._recommendation import quality_name

if TYPE_CHECKING:
    from collections.abc import Mapping


def beside_verdict_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Say what run.json has of calibration, other wordings, planted phrases and the texts of the user."""
    return [*_calibration(manifest), *_other_wordings(manifest), *_planted(manifest), *_probe(manifest)]


def _calibration(manifest: Mapping[str, Any]) -> list[str]:
    """What calibration does by itself, apart from the edits of a run's prompt."""
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


def _other_wordings(manifest: Mapping[str, Any]) -> list[str]:
    """What test says under wordings of another source."""
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


def _planted(manifest: Mapping[str, Any]) -> list[str]:
    """How often phrases that were planted where they mean nothing flip answers."""
    planted = manifest.get("planted")
    if not planted:
        return []
    notes = "note" if planted["n_notes"] == 1 else f"{planted['n_notes']} notes"
    shares = {name: f"{100 * planted[name]:.0f} %" for name in ("original", "recommended")}
    return [
        f"Phrases of its {notes}, planted in {planted['n_texts']} texts of other classes, flip {shares['recommended']} "
        f"of its answers; of the original prompt's {shares['original']}."
    ]


def _probe(manifest: Mapping[str, Any]) -> list[str]:
    """How the user's own texts are answered."""
    probe = manifest.get("probe")
    if not probe:
        return []
    names = {"f1": quality_name(manifest), "sensitivity": "S"}
    original, recommended = probe["original"], probe.get("recommended", {})
    parts = [
        f"{name} {100 * original[key]:.1f}" + (f" -> {100 * recommended[key]:.1f}" if recommended else "")
        for key, name in names.items()
        if key in original
    ]
    changed = [f"{probe['n_changed']} answered otherwise under some wording"] if recommended else []
    return [f"On the {probe['n_texts']} texts of {probe['file']}: {', '.join([*parts, *changed])}."]
