"""The sections of RESULTS.md on a language model's real answers: intervals, tests, and S by whose wordings."""

from __future__ import annotations

from typing import Any

from _tables import table

_SCORES = {"f1": "F1", "sensitivity": "S", "consistency": "C"}
_LEAST_INSIDE, _MOST_ERRORS = 0.90, 0.06  # the targets
_HEAD = """In percent of the draws: a 95 % interval should hold the truth in 95. *S above*: the true S lies above
the interval, the error that a user should fear. For two prompts, *apart* counts the draws in which the interval of
their difference misses the true one: a 5 % test errs as often. *None* is with the label prior, *batch* without.
"""
_BY_WHOSE = "F1 / S / C of all test questions under ten wordings of each kind:\n"


def real_grids(results: dict[str, Any]) -> str:
    """By model, whose wordings, size and prompt: how often intervals hold the truth, and how often tests err."""
    parts = [_HEAD]
    for model, cells in results["cells"].items():
        pairs = [cell for cell in cells if " against " in cell["of"]]
        single = [cell for cell in cells if cell not in pairs]
        parts += [f"**{model}**: {_summary(single, pairs)}\n", _of_prompts(single), _of_pairs(pairs)]
        parts += [_BY_WHOSE, _by_whose(results["by"][model])]
    return "\n".join(parts)


def _by_whose(rows: list[dict[str, Any]]) -> str:
    figures = {(row["of"], row["by"]): row["figures"] for row in rows}
    kinds = list(dict.fromkeys(row["by"] for row in rows))
    lines = []
    for of in dict.fromkeys(row["of"] for row in rows):
        shown = [" / ".join(f"{figure:.3f}" for figure in figures[of, by]) for by in kinds]
        of_people = figures[of, "people"][1]
        shares = [f"{figures[of, by][1] / of_people:.2f}" for by in kinds if by != "people"]
        lines.append((of, *shown, *shares))
    return table(("prompt", *kinds, *(f"S of {by} / of people" for by in kinds if by != "people")), lines)


def _summary(single: list[dict[str, Any]], pairs: list[dict[str, Any]]) -> str:
    told = []
    for name, shown in _SCORES.items():
        inside = [cell[name]["inside"] for cell in single]
        n_reached = sum(share >= _LEAST_INSIDE for share in inside)
        told.append(
            f"{shown} is covered in {100 * min(inside):.0f} to {100 * max(inside):.0f} % of draws, and in at least "
            f"{_LEAST_INSIDE:.0%} in {n_reached} of {len(inside)} cells"
        )
    errors = {shown: [1 - cell[name]["inside"] for cell in pairs] for name, shown in _SCORES.items()}
    worst = ", ".join(f"{shown} {100 * max(of):.1f} %" for shown, of in errors.items())
    n_kept = sum(share <= _MOST_ERRORS for of in errors.values() for share in of)
    n_all = sum(map(len, errors.values()))
    return f"{'; '.join(told)}. Tests err at most: {worst}; {_MOST_ERRORS:.0%} or less in {n_kept} of {n_all} cells."


def _of_prompts(cells: list[dict[str, Any]]) -> str:
    head = ("wordings", "N x Q", "prompt", "true F1, S, C", "F1", "S", "C", "S above")
    rows = [
        (
            cell["pool"],
            f"{cell['n']} x {cell['q']}",
            cell["of"],
            " / ".join(f"{cell[name]['truth']:.3f}" for name in _SCORES),
            *(f"{100 * cell[name]['inside']:.1f}" for name in _SCORES),
            f"{100 * cell['sensitivity']['above']:.1f}",
        )
        for cell in cells
    ]
    return table(head, rows)


def _of_pairs(cells: list[dict[str, Any]]) -> str:
    head = ("wordings", "N x Q", "two prompts, batch", *(f"{shown} apart" for shown in _SCORES.values()))
    rows = [
        (
            cell["pool"],
            f"{cell['n']} x {cell['q']}",
            cell["of"],
            *(f"{100 * (1 - cell[name]['inside']):.1f}" for name in _SCORES),
        )
        for cell in cells
    ]
    return table(head, rows)


def whose_words(results: dict[str, Any]) -> str:
    """F1 and S under wordings of each kind, and S as a share of that under people's."""
    kinds = list(dict.fromkeys(kind for cell in results["cells"] for kind in cell["kinds"]))
    rows = []
    for cell in results["cells"]:
        of_people = cell["kinds"]["people"][1]
        shown = []
        for kind in kinds:
            figures = cell["kinds"].get(kind)
            shown.append(f"{figures[0]:.3f} / {figures[1]:.3f} ({figures[1] / of_people:.2f})" if figures else "")
        rows.append((cell["model"], cell["dataset"], cell["n"], *shown))
    return f"F1 / S (S as a share of that under people's wordings).\n\n{table(('model', 'set', 'N', *kinds), rows)}"
