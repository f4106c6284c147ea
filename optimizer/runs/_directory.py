"""The run directory on disk: where each file is, and how files are written completely or not at all."""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from psopt.answers import AnswerType, texts_from_bytes, unpacked
from psopt.errors import InputError
from psopt.evaluation import NA, Predictions, kept_arrays, kind_array
from psopt.search_spaces import render_instructions, render_shown
from psopt.settings import model_names
from psopt.tasks import Sample
from psopt.text import as_path, parse_json, read_text

if TYPE_CHECKING:
    from psopt.evaluation import Split
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
ERROR_LOG = "error.log"
# What reading a damaged npz file raises: found by changing and cutting bytes of one
_UNREADABLE = (OSError, LookupError, ValueError, TypeError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)
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
            raise InputError(f"--out {path} can't be written: {error.strerror}") from error
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
        """Read one of the run's JSON files; raises InputError if it is missing, can't be read, or is damaged.

        What it lacks is reported where it is asked for, also with an InputError.
        """
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
            elif name != TRACKING:
                damage += f"; {self.how_to_write_anew}"
            raise InputError(damage) from error
        return content

    def write_json(self, name: str, data: Any) -> None:
        """Write one of the run's JSON files."""
        self.write_text(name, json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a text file, completely or not at all."""
        # Text from the system that is not Unicode, such as a file name in the command, is escaped.
        self._write(name, text.encode("utf-8", "backslashreplace"))

    def write_prompt(self, prompt: Prompt, measured: Measured) -> None:
        """Write a prompt as prompts/ID.json (for use, with how it was measured) and prompts/ID.txt (for reading)."""
        self.write_json(f"prompts/{prompt.id}.json", {**prompt.to_dict(), "measured": measured.to_dict()})
        self.write_text(f"prompts/{prompt.id}.txt", text_to_read(prompt) + "\n")

    def write_predictions(self, prompt: Prompt, splits: dict[str, Predictions], ending: str = "") -> None:
        """Write predictions/ID.npz: per split the N x Q array and the samples' ids; and the label names.

        With several models, the second's are in ID-2.npz, and so on: `ending` says whose they are.

        If probabilities or a metric's scores are what is scored, they are stored too: ``test_probabilities``
        (N x Q x C) and ``test_merits`` (N x Q).
        If a model or a function decides which open answers are the same, ``test_same`` (N x Q) numbers them.
        Open answers are indices into the texts in ``answers`` (JSON in UTF-8, as bytes), with N/A after the last.
        If some answers name no label, SPLIT_na_kinds is the N x Q array of their kinds, empty for the others.
        """
        arrays: dict[str, Any] = {"labels": np.array([*prompt.labels, NA]), **kept_arrays(splits)}
        for split, predictions in splits.items():
            if predictions.probabilities is not None:
                arrays[f"{split}_probabilities"] = predictions.probabilities
            if predictions.metric_scores is not None:
                arrays[f"{split}_merits"] = predictions.metric_scores
            if predictions.same is not None:
                arrays[f"{split}_same"] = predictions.same.astype(np.int16)
            if predictions.no_labels:
                arrays[f"{split}_na_kinds"] = kind_array(predictions)
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)
        self._write(f"predictions/{prompt.id}{ending}.npz", content.getvalue())

    def _write(self, name: str, data: bytes) -> None:
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


def read_predictions(directory: RunDirectory, prompt_id: str, split: Split) -> Predictions:
    """Return all answers of a run's models, on val under the search rephrasings or on test under the held-out ones.

    Raises InputError if the run has not kept them, or a file is damaged.
    """
    run = directory.read_json(MANIFEST)
    first, *further = model_names(run["model"])
    own = _of_one_model(directory, f"{prompt_id}.npz", split)
    if not further:
        return own
    others = (
        replace(_of_one_model(directory, f"{prompt_id}-{place}.npz", split), model=name)
        for place, name in enumerate(further, 2)
    )
    return replace(own, model=first, others=tuple(others), over=run["settings"]["over"])


def _of_one_model(directory: RunDirectory, file: str, split: Split) -> Predictions:
    path = directory.path / "predictions" / file
    try:
        samples = directory.read_json(SAMPLES)
        labels = tuple(samples["labels"])
        with np.load(path, allow_pickle=False) as arrays:
            answers = arrays[split].astype(np.int64)
            if "answers" in arrays:
                answers = unpacked(answers, texts_from_bytes(arrays["answers"]), len(labels))
            ids = arrays[f"{split}_ids"].tolist()
            same = arrays.get(f"{split}_same")
            probabilities, merits = arrays.get(f"{split}_probabilities"), arrays.get(f"{split}_merits")
        by_id = {sample["id"]: Sample(**sample) for sample in samples[split]}
        answered = tuple(by_id[name] for name in ids)
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(
            f"{path} can't be read, or holds no answers on {split}: {directory.how_to_write_anew}"
        ) from error
    if same is not None:
        same = same.astype(np.int64)
    answer_type = AnswerType.from_dict(samples.get("answers"))
    return Predictions(answers, answered, labels, probabilities, metric_scores=merits, answers=answer_type, same=same)


def text_to_read(prompt: Prompt) -> str:
    """A prompt for people to read; a user's template as its messages, with a ``+`` before each added line."""
    return render_shown(prompt, marked=True) if prompt.template else render_instructions(prompt)


def free_folder(parent: Path, name: str) -> Path:
    """Return parent/name, or parent/name-2, -3, .. if that is taken; no name leads out of parent.

    >>> free_folder(Path("runs"), "../../x y-minilm").as_posix()
    'runs/x-y-minilm'
    """
    name = re.sub(r"[^\w.=,+-]+", "-", name).strip(".-") or "run"
    folder = parent / name
    number = 2
    while folder.exists():
        folder = parent / f"{name}-{number}"
        number += 1
    return folder
