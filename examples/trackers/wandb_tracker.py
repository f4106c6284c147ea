"""Record a run in Weights & Biases: a run becomes a run, its trials steps, its files an artifact.

pip install wandb
psopt optimize --dataset trec --log wandb_tracker:WandbTracker     # in this folder, or with a copy of this file
"""

import uuid

import wandb
from psopt.tracking import Tracker


class WandbTracker(Tracker):
    """Records separately from any run that your program has open."""

    name = "wandb"

    def start(self, run, kept):
        """Begin a run, or resume that of an earlier part."""
        self._run = wandb.init(
            project="psopt",
            id=kept.setdefault("id", uuid.uuid4().hex[:8]),
            name=run.name,
            config={**run.params, **run.tags},
            allow_val_change=True,
            resume="allow",
            reinit="create_new",
        )
        self.place = str(self._run.url or self._run.dir)

    def trial(self, trial):
        """Record a trial's scores against its number."""
        self._run.log({"trial": trial.number, **{f"trials/{name}": value for name, value in trial.metrics.items()}})

    def end(self, run, ending):
        """Record scores and files, and end the run."""
        self._run.summary.update(run.metrics)
        artifact = wandb.Artifact(f"psopt-run-{self._run.id}", type="psopt-run")
        for file in run.files:
            artifact.add_file(str(run.folder / file), name=file.as_posix())
        self._run.log_artifact(artifact)
        self._run.finish(exit_code=0 if ending == "finished" else 1)
