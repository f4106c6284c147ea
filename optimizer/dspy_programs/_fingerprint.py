"""What determines a program's answers: the keys of stored answers, and whether a run is of the same program."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pydantic
from psopt._version import __version__
from psopt.dspy_programs._contents import digest
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._lm import lm_of, place_of
from psopt.dspy_programs._outcome import as_text
from psopt.models import answer_key
from psopt.models.chat import public_settings
from psopt.runs import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What determines a program's answer to a text."""

    state: str  # instructions, fields and demonstrations of every step
    # The language models: their names, their settings without secrets, and their servers or engines. DSPy's own key
    # leaves the server out, so two servers with the same model name would share answers.
    lm: list[str]
    adapter: str  # turns a step into messages: its class and settings

    @classmethod
    def of(cls, program: Any) -> Fingerprint:
        """Take the fingerprint of a program under DSPy's current settings."""
        of_steps = [predictor.lm for _, predictor in program.named_predictors() if predictor.lm is not None]
        lms: list[str] = []
        for lm in {id(lm): lm for lm in (lm_of(program), *of_steps)}.values():
            lms += [lm.model, str(sorted(public_settings(lm.kwargs).items())), *place_of(lm)]
        state = json.dumps(as_json_data(program.dump_state()), sort_keys=True)
        return cls(state, lms, digest(dspy.settings.adapter))

    def key(self, text: str, kind: str = "outcome") -> bytes:
        """The key of the program's answer to a text, or of another `kind` of record about it."""
        return answer_key(kind=kind, state=self.state, text=text, lm=self.lm, adapter=self.adapter)


def as_json_data(value: Any) -> Any:
    """A value as JSON data: pydantic objects by their fields, other objects as text."""
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: Any) -> Any:
    if isinstance(value, pydantic.BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    if isinstance(value, np.generic):
        return value.item()
    return as_text(value)


IDENTITY = "program.json"
"""The file in a run directory that describes the program."""
_ANSWERS = ("answers.db", "answers.db-wal", "answers.db-shm")  # their keys hold everything that determines them


def identity(program: Any, facts: Mapping[str, Any]) -> dict[str, str]:
    """What determines a run's figures, each as a digest or in words; `facts` are those besides the program."""
    return {
        "the program's code and attributes": digest(program),
        "its instructions, fields and demonstrations": digest(as_json_data(program.dump_state())),
        "psopt's version": __version__,
        "DSPy's version": dspy.__version__,
        **{name: str(value) for name, value in facts.items()},
    }


def make_room(folder: Path, now: Mapping[str, str]) -> str:
    """Move a run of something else aside, but for valid answers; return what differs, nothing for the same run."""
    if not (folder / MANIFEST).exists():
        return ""
    try:
        before = json.loads((folder / IDENTITY).read_text("utf-8"))
    except (OSError, ValueError):
        before = {}
    changed = [name for name, value in now.items() if before.get(name) != value]
    if not changed:
        return ""
    asides = (folder.with_name(f"{folder.name}-earlier-{number}") for number in itertools.count(1))
    target = next(aside for aside in asides if not aside.exists())
    target.mkdir()
    outdated_files = [file for file in folder.iterdir() if file.name not in _ANSWERS]
    # run.json last: until then the folder belongs to the old run
    for file in sorted(outdated_files, key=lambda file: file.name == MANIFEST):
        shutil.move(file, target / file.name)
    if not before:
        changed = ["what the program was"]
    differs = f"{folder} was of a run that differs in {', '.join(changed)}"
    return f"{differs}: it is evaluated anew, and the earlier run is in {target}"
