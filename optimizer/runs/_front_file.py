"""front.json: the prompts of a run's front, and reading one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.runs._directory import FRONT, MANIFEST, RunDirectory
from psopt.runs._pick import pick_entry
from psopt.runs._recommendation import quality_name, recommendation_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from psopt.runs._measured import Measured
    from psopt.search import Candidate

SCHEMA_VERSION = 1
_LONGEST_NAME = 3  # letters: ids are longer


def front_entry(candidate: Candidate, knee_id: str | None) -> dict[str, Any]:
    """One prompt of the front, as run.json lists it."""
    return {
        "id": candidate.id,
        "knee": candidate.id == knee_id,
        "trial": candidate.trial,
        "edits": [edit.to_dict() for edit in candidate.edits],
        "length": candidate.length,
        **scores_of(candidate),
    }


def front_file(
    front: Sequence[Candidate],
    knee_id: str | None,
    shortest: Candidate | None,
    recommended: Candidate | None,
    how: Callable[[Candidate], Measured],
) -> dict[str, Any]:
    """Build front.json's content: the front's complete prompts, the short one and the recommended one.

    It holds nothing that differs between equal runs. `how` returns how a candidate was measured.
    """

    def whole(candidate: Candidate) -> dict[str, Any]:
        measured = how(candidate).to_dict()
        return {**front_entry(candidate, knee_id), "prompt": candidate.prompt.to_dict(), "measured": measured}

    return {
        "schema_version": SCHEMA_VERSION,
        "prompts": list(map(whole, front)),
        "short": shortest and whole(shortest),
        "recommended": recommended and whole(recommended),
    }


def prompt_names(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The names of a run's prompts on screens, by their ids: ``original``, and ``A``, ``B`` .. in the front's order.

    >>> prompt_names({"baseline": {"id": "c7"}, "front": [{"id": "e1"}, {"id": "c7"}], "short": {"id": "f2"}})
    {'c7': 'original', 'e1': 'A', 'f2': 'B'}
    """
    baseline = str(manifest["baseline"]["id"])
    others = [*manifest["front"], manifest.get("short"), manifest.get("recommended")]
    ids = dict.fromkeys(str(entry["id"]) for entry in others if entry and entry["id"] != baseline)
    letters = (chr(ord("A") + place % 26) + str(place // 26 or "") for place in range(len(ids)))
    return {baseline: "original", **dict(zip(ids, letters, strict=True))}


def named(text: str, names: Mapping[str, str]) -> str:
    """A text with the ids of prompts replaced by their names."""
    for prompt_id, name in names.items():
        text = text.replace(prompt_id, name)
    return text


def scores_of(candidate: Candidate) -> dict[str, Any]:
    """A candidate's scores, as run.json and front.json have them."""
    return {"val": candidate.val.to_dict(), "test": candidate.test and candidate.test.to_dict()}


def read_entry(run: Path, which: str) -> Mapping[str, Any]:
    """Read one of a run's prompts: ``recommended``, ``knee``, ``short``, or one by a measure, its id or a query.

    Raises InputError if the run has no front yet, or no such prompt.
    """
    directory = RunDirectory.open(run)
    if not (directory.path / FRONT).exists():
        raise InputError(f"{run} has no front yet: resume with `psopt resume {run}`")
    front = directory.read_json(FRONT)
    if len(which) <= _LONGEST_NAME:
        names = prompt_names(directory.read_json(MANIFEST))
        which = next((prompt_id for prompt_id, name in names.items() if name == which), which)
    return pick_entry(front["prompts"], which, front["short"], front["recommended"])


def picked_prompt(run: Path, which: str = "recommended") -> Path:
    """The file of one of a run's prompts, picked as `read_entry` does."""
    return run / "prompts" / f"{read_entry(run, which)['id']}.json"


def pick_note(run: Path, which: str) -> list[str]:
    """Return the verdict on a recommended prompt; nothing if another one was picked."""
    directory = RunDirectory.open(run)
    if which != "recommended" or not (directory.path / FRONT).exists():
        return []
    manifest = directory.read_json(MANIFEST)
    return recommendation_lines(manifest["recommended"], quality_name(manifest))[:1]
