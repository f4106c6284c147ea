"""What a run was asked to do: enough to start it again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from psopt.errors import InputError
from psopt.models.chat import LMConfig, without_header_values
from psopt.search_spaces import SearchRestriction


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of a run, as `psopt.optimize` and the command line take them; run.json keeps them for `psopt
    resume`.

    Attributes
    ----------
    dataset : str
        What `psopt.load_task` is given; with the columns and files below.
    model : str
        The task model's name.
    strategy : str
        ``simple``, ``detail`` or ``1-shot``: what the seed prompt holds.
    seed : int
        Seeds everything that is drawn; 0 is a seed.
    trials : int
        Evaluated prompts in total.
    rounds : int
        How many times to diagnose and propose.
    rephrasings : int
        Q, the number of search rephrasings, the original among them.
    samples : int
        How many samples of train (to diagnose) and of val (to compare) are used, at most. Test is used whole.
    sampler : str
        ``tpe``, ``nsga2``, ``gp`` or ``random``.
    storage : str or None
        An Optuna storage in place of the run's own SQLite file.
    study_name : str
        The study's name in the storage; empty for the run directory's name.
    rephraser, judge, proposer : str or None
        Models that write rephrasings, judge them, and propose edits; None for rules.
    rephrasings_file : str or None
        A rephrasings.json, in place of a rephraser.
    keep_labels : bool
        Refuse rephrasings that drop a label which the description enumerates.
    vary : str
        Families of rephrasings, with commas between, mixed in equal parts.
    lm : LMConfig
        How language models are asked, and what they may cost.
    parts : SearchRestriction
        Which views and kinds of edits the search may use, and the margin of its constraint.
    leave_one_out : int or None
        How many of the chosen prompt's edits are left out at the end, to tell what they contribute; each takes val x Q
        answers. None: 8 where the model answers at no cost, else 0.
    program : str or None
        A DSPy program, ``module:attribute``, in place of a prompt; ``python`` for one that was given in Python.
    own_model : bool
        Whether the model was an object of the caller's in Python, which no name loads again.
    command : str
        The command line, for the record.
    folder : str
        Where it was given: names of files are relative to it. Empty where that is not known.
    """

    dataset: str
    model: str = "minilm"
    strategy: str = "simple"
    seed: int = 42
    trials: int = 40
    rounds: int = 3
    rephrasings: int = 10
    samples: int = 500
    sampler: str = "tpe"
    storage: str | None = None
    study_name: str = ""
    text_column: str | None = None
    label_column: str | None = None
    task_file: str | None = None
    test_file: str | None = None
    strict_data: bool = False
    rephraser: str | None = None
    judge: str | None = None
    rephrasings_file: str | None = None
    keep_labels: bool = True
    vary: str = "paraphrase"
    proposer: str | None = None
    lm: LMConfig = field(default_factory=LMConfig)
    parts: SearchRestriction = field(default_factory=SearchRestriction)
    leave_one_out: int | None = None
    program: str | None = None
    own_model: bool = False
    command: str = ""
    folder: str = ""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunSettings:
        """Read the settings back from run.json.

        Raises
        ------
        InputError
            If they hold what this version does not know.
        """
        try:
            parts = SearchRestriction.from_dict(data.get("parts", {}))
            return cls(**{**data, "lm": LMConfig.from_dict(data.get("lm", {})), "parts": parts})
        except (TypeError, AttributeError) as error:
            raise InputError(
                f"the run's settings can't be read: {error}; they are damaged, or of a later version of psopt"
            ) from error

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as run.json and a shared study keep them: without the values of headers."""
        data = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        lm, parts = self.lm.to_dict(), asdict(self.parts)
        return {**data, "lm": lm, "parts": parts, "command": without_header_values(self.command)}

    def located(self, name: str | None) -> str | None:
        """A file of the run: where it was when the run was started, or as it is named here."""
        if name is None or not self.folder or Path(self.folder) == Path.cwd():
            return name
        there = Path(self.folder) / name
        return str(there) if there.is_file() else name
