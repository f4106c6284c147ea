"""The tracker, which hears about a run and reports it elsewhere; and the records of a run and of its trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from optuna.study import Study
from optuna.trial import FrozenTrial
from psopt.evaluation import OBJECTIVES
from psopt.models.chat import public_address
from psopt.runs import (
    FRONT,
    MANIFEST,
    PROPOSALS,
    REPORT,
    TRIALS,
    RunDirectory,
    quality_name,
    recommendation_lines,
    scores_and_bounds,
)
from psopt.search.distributed import PROMPT_ID, RACED
from psopt.settings import by_full_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from psopt.models.chat import CallWatcher
    from psopt.search_spaces import Prompt


Ending = Literal["finished", "failed", "killed"]
"""How a run has ended: with a result, even if a limit cut it short; by an error; by Ctrl-C."""
OptunaCallback = Callable[[Study, FrozenTrial], None]
"""``callback(study, trial)``, called after each trial, as `optuna.study.Study.optimize` calls its callbacks."""


class Tracker:
    """Is notified of a run by `Tracking`, in the process that optimizes.

    Every method may be overridden, and does nothing here. They are called in this order.

    1. `check`, before any model is asked: it raises an error if the tracker can't do its work.
    2. `start`, when the run directory exists and the study is open.
    3. `begin_trial` and `trial`, for each candidate; only `trial` for candidates that other workers have evaluated, and
       for those of an earlier part of the run that this tracker has not heard about.
    4. `end`, however the run ends, once everything is written; then `close`.

    If `start` or a later method raises an error, it is shown once, in one line; the tracker is not called again, and
    the run goes on. So none of them needs to catch anything.

    Attributes
    ----------
    name : str
        How the run directory recognises the tracker, such as ``mlflow:EXPERIMENT``.
    place : str
        Where its records can be seen, for the screen; known once it has started. Empty if there is no such place.
    call_watcher : callable or None
        Is notified of each call to a language model.
    """

    name: str = "tracker"
    place: str = ""
    call_watcher: CallWatcher | None = None

    def check(self) -> None:
        """Raise an error if the tracker can't do its work: import its package, reach its server."""

    def start(self, run: RunRecord, kept: dict[str, Any]) -> None:
        """Begin to record a run, or continue the record of an earlier part.

        `kept` is the tracker's own JSON data in the run directory, empty at first; its content is there again when the
        run is resumed. A tracker that can't continue empties it, and then gets all trials again.
        """

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        """Take note that a candidate is about to be evaluated here."""

    def trial(self, trial: TrialRecord) -> None:
        """Record a candidate that was evaluated, or stopped in its race."""

    def end(self, run: RunRecord, ending: Ending) -> None:
        """Record the result."""

    def close(self) -> None:
        """Release everything: the last call, even if the run never began, or the tracker has failed."""


class CallbackTracker(Tracker):
    """Calls a function with the study and each trial of this process, or of its workers."""

    def __init__(self, callback: OptunaCallback, study: Callable[[], Study | None]) -> None:
        self._callback = callback
        self._study = study
        self.name = getattr(callback, "__qualname__", type(callback).__qualname__)

    def trial(self, trial: TrialRecord) -> None:
        if (study := self._study()) is not None:
            self._callback(study, trial.frozen)


# Settings that don't show how the run was made, or may hold something private: a password in an address.
_LEFT_OUT = {"command", "prompt", "folder", "cache_dir", "own_model", "storage", "log", "headers", "extra_body"}


