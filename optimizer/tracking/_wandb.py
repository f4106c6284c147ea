"""Weights & Biases: a run of psopt is a run, with its trials as steps and its files as an artifact."""

from __future__ import annotations

import netrc
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from psopt.errors import InputError, import_extra
from psopt.tracking._base import Tracker
from psopt.tracking._surroundings import unless_set, why_unreachable

if TYPE_CHECKING:
    from psopt.tracking._base import Ending
    from psopt.tracking._run_record import RunRecord
    from psopt.tracking._trial_record import TrialRecord

_ALONE = {"offline", "disabled", "dryrun"}  # modes in which nothing is sent
# 255 is what wandb itself ends a run with at Ctrl-C (wandb.sdk.lib.exit_hooks).
_EXIT_CODES = {"finished": 0, "failed": 1, "killed": 255}
_WAITING = 30.0  # seconds for a run to begin; wandb's own 90 are long for a run that stands still


class WandbTracker(Tracker):
    """Records a run by wandb, beside whatever run a program of yours has open."""

    def __init__(self, project: str = "") -> None:
        self.name = f"wandb:{project}" if project else "wandb"
        self._project = project or os.environ.get("WANDB_PROJECT") or "psopt"

    def check(self) -> None:
        """Import wandb, and look for its server and a key to it, unless nothing is to be sent."""
        settings = import_extra("wandb", "--log wandb", "wandb").setup().settings
        self._is_alone = settings.mode in _ALONE
        if self._is_alone:
            return
        url = settings.base_url
        alone = "or record on this machine alone with WANDB_MODE=offline"
        if not _has_key(url):
            raise InputError(f"--log wandb: no key for {url}: run `wandb login`, set WANDB_API_KEY, {alone}")
        if reason := why_unreachable(url):
            raise InputError(f"--log wandb: nobody answers at {url} ({reason}): see WANDB_BASE_URL, {alone}")

    def start(self, run: RunRecord, kept: dict[str, Any]) -> None:
        """Begin a run, or go on with that of an earlier part."""
        import wandb

        # Weave would trace the calls and their texts, which nobody has asked for.
        with unless_set(WANDB_DISABLE_WEAVE="true"):
            self._run = wandb.init(
                project=self._project,
                id=kept.setdefault("id", uuid.uuid4().hex[:8]),
                name=run.name,
                dir=os.environ.get("WANDB_DIR") or str(run.folder),
                config={**run.params, **run.tags},
                allow_val_change=True,
                resume="allow",
                reinit="create_new",
                settings=wandb.Settings(console="off", silent=True, disable_git=True, init_timeout=_WAITING),
            )
        self._run.define_metric("trials/*", step_metric="trial")
        self.place = f"wandb sync {Path(self._run.dir).parent} sends the run" if self._is_alone else str(self._run.url)

    def trial(self, trial: TrialRecord) -> None:
        """Record a trial's scores over the number of the trial."""
        scores = {f"trials/{name}": value for name, value in trial.metrics.items()}
        self._run.log({"trial": trial.number, **scores, "trials/is_estimated": int(bool(trial.raced))})

    def end(self, run: RunRecord, ending: Ending) -> None:
        """Record scores and files, and end the run."""
        import wandb

        try:
            self._run.summary.update(run.metrics)
            self._run.notes = run.note
            artifact = wandb.Artifact(f"psopt-run-{self._run.id}", type="psopt-run", metadata=run.tags)
            for file in run.files:
                artifact.add_file(str(run.folder / file), name=file.as_posix())
            if ending == "finished":
                self._run.log_artifact(artifact)
        finally:
            self._run.finish(exit_code=_EXIT_CODES[ending])


def _has_key(url: str) -> bool:
    """Whether there is a key for a server, where wandb looks for one; asking wandb itself would ask the user."""
    if os.environ.get("WANDB_API_KEY") or os.environ.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    try:
        return netrc.netrc(os.environ.get("NETRC")).authenticators(urlsplit(url).hostname or "") is not None
    except (OSError, netrc.NetrcParseError):
        return False
