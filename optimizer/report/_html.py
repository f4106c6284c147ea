"""report.html: one file that opens offline, built from the run directory alone."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import jinja2
from psopt.report._plot import front_plot
from psopt.runs import FRONT, MANIFEST, REPORT

if TYPE_CHECKING:
    from psopt.runs import RunDirectory

WEAK_SPOTS = "weak_spots.json"
_WEAK_ROWS = 10
_GROUP_ROWS = 15


def write_report(directory: RunDirectory) -> None:
    """Write report.html from the run's other files; every text in it is escaped."""
    run, weak = directory.read_json(MANIFEST), directory.read_json(WEAK_SPOTS)
    found = directory.read_json(FRONT)
    prompts = {
        entry["id"]: (directory.path / "prompts" / f"{entry['id']}.txt").read_text("utf-8")
        for entry in (run["baseline"], *found["prompts"], *([found["short"]] if found.get("short") else []))
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["percent"] = _percent
    template = environment.from_string(resources.files("psopt.report").joinpath("report.html").read_text("utf-8"))
    page = template.render(
        run=run,
        front=_rows(run),
        prompts=prompts,
        plot=front_plot(run),
        groups=_biggest(weak["before"]["groups"]),
        weak=_weak_rows(weak, len(run["rephrasings"]["search"])),
    )
    directory.write_text(REPORT, page)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _rows(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The baseline, then the front."""
    baseline = {**run["baseline"], "name": "baseline", "edits": [], "knee": False}
    rows = [baseline, *({**entry, "name": entry["id"]} for entry in run["front"])]
    short = run.get("short")
    if short and short["id"] not in {row["id"] for row in rows}:
        rows.append({**short, "name": f"{short['id']} (short)"})
    return rows


def _biggest(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(groups, key=lambda group: -group["need"])[:_GROUP_ROWS]


def _weak_rows(weak: dict[str, Any], n_rephrasings: int) -> list[dict[str, Any]]:
    """The most sensitive train samples under the seed prompt, and the same ones under the knee (Appendix B)."""
    after = weak["after"]
    return [
        {
            **sample,
            "of": n_rephrasings,
            "right_after": after[sample["id"]]["right"],
            "sensitivity_after": after[sample["id"]]["sensitivity"],
        }
        for sample in weak["before"]["weak"]["sensitivity"][:_WEAK_ROWS]
    ]
