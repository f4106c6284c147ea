"""Weights & Biases: a run of psopt is a run, with its trials as steps and in a table, and its files as an artifact."""

from __future__ import annotations

import netrc
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from psopt.errors import InputError, import_extra
from psopt.runs import TRIALS, RunDirectory
from psopt.tracking._base import Tracker
from psopt.tracking._environment import unless_set
from psopt.tracking._reachable import why_unreachable

if TYPE_CHECKING:
    from psopt.tracking._base import Ending
    from psopt.tracking._run_record import RunRecord
    from psopt.tracking._trial_record import TrialRecord

_PROJECT = "psopt"
_ALONE = {"offline", "disabled", "dryrun"}  # modes in which nothing is sent
# 255 is what wandb itself ends a run with at Ctrl-C (wandb.sdk.lib.exit_hooks).
_EXIT_CODES = {"finished": 0, "failed": 1, "killed": 255}
# Weave would trace the calls and their texts, which nobody has asked for, and advertises itself where it is missing.
_ALONE_WITH_WANDB = {"WANDB_DISABLE_WEAVE": "true"}
_WAITING = 30.0  # seconds for a run to begin; wandb's own 90 are long for a run that stands still
_SCORES = ("f1", "sensitivity", "consistency")


class WandbTracker(Tracker):
    """Records a run by wandb, beside whatever run a program of yours has open.

    Where it goes is said by wandb's own variables: WANDB_PROJECT, WANDB_ENTITY, WANDB_MODE, WANDB_DIR.

    Parameters
    ----------
    project : str
        By default WANDB_PROJECT's, else ``psopt``.
    """

    def __init__(self, project: str = "") -> None:
        self.name = f"wandb:{project}" if project else "wandb"
        self._project = project
        self._run: Any = None

    def check(self) -> None:
        """Import wandb, and look for its server and a key to it, unless nothing is to be sent."""
        wandb = import_extra("wandb", "--log wandb", "wandb")
        settings = wandb.setup().settings
        if settings.mode in _ALONE:
            return
        if not _has_key(settings.base_url):
            raise InputError(
                f"--log wandb: no key for {settings.base_url}: run `wandb login`, set WANDB_API_KEY, "
                "or record on this machine alone with WANDB_MODE=offline"
            )
        if reason := why_unreachable(settings.base_url):
            raise InputError(
                f"--log wandb: nobody answers at {settings.base_url} ({reason}): see WANDB_BASE_URL, "
                "or record on this machine alone with WANDB_MODE=offline"
            )

    def start(self, run: RunRecord, kept: dict[str, Any]) -> None:
        """Begin a run, or go on with that of an earlier part."""
        import wandb

        kept.setdefault("id", uuid.uuid4().hex[:8])
        with unless_set(_ALONE_WITH_WANDB):
            self._run = wandb.init(
                project=self._project or os.environ.get("WANDB_PROJECT") or _PROJECT,
                id=kept["id"],
                name=run.name,
                dir=os.environ.get("WANDB_DIR") or str(run.folder),
                config={**run.params, **run.tags},
                allow_val_change=True,
                resume="allow",
                reinit="create_new",
                settings=wandb.Settings(console="off", silent=True, disable_git=True, init_timeout=_WAITING),
            )
        self._run.define_metric("trial")
        self._run.define_metric("trials/*", step_metric="trial")
        is_alone = wandb.setup().settings.mode in _ALONE
        self.place = f"wandb sync {Path(self._run.dir).parent} sends the run" if is_alone else self._run.url

    def trial(self, trial: TrialRecord) -> None:
        """Record a trial's scores over the number of the trial."""
        scores = {f"trials/{name}": value for name, value in trial.metrics.items()}
        self._run.log({"trial": trial.number, **scores, "trials/is_estimated": int(bool(trial.raced))})

    def end(self, run: RunRecord, ending: Ending) -> None:
        """Record scores, tables and files, and end the run."""
        try:
            self._run.summary.update(run.metrics)
            self._run.config.update(run.tags, allow_val_change=True)
            if run.note:
                self._run.notes = run.note
            if ending == "finished":
                self._add_tables(run)
                self._add_files(run)
        finally:
            self._run.finish(exit_code=_EXIT_CODES[ending])

    def _add_tables(self, run: RunRecord) -> None:
        import wandb

        tables = {}
        if (run.folder / TRIALS).exists():
            trials = RunDirectory(run.folder).read_json(TRIALS)["trials"]
            rows = [
                [entry["trial"], entry["id"], *map(entry.get, _SCORES), entry["feasible"], "\n".join(entry["edits"])]
                for entry in trials
            ]
            tables["trials"] = wandb.Table(columns=["trial", "prompt", *_SCORES, "feasible", "edits"], data=rows)
        front = run.manifest.get("front") or ()
        columns = [f"{split}/{name}" for split in ("val", "test") for name in _SCORES]
        rows = [
            [
                entry["id"],
                len(entry["edits"]),
                entry["length"]["tokens"],
                *((entry[split] or {}).get(name) for split in ("val", "test") for name in _SCORES),
            ]
            for entry in front
        ]
        if rows:
            tables["front"] = wandb.Table(columns=["prompt", "edits", "tokens", *columns], data=rows)
        self._run.log(tables)

    def _add_files(self, run: RunRecord) -> None:
        import wandb

        metadata = {**run.tags, **({"note": run.note} if run.note else {})}
        artifact = wandb.Artifact(f"psopt-run-{self._run.id}", type="psopt-run", metadata=metadata)
        for file in run.files:
            artifact.add_file(str(run.folder / file), name=file.as_posix())
        self._run.log_artifact(artifact)


def _has_key(url: str) -> bool:
    """Whether there is a key for a server, where wandb looks for one; asking wandb itself would ask the user."""
    if os.environ.get("WANDB_API_KEY") or os.environ.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    files = [os.environ.get("NETRC"), Path.home() / ".netrc", Path.home() / "_netrc"]
    file = next((Path(name) for name in files if name and Path(name).is_file()), None)
    try:
        return file is not None and netrc.netrc(file).authenticators(urlsplit(url).hostname or "") is not None
    except (OSError, netrc.NetrcParseError):
        return False
