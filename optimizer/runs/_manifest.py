"""run.json and front.json: what a run was, and what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt._version import __version__
from psopt.models.chat import without_header_values
from psopt.search import pick_one, without_password

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psopt.evaluation import Evaluator
    from psopt.models.chat import Usage
    from psopt.runs._measured import Measured
    from psopt.runs._settings import RunSettings
    from psopt.search import Candidate
    from psopt.tasks import Task

SCHEMA_VERSION = 1


def manifest(
    settings: RunSettings,
    task: Task,
    evaluator: Evaluator,
    baseline: Candidate | None,
    front: Sequence[Candidate],
    knee_id: str | None,
    finish_reason: str,
    seconds: float,
    before: Mapping[str, Any],
    short: Candidate | None = None,
) -> dict[str, Any]:
    """Build run.json's content. `test` is null where a run ended before the front was scored on test.

    `before` is what an interrupted run's manifest held: calls and seconds are summed over the parts of a run.
    """
    rephrasings, samples = evaluator.rephrasings, evaluator.samples
    info = task.info
    return {
        "schema_version": SCHEMA_VERSION,
        "psopt_version": __version__,
        "command": without_password(without_header_values(settings.command)),
        "seed": settings.seed,
        "model": settings.model,
        "dataset": {
            "name": info.name,
            "source": info.source,
            "sha256": info.sha256,
            "note": info.note,
            **{f"n_{split}": len(getattr(task, split)) for split in ("train", "val", "test")},
            "evaluated": {split: len(used) for split, used in samples.items()},
        },
        "rephrasings": {
            "search": list(rephrasings.search),
            "heldout": list(rephrasings.heldout),
            "sha256": rephrasings.sha256,
        },
        "baseline": {"id": baseline.id, **_scores(baseline)} if baseline else None,
        "front": [front_entry(one, knee_id) for one in front],
        "short": front_entry(short, knee_id) if short else None,
        "calls": calls(evaluator.budget.usage, before),
        "finish_reason": finish_reason,
        "seconds": round(seconds + before.get("seconds", 0.0), 3),
        "settings": {
            **settings.to_dict(),
            "storage": settings.storage and without_password(settings.storage),
            "command": without_password(without_header_values(settings.command)),
        },
    }


def calls(usage: Usage, before: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked and paid, by a run and by what it goes on with."""
    now = {
        "made": usage.made,
        "cached": usage.cached,
        "failed": usage.failed,
        "tokens": usage.tokens,
        "cost_usd": round(usage.cost, 6),
        "reasoning_tokens": usage.reasoning,
        "cached_input_tokens": usage.cached_in,
    }
    earlier = before.get("calls", {})
    return {name: value + earlier.get(name, 0) for name, value in now.items()}


def front_entry(candidate: Candidate, knee_id: str | None) -> dict[str, Any]:
    """One prompt of the front, as run.json lists it."""
    return {
        "id": candidate.id,
        "knee": candidate.id == knee_id,
        "trial": candidate.trial,
        "edits": [edit.to_dict() for edit in candidate.edits],
        "length": candidate.length,
        **_scores(candidate),
    }


def front_file(
    front: Sequence[Candidate],
    knee_id: str | None,
    short: Candidate | None = None,
    how: Callable[[Candidate], Measured] | None = None,
) -> dict[str, Any]:
    """Build front.json's content: the front's prompts, whole, and the short one, which may be beside the front.

    It holds nothing that differs between equal runs. `how` says how a candidate was measured.
    """

    def whole(one: Candidate) -> dict[str, Any]:
        measured = {"measured": how(one).to_dict()} if how else {}
        return {**front_entry(one, knee_id), "prompt": one.prompt.to_dict(), **measured}

    prompts = [whole(one) for one in front]
    return {"schema_version": SCHEMA_VERSION, "prompts": prompts, "short": whole(short) if short else None}


def _scores(candidate: Candidate) -> dict[str, Any]:
    return {"val": candidate.val.to_dict(), "test": candidate.test.to_dict() if candidate.test else None}


def pick_entry(
    entries: Sequence[Mapping[str, Any]], which: str, short: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """Pick from front.json's prompts as `pick_one` says."""
    return pick_one(
        entries,
        which,
        knee=lambda: next(entry for entry in entries if entry["knee"]),
        prompt_id=lambda entry: str(entry["id"]),
        value=_measured,
        shortest=short,
    )


def _measured(entry: Mapping[str, Any], measure: str) -> float:
    return float(entry["length"]["tokens"] if measure == "tokens" else entry["val"][measure])
