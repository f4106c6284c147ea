"""What a run directory holds, as the report shows it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.evaluation import measure_names
from psopt.runs import (
    CONTRIBUTIONS,
    FRONT,
    MANIFEST,
    TRIALS,
    WEAK_SPOTS,
    CallPrice,
    asked_about,
    asked_for_lines,
    best_found,
    named,
    pick_entry,
    prompt_names,
    quality_name,
    read_predictions,
    recommendation_lines,
    unasked_lines,
)
from psopt.search_spaces import Prompt

if TYPE_CHECKING:
    from psopt.evaluation import Predictions
    from psopt.runs import RunDirectory


@dataclass(frozen=True, eq=False)
class Contents:
    """A finished run."""

    directory: RunDirectory
    run: dict[str, Any]  # run.json
    chosen: dict[str, Any]  # the entry of the prompt that is shown next to the original prompt
    name: str  # its name: ``prompt A``, or ``original prompt``
    prompts: dict[str, Prompt]  # the original prompt, the front's and the short one
    # Of the original and of the chosen prompt, on test under the held-out rephrasings
    predictions: dict[str, Predictions]
    # The original prompt's groups from weak_spots.json, and the lists in trials.json and contributions.json
    groups: list[dict[str, Any]]
    trials: list[dict[str, Any]]
    contributions: list[dict[str, Any]]

    @property
    def prompt(self) -> Prompt:
        """The shown prompt."""
        return self.prompts[self.chosen["id"]]

    @property
    def answers(self) -> Predictions:
        """The shown prompt's answers on test, under the held-out rephrasings."""
        return self.predictions[self.name]

    @cached_property
    def prices(self) -> dict[str, CallPrice]:
        """What a call takes with each prompt."""
        model, around = asked_about(self.directory)
        return {name: CallPrice.of(prompt, model, around) for name, prompt in self.prompts.items()}

    @property
    def call(self) -> CallPrice:
        """What a call takes with the shown prompt."""
        return self.prices[self.chosen["id"]]

    @property
    def quality(self) -> str:
        """What the mean worth of answers is called."""
        return quality_name(self.run)

    @property
    def recommendation(self) -> list[str]:
        """The run's own verdict on its prompt, and the remarks on it."""
        lines = recommendation_lines(self.run["recommended"], self.quality)
        names = prompt_names(self.run)
        return [named(line, names) for line in (*lines, *unasked_lines(self.run), *asked_for_lines(self.run))]

    @property
    def is_rejected(self) -> bool:
        """Whether the shown prompt did not pass the tests: the run recommends the original one."""
        return bool(self.chosen["id"] != self.run["baseline"]["id"] == self.run["recommended"]["id"])

    @property
    def measures(self) -> dict[str, str]:
        """The names on pages of the measures that are defined, by their keys in run.json."""
        names = measure_names(self.quality)
        return {key: name for key, name in names.items() if self.chosen["test"][key] is not None}


def read_contents(directory: RunDirectory, pick: str = "recommended", *, beside_baseline: bool = True) -> Contents:
    """Read a run's files; `pick` says which prompt is shown; raises InputError if unfinished or damaged.

    Where the baseline is recommended, the best prompt found is shown next to it, unless `beside_baseline` is False.
    """
    run = directory.read_json(MANIFEST)
    if not run.get("front") or run["baseline"]["test"] is None:
        raise InputError(
            f"{directory.path} was not scored on test yet, and has nothing to report: "
            f"resume with `psopt resume {directory.path}`"
        )
    front = directory.read_json(FRONT)
    entries = (run["baseline"], *front["prompts"], front.get("short"), front.get("recommended"))
    files = {entry["id"]: f"prompts/{entry['id']}.json" for entry in entries if entry}
    chosen = _chosen(run, front, pick, beside_baseline=beside_baseline)
    name = "original prompt"
    if chosen["id"] != run["baseline"]["id"]:
        name = f"prompt {prompt_names(run)[chosen['id']]}"
    names = {"original prompt": run["baseline"]["id"], name: chosen["id"]}
    contributions = directory.read_json(CONTRIBUTIONS)
    if contributions["prompt"] != chosen["id"]:
        contributions["left_out"] = []
    return Contents(
        directory,
        run,
        chosen,
        name,
        {prompt_id: Prompt.from_dict(directory.read_json(file)) for prompt_id, file in files.items()},
        {name: read_predictions(directory, prompt_id, "test") for name, prompt_id in names.items()},
        directory.read_json(WEAK_SPOTS)["before"]["groups"],
        directory.read_json(TRIALS)["trials"],
        contributions["left_out"],
    )


def _chosen(run: dict[str, Any], front: dict[str, Any], pick: str, *, beside_baseline: bool) -> dict[str, Any]:
    """The entry of the shown prompt: the best one found, where the baseline is recommended and shown next to it."""
    entries = [front["recommended"], run.get("short"), *run["front"], {"edits": [], "knee": False, **run["baseline"]}]
    by_id: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in entries if entry}
    beside = {"short": front.get("short"), "recommended": front["recommended"], "original": run["baseline"]}
    picked = pick_entry(front["prompts"], pick, **beside)["id"]
    if beside_baseline and pick == "recommended" and picked == run["baseline"]["id"]:
        knee = next(entry["id"] for entry in run["front"] if entry["knee"])
        picked = best_found(run["recommended"]["tests"], knee)
    if by_id[picked]["test"] is None:
        raise InputError(f"prompt {picked} was not scored on test, and has nothing to report: pick another")
    return by_id[picked]
