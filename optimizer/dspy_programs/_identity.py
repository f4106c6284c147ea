"""What a run of a program was about: a log_dir is gone on with only where all of it is the same."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import shutil
from typing import TYPE_CHECKING, Any

from psopt._version import __version__
from psopt.dspy_programs._dspy import dspy
from psopt.runs import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

IDENTITY = "program.json"
"""The file of a run directory that says what the program was."""
_ANSWERS = ("answers.db", "answers.db-wal", "answers.db-shm")  # their keys hold all that decides them


def code_of(program: Any) -> str:
    """A digest of a program's own code: what each of its modules does with what its steps answer."""
    kinds = {type(module): None for _, module in program.named_sub_modules()} | {type(program): None}
    own = [kind for kind in kinds if not kind.__module__.startswith("dspy.")]
    return _digest([f"{kind.__qualname__}\n{_source(kind)}" for kind in own])


def function_identity(function: Callable[..., Any] | None) -> str:
    """A digest of a function, its defaults, and what it closes over; empty for none.

    What it calls by a global name is not in it.
    """
    if function is None:
        return ""
    inner = inspect.unwrap(getattr(function, "__func__", function))
    if not inspect.isfunction(inner):  # an object with __call__
        return _digest([_source(type(function)), _shown(vars(function) if hasattr(function, "__dict__") else {})])
    cells = [cell.cell_contents for cell in inner.__closure__ or () if _is_filled(cell)]
    owner = getattr(function, "__self__", None)
    parts = [_source(inner), _shown(inner.__defaults__), _shown(inner.__kwdefaults__)]
    parts += [function_identity(cell) if inspect.isfunction(cell) else _shown(cell) for cell in cells]
    return _digest([*parts, _shown(vars(owner)) if hasattr(owner, "__dict__") else ""])


def identity(program: Any, facts: Mapping[str, Any]) -> dict[str, str]:
    """What decides a run's figures, each as a digest or in words; `facts` are what is told beside the program."""
    return {
        "the program's code": code_of(program),
        "its instructions, fields and demonstrations": _digest([json.dumps(program.dump_state(), default=str)]),
        "psopt's version": __version__,
        "DSPy's version": dspy.__version__,
        **{name: str(value) for name, value in facts.items()},
    }


def make_room(folder: Path, now: Mapping[str, str]) -> str:
    """Put a run that was about something else aside; answers that still hold are kept. Say what has changed.

    Returns
    -------
    said : str
        Empty where there is no run, or the same one.
    """
    if not (folder / MANIFEST).exists():
        return ""
    try:
        before = json.loads((folder / IDENTITY).read_text("utf-8"))
    except (OSError, ValueError):
        before = {}
    changed = [name for name, value in now.items() if before.get(name) != value]
    if not changed:
        return ""
    target = next(aside for aside in _asides(folder) if not aside.exists())
    target.mkdir()
    found = (file for file in folder.iterdir() if file.name not in _ANSWERS)
    moved = sorted(found, key=lambda file: file.name == MANIFEST)
    for file in moved:  # run.json last: until then the folder is that run's
        shutil.move(file, target / file.name)
    what = ", ".join(changed) if before else "what the program was"
    return f"{folder} was of a run that differs in {what}: it is evaluated anew, and the earlier run is in {target}"


def write_identity(folder: Path, now: Mapping[str, str]) -> None:
    """Write down what a run is about."""
    (folder / IDENTITY).write_text(json.dumps(now, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _asides(folder: Path) -> Iterator[Path]:
    """Where runs are put aside: folders beside it, numbered."""
    return (folder.with_name(f"{folder.name}-earlier-{number}") for number in itertools.count(1))


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _source(thing: Any) -> str:
    """The source of a class or a function; typed into a console it has none, and its compiled code stands for it."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        pass
    code = getattr(thing, "__code__", None)
    if code is not None:
        return repr((code.co_code, code.co_consts, code.co_names))
    methods = [value for value in vars(thing).values() if inspect.isfunction(value)] if inspect.isclass(thing) else []
    return "\n".join(_source(method) for method in methods) or repr(getattr(thing, "__qualname__", thing))


def _shown(value: Any) -> str:
    """A value as text that says the same in every process: an object by its type and what it holds."""
    if callable(value) and hasattr(value, "__qualname__"):
        return function_identity(value) if inspect.isfunction(value) else str(value.__qualname__)
    return json.dumps(value, sort_keys=True, default=_described)


def _described(value: Any) -> str:
    state = vars(value) if hasattr(value, "__dict__") else {}
    names = {name: part for name, part in state.items() if isinstance(part, (str, int, float, bool, type(None)))}
    return f"{type(value).__qualname__} {sorted(names.items())}"


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # an empty cell raises
    except ValueError:
        return False
    return True
