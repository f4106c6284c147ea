"""What a run was asked to do: enough to start it again."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from psopt.errors import InputError
from psopt.models import can_write
from psopt.models.chat import LMConfig, without_header_values
from psopt.rephrasings import RephrasingOptions, read_families
from psopt.runs._data_options import DataOptions
from psopt.search import MARGIN, GateMode, SearchOptions, check_gate, check_wordings
from psopt.search_spaces import CALIBRATE, Prompt, SearchRestriction, apply_edits, seed_prompt

if TYPE_CHECKING:
    from psopt.tasks import Task

N_HELDOUT = 10
"""How many held-out rephrasings a run has."""
_DATA = tuple(option.name for option in fields(DataOptions))
_SEARCH = ("trials", "rounds", "sampler", "seed")
# run.json of 0.1 has no such keys
_ONLY_WHEN_SET = {"race": "auto"}
_PLANNED = {
    "train_samples": None,
    "test_samples": None,
    "heldout": N_HELDOUT,
    "effort": "full",
    "limited_by": "user",
    "gate": "sure",
    "gate_margin": MARGIN,
    "pinned": (),
    "log": (),
    "heldout_from": (),
    "heldout_from_name": "",
}
_REPHRASING = ("rephraser", "judge", "keep_labels")


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of a run, as `psopt.optimize` and the command line take them; run.json keeps them for `psopt
    resume`.

    Attributes
    ----------
    data : DataOptions
        Where the samples are.
    model : str
        The task model's name.
    strategy : str
        ``simple``, ``detail`` or ``1-shot``: what the seed prompt holds.
    prompt : Prompt or None
        A prompt of the user's own, from which the run starts in place of the strategy's. It is kept whole: nothing
        reads its file again.
    prompt_file : str
        Where `prompt` came from; empty for one that was given in Python.
    rephrasings : int
        Q, the number of search rephrasings, the original among them.
    samples : int
        How many samples of train (to diagnose) and of val (to compare) are used, at most.
    train_samples, test_samples : int or None
        How many of train, where that is another number, and of test; None for as many as of val, and for all.
    heldout : int
        How many held-out rephrasings test is put to.
    rephrasing : RephrasingOptions
        Where rephrasings come from.
    search : SearchOptions
        How to search; its seed is that of everything that is drawn.
    lm : LMConfig
        How language models are asked, and what they may cost.
    proposer : str or None
        A model that drafts edits beside the rules, or ``rules``; None for the model that answers, if it can write.
    leave_one_out : int or None
        How many of the chosen prompt's edits are left out at the end, to tell what they contribute; each takes val x Q
        answers. None: 8 where the model answers at no cost, else 0.
    storage : str or None
        An Optuna storage in place of the run's own SQLite file.
    study_name : str
        The study's name in the storage; empty for the run directory's name.
    program : str or None
        A DSPy program, ``module:attribute``, in place of a prompt; ``python`` for one that was given in Python.
    own_model : bool
        Whether the model was an object of the caller's in Python, which no name loads again.
    command : str
        The command line, for the record.
    effort : str
        By what the sizes were planned: ``light``, ``medium`` or ``heavy``, ``limits`` for those of the user; ``full``
        where nothing was.
    limited_by : str
        Whose `lm.max_calls` is: the ``user``'s, or the ``effort``'s.
    gate : str
        What a prompt must show on test to be recommended: ``sure``, ``likely`` or ``off``; see `psopt.search.gate`.
    gate_margin : float
        By how much its F1 may be lower than the baseline's.
    pinned : tuple of str
        Ids of test samples that it must answer rightly wherever the baseline does.
    log : tuple of str
        The trackers that are told of the run, by name: ``mlflow:EXPERIMENT``, ``otel``.
    heldout_from : tuple of str
        Wordings of another source, under which what is handed back is measured on test too. They are kept whole:
        nothing reads their file again.
    heldout_from_name : str
        Where they came from.
    """

    data: DataOptions
    model: str = "minilm"
    strategy: str = "simple"
    rephrasings: int = 10
    samples: int = 500
    rephrasing: RephrasingOptions = field(default_factory=RephrasingOptions)
    search: SearchOptions = field(default_factory=SearchOptions)
    lm: LMConfig = field(default_factory=LMConfig)
    proposer: str | None = None
    leave_one_out: int | None = None
    storage: str | None = None
    study_name: str = ""
    program: str | None = None
    own_model: bool = False
    command: str = ""
    prompt: Prompt | None = None
    prompt_file: str = ""
    train_samples: int | None = None
    test_samples: int | None = None
    heldout: int = N_HELDOUT
    effort: str = "full"
    limited_by: Literal["user", "effort"] = "user"
    gate: GateMode = "sure"
    gate_margin: float = MARGIN
    pinned: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    heldout_from: tuple[str, ...] = ()
    heldout_from_name: str = ""

    def __post_init__(self) -> None:
        """Refuse two prompts to start from, a race under one wording, and a gate that there is not."""
        check_gate(self.gate, self.gate_margin)
        if self.prompt is not None and self.strategy != "simple":
            raise InputError(f"--strategy {self.strategy} makes a prompt, and --prompt is one: leave one of them out")
        if self.search.parts.no_verbatim and self.strategy == "1-shot":
            raise InputError("--strategy 1-shot shows texts of samples, and --no-verbatim forbids that: leave one out")
        if self.rephrasing.file is None:  # else it says how many there are, and the search looks
            check_wordings(self.search.race, self.rephrasings)

    @property
    def seed(self) -> int:
        """Seeds everything that is drawn; 0 is a seed."""
        return self.search.seed

    @property
    def writer(self) -> str | None:
        """The model that drafts edits beside the rules; None where there is none."""
        if self.proposer is None and can_write(self.model) and not (self.own_model or self.program):
            return self.model
        return None if self.proposer == "rules" else self.proposer

    def load_task(self) -> Task:
        """Load the run's data (see `DataOptions.load`)."""
        return self.data.load(self.seed)

    def baseline(self, task: Task) -> Prompt:
        """The prompt that the run starts from: the user's own, else the seed prompt of the strategy."""
        prompt = self.prompt or seed_prompt(task, self.strategy, seed=self.seed)
        return apply_edits(prompt, [CALIBRATE]) if self.lm.calibration == "batch" else prompt

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunSettings:
        """Read the settings back from run.json, which keeps the options of all groups side by side.

        Raises
        ------
        InputError
            If they hold what this version does not know.
        """
        try:
            rest = {**data}
            file = rest.pop("rephrasings_file", None)
            families = read_families(rest.pop("vary", "paraphrase"))
            parts = SearchRestriction.from_dict(rest.pop("parts", {}))
            lm = LMConfig.from_dict(rest.pop("lm", {}))
            prompt = rest.pop("prompt", None)
            rest |= {name: tuple(rest.get(name, ())) for name in ("pinned", "log", "heldout_from")}
            return cls(
                data=DataOptions.from_dict(_taken(rest, _DATA)),
                rephrasing=RephrasingOptions(
                    file=Path(file) if file else None, families=families, **_taken(rest, _REPHRASING)
                ),
                search=SearchOptions(parts=parts, **_taken(rest, (*_SEARCH, *_ONLY_WHEN_SET))),
                lm=lm,
                prompt=Prompt.from_dict(prompt) if prompt else None,
                **rest,
            )
        except (TypeError, AttributeError) as error:
            raise InputError(
                f"the run's settings can't be read: {error}; they are damaged, or of a later version of psopt"
            ) from error

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as run.json and a shared study keep them, side by side: without the values of headers."""
        grouped = {"data", "rephrasing", "search", "lm", "prompt", "prompt_file", *_PLANNED}
        own_prompt = {"prompt": self.prompt.to_dict(), "prompt_file": self.prompt_file} if self.prompt else {}
        search = self.search
        rephrasing = self.rephrasing
        when_set = {name: getattr(search, name) for name in _ONLY_WHEN_SET}
        return {
            **self.data.to_dict(),
            **{setting.name: getattr(self, setting.name) for setting in fields(self) if setting.name not in grouped},
            **{name: getattr(search, name) for name in _SEARCH},
            **{name: value for name, value in when_set.items() if value != _ONLY_WHEN_SET[name]},
            **{name: getattr(self, name) for name, usual in _PLANNED.items() if getattr(self, name) != usual},
            **{name: getattr(rephrasing, name) for name in _REPHRASING},
            "rephrasings_file": str(rephrasing.file) if rephrasing.file else None,
            "vary": ",".join(rephrasing.families),
            "lm": self.lm.to_dict(),
            "parts": search.parts.to_dict(),
            "command": without_header_values(self.command),
            **own_prompt,
        }


def _taken(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Take the options of these names out of others."""
    return {name: options.pop(name) for name in names if name in options}
