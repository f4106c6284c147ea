"""What determines a program's answers: the keys of stored answers, and whether a run is of the same program."""

from __future__ import annotations

import itertools
import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pydantic
from psopt.dspy_programs._contents import digest, digest_of_program, step_state
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._lm import lm_of, place_of
from psopt.dspy_programs._outcome import as_text
from psopt.errors import InputError
from psopt.models import CACHE_FILES
from psopt.models.chat import public_settings
from psopt.runs import MANIFEST, PROGRAM

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def fingerprint(program: Any) -> dict[str, Any]:
    """What determines a program's answer to a text, under DSPy's current settings.

    ``state`` holds the instructions, fields and demonstrations of every step. ``lm`` holds the language models: their
    names, their settings without secrets, and their servers or engines. DSPy's own key leaves the server out, so two
    servers with the same model name would share answers. The ``adapter`` turns a step into messages.
    """
    of_steps = [predictor.lm for _, predictor in program.named_predictors() if predictor.lm is not None]
    lms: list[str] = []
    for lm in {id(lm): lm for lm in (lm_of(program), *of_steps)}.values():
        lms += [lm.model, str(sorted(public_settings(lm.kwargs).items())), *place_of(lm)]
    return {"state": _state(program), "lm": lms, "adapter": digest(dspy.settings.adapter)}


def _state(program: Any) -> str:
    """Instructions, fields and demonstrations of every step, as JSON."""
    state = {name: step_state(step) for name, step in program.named_parameters()}
    return json.dumps(as_json_data(state), sort_keys=True)


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


def identity(program: Any, facts: Mapping[str, Any]) -> dict[str, str]:
    """What determines a run's figures, each as a digest or in words; `facts` are those besides the program."""
    return {
        "the program's code and attributes": digest_of_program(program),
        "its instructions, fields and demonstrations": digest(_state(program)),
        "DSPy's version": dspy.__version__,
        **{name: str(value) for name, value in facts.items()},
    }


def make_room(folder: Path, now: Mapping[str, str]) -> str:
    """Move a run of something else aside, but for valid answers; return what differs, nothing for the same run."""
    before, changed = _compared(folder, now)
    if not changed or not (folder / MANIFEST).exists():
        return ""
    asides = (folder.with_name(f"{folder.name}-earlier-{number}") for number in itertools.count(1))
    target = next(aside for aside in asides if not aside.exists())
    target.mkdir()
    # Answers stay: their keys hold everything that determines them.
    outdated_files = [file for file in folder.iterdir() if file.name not in CACHE_FILES]
    # run.json last: until then the folder belongs to the old run
    for file in sorted(outdated_files, key=lambda file: file.name == MANIFEST):
        shutil.move(file, target / file.name)
    if not before:
        changed = ["what the program was"]
    differs = f"{folder} was of a run that differs in {', '.join(changed)}"
    return f"{differs}: it is evaluated anew, and the earlier run is in {target}"


def check_same_program(folder: Path, now: Mapping[str, str]) -> None:
    """Refuse to resume a run of another program; raises InputError, naming what differs."""
    before, changed = _compared(folder, now)
    if before and changed:  # a run of an earlier version does not say what its program was
        raise InputError(
            f"{folder} cannot be resumed, since this has changed: {', '.join(changed)}; start a new run, or accept it "
            "with --force"
        )


def _compared(folder: Path, now: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """What the program of a run was, and the names of what has changed; nothing and all names if it is not known."""
    try:
        before = json.loads((folder / PROGRAM).read_text("utf-8"))
    except (OSError, ValueError):
        before = {}
    return before, [name for name, value in now.items() if before.get(name) != value]