@dataclass(frozen=True)
class RunRecord:
    """A run as it is in its directory now.

    Attributes
    ----------
    folder : Path
        The run directory.
    manifest : mapping
        run.json, or its last state where a run without a result was removed.
    front : mapping
        front.json; empty where there is none.
    """

    folder: Path
    manifest: Mapping[str, Any]
    front: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> RunRecord:
        """Read the run directory.

        Raises
        ------
        InputError
            If there is no run, or a file of it is damaged.
        """
        directory = RunDirectory.open(folder)
        front = directory.read_json(FRONT) if (folder / FRONT).exists() else {}
        return cls(folder, directory.read_json(MANIFEST), front)

    @property
    def name(self) -> str:
        """The run's name: that of its directory."""
        return self.folder.resolve().name

    @property
    def params(self) -> dict[str, str | int | float | bool]:
        """The settings that are set, flat: ``lm.max_tokens``, and the sizes of the data."""
        params: dict[str, str | int | float | bool] = {}
        for name, value in by_full_name(self.manifest["settings"]).items():
            if _LEFT_OUT.isdisjoint(name.split(".")) and value not in (None, "", []):
                params[name] = ", ".join(map(str, value)) if isinstance(value, list) else value
        if address := params.get("lm.api_base"):
            params["lm.api_base"] = public_address(str(address)) or ""
        dataset = self.manifest["dataset"]
        return params | {f"dataset.{name}": dataset[name] for name in ("n_train", "n_val", "n_test")}

    @property
    def tags(self) -> dict[str, str]:
        """Tags for finding runs: version, data and their fingerprint, model; at the end the result."""
        dataset = self.manifest["dataset"]
        recommended = self.manifest.get("recommended") or {}
        tags = {
            "psopt.version": self.manifest["psopt_version"],
            "psopt.dataset": dataset["name"],
            "psopt.dataset_source": dataset["source"],
            "psopt.dataset_sha256": dataset["sha256"],
            "psopt.rephrasings_sha256": self.manifest["rephrasings"]["sha256"],
            "psopt.model": self.manifest["model"],
            "psopt.quality": quality_name(self.manifest),
            "psopt.run": str(self.folder.resolve()),
            "psopt.finish_reason": self.manifest["finish_reason"],
            "psopt.recommended": recommended.get("id", ""),
            "psopt.verdict": recommended.get("verdict", ""),
        }
        return {name: value for name, value in tags.items() if value}

    @property
    def metrics(self) -> dict[str, float]:
        """Scores of the baseline and of the recommended prompt, with the ends of their 95 % intervals; the run's cost.

        Such as ``baseline/test/f1`` and ``baseline/test/f1_low``, as far as they are defined.
        """
        metrics: dict[str, float] = {}
        for role, entry in (("baseline", self.manifest.get("baseline")), ("recommended", self.recommended)):
            for split in ("val", "test"):
                scores = scores_and_bounds((entry or {}).get(split))
                numbers = {name: float(value) for name, value in scores.items() if value is not None}
                metrics |= {f"{role}/{split}/{name}": value for name, value in numbers.items()}
        metrics |= {f"calls/{name}": float(value) for name, value in self.manifest["calls"].items()}
        n_front = len(self.manifest.get("front") or ())
        return metrics | {"seconds": float(self.manifest["seconds"]), "front/prompts": float(n_front)}

    @property
    def note(self) -> str:
        """The gate's decision, in a sentence; empty before the end."""
        if recommended := self.manifest.get("recommended"):
            return recommendation_lines(recommended, quality_name(self.manifest))[0]
        return ""

    @property
    def recommended(self) -> Mapping[str, Any] | None:
        """The recommended prompt with its scores, as front.json lists it; None before the end."""
        return self.front.get("recommended")

    @property
    def files(self) -> list[Path]:
        """The files worth keeping elsewhere, relative to the run directory: the report, the summaries, the prompts."""
        patterns = (MANIFEST, FRONT, TRIALS, PROPOSALS, REPORT, "prompts/**/*", "programs/**/*")
        files = chain.from_iterable(sorted(self.folder.glob(pattern)) for pattern in patterns)
        return [file.relative_to(self.folder) for file in files if file.is_file()]


@dataclass(frozen=True)
class TrialRecord:
    """A candidate, with the data of its trial in the study.

    Attributes
    ----------
    number : int
        The trial's number.
    prompt_id : str
    edits : tuple of str
        What it adds to the prompt that the run started from.
    metrics : dict
        On val ``f1``, ``sensitivity``, ``consistency`` where there is one, and ``na_rate`` where the whole grid was
        asked; and its cost in this process: ``calls``, ``tokens``, ``cost_usd``, ``seconds``.
    raced : str
        How far it came if it stopped in its race, and why: its metrics are estimates then. Otherwise empty.
    frozen : FrozenTrial
        Optuna's own trial.
    """

    number: int
    prompt_id: str
    edits: tuple[str, ...]
    metrics: dict[str, float]
    raced: str
    frozen: FrozenTrial

    @classmethod
    def of(cls, trial: FrozenTrial) -> TrialRecord:
        """Read a finished trial."""
        attributes = trial.user_attrs
        metrics = dict(zip(OBJECTIVES, trial.values or (), strict=False))
        others = ("na_rate", "calls", "tokens", "cost_usd", "seconds")
        metrics |= {name: float(attributes[name]) for name in others if name in attributes}
        prompt_id, raced = str(attributes.get(PROMPT_ID, "")), str(attributes.get(RACED, ""))
        return cls(trial.number, prompt_id, tuple(attributes.get("edits", ())), metrics, raced, trial)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters that were tried."""
        return {"prompt_id": self.prompt_id, "n_edits": len(self.edits), "edits": "\n".join(self.edits)}
