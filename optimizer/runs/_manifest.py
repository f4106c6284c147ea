"""run.json and front.json: what a run was, and what it found."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from psopt._version import __version__
from psopt.models import capabilities_of
from psopt.models.chat import asks_in_chat, tokens_of_text
from psopt.rephrasings import diversity_of
from psopt.runs._call_price import CallPrice
from psopt.runs._front_file import front_entry, scores_of
from psopt.runs._measured import answers_of
from psopt.runs._recommendation import recommendation_lines
from psopt.search import PromptLimits, knee, tokens_around

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from psopt.evaluation import Evaluator
    from psopt.runs._measured import Measured
    from psopt.runs._recommendation import Recommendation
    from psopt.runs._settings import RunSettings
    from psopt.search import Candidate
    from psopt.search.racing import RaceCounts
    from psopt.tasks import Task


SCHEMA_VERSION = 1
FOUND = (
    *("baseline", "front", "short", "prompt_limits", "race", "recommended"),
    *("other_wordings", "calibration", "planted", "probe", "kept_if_steady"),
)
"""The keys of run.json that say what was found."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a run has found so far."""

    baseline: Candidate | None = None
    front: tuple[Candidate, ...] = ()
    shortest: Candidate | None = None
    recommendation: Recommendation | None = None
    race: RaceCounts | None = None  # where candidates raced
    beside: Mapping[str, Any] = field(default_factory=dict)  # further findings, by their keys in run.json

    @property
    def knee_id(self) -> str | None:
        """The id of the front's knee; None where there is no front yet."""
        if not self.baseline or not self.front:
            return None
        return knee(self.front, self.baseline).id


def manifest(
    settings: RunSettings,
    task: Task,
    evaluator: Evaluator,
    found: Found,
    finish_reason: str,
    seconds: float,
    before: Mapping[str, Any],
) -> dict[str, Any]:
    """Build run.json's content. `test` is null if a run ended before the front was scored on test.

    `before` is the manifest of an interrupted run, whose seconds are added, and whose earlier findings are kept.
    """
    around = tokens_around(evaluator)
    baseline, rephrasings = found.baseline, evaluator.rephrasings
    own_settings = settings.to_dict()

    def call(candidate: Candidate) -> dict[str, Any]:
        # Only in run.json: a price may change, and front.json holds nothing that differs between equal runs.
        return CallPrice.of(candidate.prompt, settings.model, around).to_dict()

    def listed(candidate: Candidate) -> dict[str, Any]:
        return {**front_entry(candidate, found.knee_id), "call": call(candidate)}

    return {
        "schema_version": SCHEMA_VERSION,
        "psopt_version": __version__,
        "command": own_settings["command"],
        "seed": settings.seed,
        "model": settings.model,
        "dataset": _dataset(task, evaluator),
        "rephrasings": {
            "search": list(rephrasings.search),
            "heldout": list(rephrasings.heldout),
            "sha256": rephrasings.sha256,
            "diversity": diversity_of(rephrasings, task.labels),
        },
        "baseline": baseline and {"id": baseline.id, **scores_of(baseline), "call": call(baseline)},
        "front": list(map(listed, found.front)),
        "short": found.shortest and listed(found.shortest),
        "calls": _calls(evaluator),
        "finish_reason": finish_reason,
        "seconds": round(seconds + before.get("seconds", 0.0), 3),
        **_how_asked(settings, evaluator),
        "settings": own_settings,
        **_findings(found, evaluator, settings, before),
    }


def front_file(found: Found, how: Callable[[Candidate], Measured]) -> dict[str, Any]:
    """Build front.json's content: the front's complete prompts, and the original, the short and the recommended one.

    It holds nothing that differs between equal runs. `how` returns how a candidate was measured.
    """

    def whole(candidate: Candidate) -> dict[str, Any]:
        measured = how(candidate).to_dict()
        return {**front_entry(candidate, found.knee_id), "prompt": candidate.prompt.to_dict(), "measured": measured}

    return {
        "schema_version": SCHEMA_VERSION,
        "prompts": list(map(whole, found.front)),
        "original": found.baseline and whole(found.baseline),
        "short": found.shortest and whole(found.shortest),
        "recommended": found.recommendation and whole(found.recommendation.prompt),
    }


def _dataset(task: Task, evaluator: Evaluator) -> dict[str, Any]:
    info = task.info
    entry = {"name": info.name, "source": info.source, "sha256": info.sha256, "note": info.note}
    if info.revision:
        entry["revision"] = info.revision
    sizes = {f"n_{split}": len(getattr(task, split)) for split in ("train", "val", "test")}
    evaluated = {split: len(samples) for split, samples in evaluator.samples.items()}
    return {**entry, **answers_of(task), **sizes, "evaluated": evaluated}


def _how_asked(settings: RunSettings, evaluator: Evaluator) -> dict[str, Any]:
    """Where the user's own prompt came from, what answers are unless single labels, and what every call adds."""
    entries: dict[str, Any] = {}
    if settings.prompt:
        template = settings.prompt.template
        form = template.origin.format if template else "psopt"
        fields = list(settings.prompt.fields)
        entries["prompt_source"] = {"format": form, "file": settings.prompt_file, "fields": fields}
    if not evaluator.answer_type.is_plain:
        entries["answers"] = evaluator.answer_type.to_dict()
    frame = tokens_of_text(capabilities_of(evaluator.model).frame)
    if frame.high:
        entries["frame_tokens"] = [round(frame.low, 1), round(frame.high, 1)]
    return entries


def _findings(found: Found, evaluator: Evaluator, settings: RunSettings, before: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that are included only if known; those of the part before, if nothing is known yet."""
    if found.baseline is None:
        return {name: before[name] for name in FOUND if before.get(name)}
    entries = dict(found.beside)
    if found.race:
        entries["race"] = asdict(found.race)
    if found.recommendation:
        recommended = found.recommendation.to_dict()
        sentence = recommendation_lines(recommended, evaluator.answer_type.quality_name)[0]
        entries["recommended"] = {"sentence": sentence, **recommended}
    if found.shortest:
        limits = PromptLimits.of(found.baseline.prompt, tokens_around(evaluator), settings.search.parts)
        entries["prompt_limits"] = {"edits": limits.most_edits, "tokens": limits.most_tokens}
    return entries


def _calls(evaluator: Evaluator) -> dict[str, Any]:
    """What all parts of a run have asked and paid; if responses name several models, how many answers each gave."""
    usage = evaluator.budget.earlier + evaluator.budget.usage
    answered: Counter[str] = Counter()
    for each in evaluator.each:
        if asks_in_chat(each.model):
            answered.update(each.model.answered_by)
    calls: dict[str, Any] = {
        "made": usage.made,
        "cached": usage.cached,
        "failed": usage.failed,
        "tokens": usage.tokens,
        "cost_usd": round(usage.cost, 6),
        "reasoning_tokens": usage.reasoning,
        "cached_input_tokens": usage.cached_in,
    }
    return {**calls, "models": dict(answered.most_common())} if len(answered) > 1 else calls


def limits_line(limits: Mapping[str, Any]) -> str:
    """Describe the limits on recommended prompts, from run.json's `prompt_limits`.

    >>> limits_line({"edits": 25, "tokens": None}), limits_line({"edits": None, "tokens": 1500})
    ("25 edits (a label's examples count as one, as do its own definitions)", '1,500 tokens per call')
    """
    units = {"edits": "edits (a label's examples count as one, as do its own definitions)", "tokens": "tokens per call"}
    return " and ".join(f"{limits[name]:,} {unit}" for name, unit in units.items() if limits[name] is not None)
