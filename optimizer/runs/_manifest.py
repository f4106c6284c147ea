"""run.json: what a run was, and what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt._version import __version__
from psopt.models import capabilities_of
from psopt.models.chat import asks_in_chat, tokens_of_text, without_header_values
from psopt.rephrasings import diversity_of
from psopt.runs._call_price import CallPrice
from psopt.runs._front_file import SCHEMA_VERSION, front_entry, scores_of
from psopt.runs._measured import answers_of
from psopt.search import tokens_around, without_password

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.evaluation import Evaluator
    from psopt.models import Model
    from psopt.models.chat import Budget
    from psopt.runs._settings import RunSettings
    from psopt.search import Candidate, RaceCounts
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task


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
    shortest: Candidate | None = None,
    race: RaceCounts | None = None,
) -> dict[str, Any]:
    """Build run.json's content. `test` is null where a run ended before the front was scored on test.

    `race` is there only where candidates raced.

    `before` is what an interrupted run's manifest held: seconds are summed over the parts of a run.
    """
    rephrasings = evaluator.rephrasings
    info = task.info
    around = tokens_around(evaluator)
    frame = tokens_of_text(capabilities_of(evaluator.model).frame)

    def call(candidate: Candidate) -> dict[str, Any]:
        # In run.json alone: a price may change, and front.json holds nothing that differs between equal runs.
        return CallPrice.of(candidate.prompt, settings.model, around).to_dict()

    own_prompt = {"prompt_source": _prompt_source(settings.prompt, settings.prompt_file)} if settings.prompt else {}
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
            **({"revision": info.revision} if info.revision else {}),
            **answers_of(task),
            **{f"n_{split}": len(getattr(task, split)) for split in ("train", "val", "test")},
            "evaluated": {split: len(used) for split, used in evaluator.samples.items()},
        },
        "rephrasings": {
            "search": list(rephrasings.search),
            "heldout": list(rephrasings.heldout),
            "sha256": rephrasings.sha256,
            "diversity": diversity_of(rephrasings, task.labels),
        },
        "baseline": {"id": baseline.id, **scores_of(baseline), "call": call(baseline)} if baseline else None,
        "front": [{**front_entry(candidate, knee_id), "call": call(candidate)} for candidate in front],
        "short": {**front_entry(shortest, knee_id), "call": call(shortest)} if shortest else None,
        "calls": {**calls(evaluator.budget), **_models_of(evaluator.model)},
        "finish_reason": finish_reason,
        "seconds": round(seconds + before.get("seconds", 0.0), 3),
        **own_prompt,
        **({} if evaluator.answer_type.is_plain else {"answers": evaluator.answer_type.to_dict()}),
        **({"race": race.to_dict()} if race else {}),
        **({"frame_tokens": [round(frame.low, 1), round(frame.high, 1)]} if frame.high else {}),
        "settings": {
            **settings.to_dict(),
            "storage": settings.storage and without_password(settings.storage),
            "command": without_password(without_header_values(settings.command)),
        },
    }


def _prompt_source(prompt: Prompt, file: str) -> dict[str, Any]:
    """What the user's own prompt came as; ``psopt`` where it is in psopt's own form."""
    if prompt.template is None:
        return {"format": "psopt", "file": file, "fields": []}
    return {"format": prompt.template.origin.format, "file": file, "fields": list(prompt.template.fields)}


def _models_of(model: Model) -> dict[str, Any]:
    """How many answers each model gave, where responses name several."""
    if not asks_in_chat(model) or len(model.answered_by) < 2:
        return {}
    return {"models": dict(model.answered_by.most_common())}


def calls(budget: Budget) -> dict[str, Any]:
    """What was asked and paid, by all parts of a run."""
    usage = budget.earlier + budget.usage
    return {
        "made": usage.made,
        "cached": usage.cached,
        "failed": usage.failed,
        "tokens": usage.tokens,
        "cost_usd": round(usage.cost, 6),
        "reasoning_tokens": usage.reasoning,
        "cached_input_tokens": usage.cached_in,
    }
