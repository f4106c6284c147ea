"""What a run says of texts that its user has written to test it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.runs._recommendation import quality_name

if TYPE_CHECKING:
    from collections.abc import Mapping


def probe_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Say what run.json's `probe` comes to, as the screen and the report show it; nothing where it has none."""
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
