"""The top of a run's page: F1, S and C before and after, and which prompt answers one label to most texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.evaluation import compare_paired, shares_lines, verdict, why_worthless

if TYPE_CHECKING:
    from psopt.report._contents import Contents

_MEASURES = {
    "f1": ("", "higher", ""),
    "sensitivity": (", sensitivity", "lower", "How far answers to a sample differ between wordings: 0 if never."),
    "consistency": (", consistency", "higher", "How alike samples of one class are answered: 100 if all are."),
}


def headline(contents: Contents) -> list[dict[str, Any]]:
    """The three measures before and after, and whether the difference is chance; none for a rejected prompt."""
    before = contents.run["baseline"]
    after = before if contents.is_rejected else contents.chosen
    is_changed = after["id"] != before["id"]
    tested = None
    if is_changed and len(contents.predictions[contents.name].samples) > 1:
        first, second = contents.predictions.values()
        tested = compare_paired(first, second)
    cards = []
    # S and C of a prompt that always answers the same, or guesses, mean nothing: neither can be better or worse.
    original = next(iter(contents.predictions.values()))
    is_worthless = bool(before["test"].get("constant") or why_worthless(original))
    for key, name in contents.measures.items():
        word, better, meaning = _MEASURES[key]
        p = ""
        if tested:
            p = "p < .001; " if tested[key].p_value < 0.001 else f"p = {tested[key].p_value:.3f}; "
        cards.append(
            {
                "name": f"{name}{word}",
                "better": better,
                "meaning": meaning,
                "before": before["test"][key] if is_changed else None,
                "after": after["test"][key],
                "ci": after["test"]["ci"].get(key),
                "verdict": "" if is_worthless and key != "f1" else verdict(key, tested[key] if tested else None),
                "p": p,
                "val": [of["val"][key] for of in ((before, after) if is_changed else (before,))],
            }
        )
    return cards


def lopsided_lines(contents: Contents) -> list[str]:
    """Which prompts on the cards answer one label to most texts on test, or guess where the verdict does not say it."""
    shown = {"The original prompt": contents.run["baseline"]["test"]}
    if contents.chosen["id"] != contents.run["baseline"]["id"]:
        shown[contents.name.replace("p", "P", 1)] = contents.chosen["test"]
    return shares_lines(shown, contents.run["recommended"]["reason"])
