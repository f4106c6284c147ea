"""A run directory as the run that it holds, finished or not."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.evaluation import read_data, scores_from_dict
from psopt.runs._call_price import CallPrice
from psopt.runs._directory import FRONT, MANIFEST, STUDY, RunDirectory
from psopt.runs._holding import study_name
from psopt.runs._recommendation import Recommendation
from psopt.runs._run import Run
from psopt.runs._settings import RunSettings
from psopt.search import Candidate, candidates_in, example_orders, knee, pareto_front, read_study
from psopt.search.gating import Verdict
from psopt.search_spaces import ORDERS, Edit, Prompt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psopt.search.distributed import StoredStudy


def read_run(path: str | Path, storage: str | None = None) -> Run:
    """Do what `psopt.load_run` promises; the run can't be drawn yet."""
    directory = RunDirectory.open(Path(path))
    manifest = directory.read_json(MANIFEST)
    with _damage_named(directory.path / MANIFEST):
        return _run_of(directory, manifest, RunSettings.from_dict(manifest["settings"]), storage)


def _run_of(directory: RunDirectory, manifest: Mapping[str, Any], settings: RunSettings, storage: str | None) -> Run:
    study = _study_of(directory, settings, storage)
    if not manifest.get("baseline") or not manifest.get("front"):
        return _from_study(directory, manifest, settings, study)
    front = directory.read_json(FRONT)
    with _damage_named(directory.path / FRONT):
        orders = example_orders(study)
        candidates = {entry["id"]: _candidate(entry, orders) for entry in front["prompts"]}
        beside = [entry for entry in (front["short"], front["recommended"]) if entry]
        by_id = {entry["id"]: _candidate(entry, orders) for entry in beside} | candidates
    baseline = by_id.get(manifest["baseline"]["id"]) or _baseline(directory, manifest["baseline"])
    members = tuple(candidates.values())
    short = by_id[front["short"]["id"]] if front["short"] else knee(members, baseline)
    recommendation = _recommendation(manifest["recommended"], {**by_id, baseline.id: baseline})
    return Run(directory.path, baseline, members, short, study, manifest["finish_reason"], recommendation)


def _study_of(directory: RunDirectory, settings: RunSettings, storage: str | None) -> StoredStudy:
    url = storage or settings.storage
    if url:
        return read_study(url, settings.study_name or directory.path.resolve().name)
    file = directory.path / STUDY
    if not file.is_file():
        raise InputError(f"{directory.path} has lost its {STUDY}, which holds its trials: put it back")
    name = study_name(file)
    if name is None:
        raise InputError(f"{file} holds no study: the run broke off as it began, or the file is damaged")
    return read_study(directory.storage_url, name)


def _from_study(directory: RunDirectory, manifest: Mapping[str, Any], settings: RunSettings, study: StoredStudy) -> Run:
    """A run of which run.json says nothing yet, as its study tells it."""
    candidates = candidates_in(study)
    if not candidates:
        path = directory.path
        raise InputError(f"{path} has no scores yet: wait for its first trials, or resume with `psopt resume {path}`")
    baseline = candidates[0]
    front = pareto_front(candidates, baseline.val.f1 - settings.search.parts.margin)
    return Run(directory.path, baseline, front, knee(front, baseline), study, manifest["finish_reason"])


def _candidate(entry: Mapping[str, Any], orders: Mapping[int, str], prompt: Prompt | None = None) -> Candidate:
    """A candidate as run.json and front.json keep it."""
    prompt = prompt or Prompt.from_dict(entry["prompt"])
    trial = entry.get("trial", 0)
    return Candidate(
        trial=trial,
        prompt=prompt,
        edits=tuple(Edit.from_dict(edit) for edit in entry.get("edits", ())),
        val=scores_from_dict(entry["val"]),
        test=scores_from_dict(entry["test"]) if entry.get("test") else None,
        order=orders.get(trial, ORDERS[0]),
    )


def _baseline(directory: RunDirectory, entry: Mapping[str, Any]) -> Candidate:
    name = f"prompts/{entry['id']}.json"
    data = directory.read_json(name)
    with _damage_named(directory.path / name):
        return _candidate(entry, {}, Prompt.from_dict(data))


def _recommendation(data: Mapping[str, Any], candidates: Mapping[str, Candidate]) -> Recommendation:
    """What the gate has decided, by run.json's `recommended`."""
    calls = {when: CallPrice.from_dict(call) for when, call in data["call"].items()}
    prompt, verdict = candidates[data["id"]], read_data(Verdict, data)
    return Recommendation(prompt, verdict, data["samples_needed"], data["looks"], **calls)


@contextlib.contextmanager
def _damage_named(file: Path) -> Iterator[None]:
    """Say of a file that lacks what psopt writes that it is damaged."""
    try:
        yield
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"it lacks {json.dumps(error.args[0])}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{file} is damaged, or of a later version of psopt: {what}") from error
