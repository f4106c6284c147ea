"""What a run was asked to do: enough to start it again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from psopt.errors import DataError, InputError
from psopt.models import can_write
from psopt.models.chat import public_command
from psopt.search.distributed import without_password
from psopt.search.racing import check_wordings
from psopt.search_spaces import CALIBRATE, Prompt, apply_edits, seed_prompt
from psopt.settings import RunOptions, check, flat, model_names, of_flat
from psopt.tasks import is_hub_name, load_task

if TYPE_CHECKING:
    from psopt.settings import DataOptions
    from psopt.tasks import Task


N_HELDOUT = 10
"""How many held-out rephrasings a run has."""
_NESTED = ("lm", "parts")


@dataclass(frozen=True, slots=True)
class RunSettings(RunOptions):
    """The settings of a run, with its sizes; run.json keeps them for `psopt resume`."""

    rephrasings: int = 10  # Q, the number of search rephrasings, including the original
    samples: int = 500  # how many samples of train (to diagnose) and of val (to compare) are used, at most
    own_model: bool = False  # whether the model was a Python object of the caller's, which no name loads again
    split_seed: int | None = None  # by which data without marked splits were split; None for the run's seed
    command: str = ""  # the command line, for the record
    cache_dir: str = ""  # where its answers are kept, on the machine that it was last run on
    prompt: Prompt | None = None  # the user's own, instead of the strategy's, completely: its file is not read again
    prompt_file: str = ""  # where `prompt` came from; empty if it was given in Python
    train_samples: int | None = None  # None for as many as of val
    test_samples: int | None = None  # None for all
    heldout: int = N_HELDOUT  # how many held-out rephrasings test is asked under
    # What planned the sizes: ``light``, ``medium`` or ``heavy``; ``limits`` for the user's; ``full`` for nothing
    effort: str = "full"
    # Whose limits they are: the ``user``'s, or the ``effort``'s; ``plan`` if the sizes were chosen to fit the user's,
    # so that a run that reaches them ends as planned.
    limited_by: Literal["user", "effort", "plan"] = "user"
    # Wordings of another source, also completely, under which the recommended prompt is measured on test too
    heldout_from: tuple[str, ...] = ()
    heldout_from_name: str = ""  # where they came from

    def __post_init__(self) -> None:
        """Refuse two prompts to start from, and a race under one wording."""
        check(self)
        if self.prompt is not None and self.strategy != "simple":
            raise InputError(f"--strategy {self.strategy} makes a prompt, and --prompt is one: leave one of them out")
        if self.search.parts.no_verbatim and self.strategy == "1-shot":
            raise InputError("--strategy 1-shot shows texts of samples, and --no-verbatim forbids that: leave one out")
        if len(self.models) > 1:
            self._check_several()
        elif self.over != "worst":
            raise InputError(f"--over {self.over} is for several models, and here is one: leave it out")
        if self.rephrasing.file is None:  # otherwise the file says how many there are, and the search checks
            check_wordings(self.search.race, self.rephrasings)

    def _check_several(self) -> None:
        """Refuse what works only with a single model."""
        alone = {
            "--program": self.program,
            "--storage": self.storage,
            "--probe": self.probe,
            f"--race {self.search.race}": self.search.race in {"on", "strict"},
        }
        for name, is_set in alone.items():
            if is_set:
                raise InputError(f"{name} is for one model, and here are {len(self.models)}: leave it out")

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that the prompt is for: usually one."""
        return model_names(self.model)

    @property
    def seed(self) -> int:
        """The seed of everything that is drawn; 0 is a valid seed."""
        return self.search.seed

    @property
    def writer(self) -> str | None:
        """The model that drafts edits in addition to the rules, the first that can; None if there is none."""
        if self.proposer == "rules":
            return None
        if self.proposer is None and not (self.own_model or self.program):
            return next(filter(can_write, self.models), None)
        return self.proposer

    def has_own_task(self, source: str) -> bool:
        """Whether the task, with data from this source, was an object in Python, which no name loads again."""
        dataset = self.data.dataset
        is_named = source not in ("file", "hub") or bool(Path(dataset).suffix) or is_hub_name(dataset)
        return not self.program and (source == "memory" or not is_named)

    def load_task(self) -> Task:
        """Load the run's data (see `load_data`)."""
        return load_data(self.data, self.seed if self.split_seed is None else self.split_seed)

    def baseline(self, task: Task) -> Prompt:
        """The prompt that the run starts from: the user's own, otherwise the original prompt of the strategy."""
        prompt = self.prompt or seed_prompt(task, self.strategy, seed=self.seed)
        if self.lm.calibration == "batch":
            prompt = apply_edits(prompt, [CALIBRATE])
        return prompt

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read the settings back from run.json; raises InputError if this version does not know all that they hold."""
        try:
            prompt = data.get("prompt") or None
            return of_flat(cls, {**data, "prompt": prompt and Prompt.from_dict(prompt)}, nested=_NESTED)
        except (InputError, TypeError, AttributeError) as error:
            raise InputError(
                f"the run's settings can't be read: {error}; they are damaged, or of a later version of psopt"
            ) from error

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as run.json and a shared study keep them: side by side, without secrets."""
        settings = flat(self, nested=_NESTED) | {"command": without_password(public_command(self.command))}
        settings["storage"] = self.storage and without_password(self.storage)
        if self.prompt:
            return settings | {"prompt": self.prompt.to_dict()}
        del settings["prompt"], settings["prompt_file"]
        return settings


def load_data(data: DataOptions, seed: int, *, require_labels: bool = True) -> Task:
    """Load the task; `seed` splits samples without a split. Raises DataError if the data can't be used, or are gone."""
    options = asdict(data)
    folder = options.pop("folder")
    for name in ("task_file", "test_file"):
        options[name] = _located(options[name], folder)
    if Path(data.dataset).suffix and not is_hub_name(data.dataset):
        options["dataset"] = _located(data.dataset, folder)
    return load_task(**options, seed=seed, require_labels=require_labels)


def _located(name: str | None, folder: str) -> str | None:
    """A file of the data: where it was when the run was started, or at its name from here."""
    if name is None or not folder or Path(folder) == Path.cwd():
        return name
    for path in (Path(folder) / name, Path(name)):
        if path.exists():
            return str(path)
    raise DataError(f"{name} is neither where the run was started ({folder}), nor here: put it back, or go where it is")
