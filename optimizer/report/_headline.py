"""The top of a run's page: F1, S and C before and after, and which prompt answers one label to most texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.evaluation import compare_paired, shares_lines, verdict, why_worthless

if TYPE_CHECKING:
    from psopt.metrics import PairedDifference
    from psopt.report._contents import Contents

_MEASURES = {
    "f1": ("", "higher", ""),
    "sensitivity": (", sensitivity", "lower", "How far answers to a sample differ between wordings: 0 if never."),
    "consistency": (", consistency", "higher", "How alike samples of one class are answered: 100 if all are."),
}


def headline(contents: Contents) -> list[dict[str, Any]]:
    """The three measures before and after, and whether the difference is chance; none for a rejected prompt."""
    before = contents.run["baseline"]
    shown = [before]
    if not contents.is_rejected and contents.chosen["id"] != before["id"]:
        shown.append(contents.chosen)
    original = contents.predictions["original prompt"]
    tested: dict[str, PairedDifference] = {}
    if len(shown) > 1 and len(original.samples) > 1:
        tested = compare_paired(original, contents.predictions[contents.name])
    # S and C of a prompt that always answers the same, or guesses, mean nothing: neither can be better or worse.
    is_worthless = bool(before["test"].get("constant") or why_worthless(original))
    cards = []
    for key, name in contents.measures.items():
        word, better, meaning = _MEASURES[key]
        card: dict[str, Any] = {"name": f"{name}{word}", "better": better, "meaning": meaning, "p": "", "verdict": ""}
        card |= {split: [of[split][key] for of in shown] for split in ("test", "val")}
        card["ci"] = shown[-1]["test"]["ci"].get(key)
        if difference := tested.get(key):
            card["p"] = "p < .001; " if difference.p_value < 0.001 else f"p = {difference.p_value:.3f}; "
        if key == "f1" or not is_worthless:
            card["verdict"] = verdict(key, tested.get(key))
        cards.append(card)
    return cards


def lopsided_lines(contents: Contents) -> list[str]:
    """Which prompts on the cards answer one label to most texts on test, or guess where the verdict does not say it."""
    shown = {"The original prompt": contents.run["baseline"]["test"]}
    if contents.chosen["id"] != contents.run["baseline"]["id"]:
        shown[contents.name.replace("p", "P", 1)] = contents.chosen["test"]
    return shares_lines(shown, contents.run["recommended"]["reason"])
