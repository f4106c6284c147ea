"""The results of ProSA's study as tables: PSS in the paper's form, the published numbers, and other scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _prosa_sets import SETS
from _tables import p_value, table

if TYPE_CHECKING:
    Results = dict[str, Any]

_PUBLISHED = Path(__file__).resolve().parent / "published.json"


def prosa_free(results: Results) -> str:
    """All tables."""
    parts = ["PSS, without examples.\n", _by_model(results), _published(), _calls(results), _beside(results["rows"])]
    if results["by_confidence"]:
        parts += ["PSS against confidence, question by question.\n", _confidence(results["by_confidence"])]
    return "\n".join(parts)


def _by_model(results: Results) -> str:
    """One row per model, one column per set."""
    rows = [row for row in results["rows"] if not row["shots"]]
    sets = dict.fromkeys(row["set"] for row in rows)
    models = dict.fromkeys(row["model"] for row in rows)
    of = {(row["model"], row["set"]): row["pss"] for row in rows}
    return table(("model", *sets), ([model, *(of[model, name] for name in sets)] for model in models))


def _published() -> str:
    """The published numbers under the same heads; "not found" where there is none."""
    published = json.loads(_PUBLISHED.read_text("utf-8"))["prosa"]
    columns = {of.name: f"{of.title}, requests" if of.versions else of.title for of in SETS}
    rows = [(model, *(pss.get(name, "not found") for name in columns)) for model, pss in published["pss"].items()]
    return f"{published['what']}.\n\n{table(('model (published)', *columns.values()), rows)}"


def _calls(results: Results) -> str:
    expected, made = results["expected_calls"], results.get("calls")
    line = f"Calls expected: {expected['answers']:,} answers, at most {expected['ratings']:,} ratings"
    return f"{line}; made: {made['answers']:,} and {made['ratings']:,}.\n" if made else f"{line}.\n"


def _beside(rows: list[Results]) -> str:
    """Quality, PSS and S, and their true values where these are known."""
    known = {"known_pss": "known PSS", "known_sensitivity": "known S"} if "known_pss" in rows[0] else {}
    columns = {"pss": "PSS", "sensitivity": "S", **known, "na_rate": "N/A"}
    cells = [
        (
            *(row["set"], row["model"], row["shots"], row["n"], row["q"]),
            f"{row['quality']:.3f} ({row['quality_name']})",
            *(row[name] for name in columns),
        )
        for row in rows
    ]
    return table(("set", "model", "examples", "N", "Q", "quality", *columns.values()), cells)


def _confidence(rows: list[Results]) -> str:
    cells = [
        (row["set"], row["model"], row["confidence"], row["pss"], row["rho"], p_value(row["p_value"])) for row in rows
    ]
    return table(("set", "model", "mean confidence", "PSS", "rho", "p"), cells)
