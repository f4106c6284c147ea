"""The run directory on disk: where each file is, and how files are written completely or not at all."""

from __future__ import annotations

import json
import os
import re
import tempfile
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from psopt.errors import InputError
from psopt.search_spaces import render_instructions, render_shown
from psopt.text import as_path, parse_json, read_text

if TYPE_CHECKING:
    from psopt.runs._measured import Measured
    from psopt.search_spaces import Prompt


MANIFEST = "run.json"
SPENT = "spent.json"
FRONT = "front.json"
REPORT = "report.html"
STUDY = "study.db"
REPHRASINGS = "rephrasings.json"
PROPOSALS = "proposals.json"
WEAK_SPOTS = "weak_spots.json"
SAMPLES = "samples.json"
SUSPECTS = "suspect_labels.json"
TRIALS = "trials.json"
CONTRIBUTIONS = "contributions.json"
TRACKING = "tracking.json"
PROGRAM = "program.json"  # what a DSPy program was, where one was optimized
ERROR_LOG = "error.log"
TEMPORARY = ".psopt-"  # what the names of unfinished files begin with


def json_object(file: Path) -> dict[str, Any]:
    """The object that a JSON file holds; empty if it holds none or can't be read."""
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def cache_of(run: Path | None, cache_dir: str | Path | None) -> str | Path | None:
    """The cache folder to use: what is named now, otherwise that of the run, if there is a run and it is still there.

    With another folder, answers that were paid for would be asked again.
    """
    if cache_dir or run is None:
        return cache_dir
    of_run = json_object(run / MANIFEST).get("settings", {}).get("cache_dir")
    return of_run if of_run and Path(of_run).is_dir() else None


class _MissingFieldError(InputError, KeyError):
    """A run's file lacks what psopt writes: for code that can do without it, a KeyError as of any mapping."""

    __str__ = Exception.__str__  # a KeyError's is the repr


class _FileContent(dict[str, Any]):
    """An object in one of a run's files, which says whose field is missing."""

    file: Path | str = "the file"  # no argument: `dataclasses.asdict` makes copies of a dict without any

    def __missing__(self, name: str) -> NoReturn:
        missing = f"it lacks {json.dumps(name)}"
        raise _MissingFieldError(f"{self.file} is damaged, or of a later version of psopt: {missing}")


class RunDirectory:
    """A folder that holds one run. Files appear completely or not at all: they are written next to their place."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def make(cls, path: Path) -> RunDirectory:
        """Create the folder, or use an existing one; raises InputError if it can't be written, or is a file."""
        if path.exists() and not path.is_dir():
            raise InputError(f"--out {path} is a file: name a folder")
        try:
            path.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=path).close()
        except OSError as error:
            raise InputError(f"the run directory {path} can't be written: {error.strerror}") from error
        return cls(path)

    @classmethod
    def open(cls, path: str | Path) -> RunDirectory:
        """Open a run made earlier; raises InputError if there is none."""
        path = as_path(path, "a run")
        if (path / MANIFEST).is_file():
            return cls(path)
        missing = f"{path} is no run directory: it has no {MANIFEST}"
        if (path / STUDY).exists():
            missing += "; a run that broke off there can be started again with its command"
        raise InputError(missing)

    @property
    def has_begun(self) -> bool:
        """Whether there is a run that can be resumed."""
        return (self.path / MANIFEST).exists()

    @property
    def storage_url(self) -> str:
        """The Optuna storage of this run."""
        file = str(self.path / STUDY)
        if not {"%", "?"} & set(file):
            return f"sqlite:///{file}"
        from sqlalchemy import URL  # whose versions differ in what they escape

        return URL.create("sqlite", database=file).render_as_string()

    @property
    def how_to_write_anew(self) -> str:
        """How to fix a file that is written at a run's end."""
        return f"write it anew with `psopt resume {self.path}`, which asks for no answer twice"

    def read_json(self, name: str) -> dict[str, Any]:
        """Read one of the run's JSON files; InputError if it is missing or damaged, or where a field is missing."""
        file = self.path / name
        if name != MANIFEST and not file.is_file():
            raise InputError(f"{self.path} has no {name}: {self.how_to_write_anew}")
        text = read_text(file)

        def named(content: dict[str, Any]) -> _FileContent:
            content = _FileContent(content)
            content.file = file
            return content

        try:
            content = parse_json(text, "it", object_hook=named)
            if not isinstance(content, dict):
                raise InputError("it is no JSON object")
        except InputError as error:
            damage = f"{file} is damaged: {error}"
            if name == MANIFEST:  # trials and answers are stored elsewhere, so it can be written again
                damage += "; put it back, or delete it and resume with its `psopt optimize` command and --resume"
            elif name == REPHRASINGS:  # which a run that is resumed reads
                damage += f"; put it back, or delete it and {self.how_to_write_anew}"
            elif name != TRACKING:
                damage += f"; {self.how_to_write_anew}"
            raise InputError(damage) from error
        return content

    def write_json(self, name: str, data: Any) -> None:
        self.write_text(name, json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a text file, completely or not at all."""
        # Text from the system that is not Unicode, such as a file name in the command, is escaped.
        self.write_bytes(name, text.encode("utf-8", "backslashreplace"))

    def write_prompt(self, prompt: Prompt, measured: Measured) -> None:
        """Write a prompt as prompts/ID.json (for use, with how it was measured) and prompts/ID.txt (for reading)."""
        self.write_json(f"prompts/{prompt.id}.json", {**prompt.to_dict(), "measured": measured.to_dict()})
        self.write_text(f"prompts/{prompt.id}.txt", text_to_read(prompt) + "\n")

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write any file, completely or not at all."""
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix=TEMPORARY, delete=False) as file:
                temporary = Path(file.name)
                try:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    temporary.unlink()
                    raise
            temporary.chmod(0o644)
            temporary.replace(target)
        except OSError as error:
            raise InputError(f"{target} can't be written: {error.strerror or error}") from error


def text_to_read(prompt: Prompt) -> str:
    """A prompt for people to read; a user's template as its messages, with a ``+`` before each added line."""
    return render_shown(prompt, marked=True) if prompt.template else render_instructions(prompt)


def free_folder(parent: Path, name: str) -> Path:
    """Return parent/name, or parent/name-2, -3, .. if that is taken; no name leads out of parent.

    >>> free_folder(Path("runs"), "../../x y-minilm").as_posix()
    'runs/x-y-minilm'
    """
    name = re.sub(r"[^\w.=,+-]+", "-", name).strip(".-") or "run"
    numbered = (parent / f"{name}-{number}" for number in count(2))
    return next(folder for folder in chain([parent / name], numbered) if not folder.exists())
