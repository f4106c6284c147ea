"""What a run says of phrases that were planted where they mean nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def planted_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Say what run.json's `planted` comes to, as the screen and the report show it; nothing where it has none."""
    planted = manifest.get("planted")
    if not planted:
        return []
    notes = "note" if planted["n_notes"] == 1 else f"{planted['n_notes']} notes"
    shares = {name: f"{100 * planted[name]:.0f} %" for name in ("original", "recommended")}
    return [
        f"Phrases of its {notes}, planted in {planted['n_texts']} texts of other classes, flip {shares['recommended']} "
        f"of its answers; of the original prompt's {shares['original']}."
    ]
