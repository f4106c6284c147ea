"""What a run has found, as the Python API returns it; read from its directory, finished or not."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import optuna
from psopt.errors import InputError, import_extra
from psopt.evaluation import OBJECTIVES, measure_names, scores_from_dict
from psopt.notebooks import card, folded, line, table
from psopt.runs._call_price import CallPrice
from psopt.runs._directory import FRONT, MANIFEST, STUDY, TRIALS, RunDirectory, json_object
from psopt.runs._front_file import front_entry, named, pick_entry, prompt_names, scores_of
from psopt.runs._holding import study_name
from psopt.runs._recommendation import Recommendation, best_found, recommendation_lines
from psopt.runs._settings import RunSettings
from psopt.runs._written_prompt import read_baseline
from psopt.search import Candidate, candidates_in, knee, pareto_front, read_study
from psopt.search.gating import Verdict
from psopt.search_spaces import Edit, Prompt
from psopt.text import read_data

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    import pandas as pd
    import plotly.graph_objects as go
    from optuna.trial import FrozenTrial
    from psopt.search.distributed import StoredStudy


_MEASURES = ("f1", "macro_f1", "sensitivity", "consistency", "na_rate")  # the same as in the report
# A trial's attributes if its prompt was not evaluated, is infeasible, or always gets one answer.
_NOTES = ("dropped", "failed", "infeasible", "constant")


@dataclass(frozen=True, eq=False)
class Run:
    """What an optimization found.

    Attributes
    ----------
    path : Path
        The run directory.
    baseline : Candidate
        The original prompt, scored on val and test.
    front : tuple of Candidate
        The Pareto front by descending F1 on val, scored on val and test; `test` is None if a limit did not allow it.
    short : Candidate
        The prompt with the fewest edits that is no worse than the knee by more than one standard error on val; it may
        be the knee itself, and need not be on the front.
    study : optuna.Study
    finish_reason : str
        ``trials`` (the total was reached), ``exhausted`` (nothing new to try), ``stopped`` (by a callback) or
        ``budget`` (a limit was reached); of a run that was loaded also ``running``, ``interrupted`` or ``failed``.
    recommendation : Recommendation or None
        What the gate has decided, and the test behind it; None if the run was put together without it.
    draw : callable or None
        What draws `figure`; None if the run was put together without it.
    """

    path: Path
    baseline: Candidate
    front: tuple[Candidate, ...]
    short: Candidate
    study: optuna.Study
    finish_reason: str
    recommendation: Recommendation | None = None
    draw: Callable[[Run], go.Figure] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Run:
        """A run never changes, so copies of what holds it share it."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Without the study, which belongs to this process: what needs it says that `psopt.load_run` opens it again."""
        return {**vars(self), "study": None}

    def __repr__(self) -> str:
        """Its folder and its recommendation: all its findings would fill screens."""
        recommended = self.recommended.id
        if recommended == self.baseline.id:
            recommended = "the original prompt"
        return f"<Run {str(self.path)!r}: {len(self.front)} prompts on the front, recommended {recommended}>"

    def _repr_html_(self) -> str:
        """The recommendation, the front with its scores, and the recommended prompt, as notebooks show them."""
        quality, prompt = self.baseline.val.quality_name, self.recommended.prompt
        verdict = []
        if self.recommendation:
            verdict = recommendation_lines(self.recommendation.to_dict(), quality)
        listed = (self.baseline, *self.front, self.short, self.recommended)  # as run.json names them
        each_once = {candidate.id: candidate for candidate in listed}
        names = prompt_names({"baseline": {"id": self.baseline.id}, "front": [{"id": name} for name in each_once]})
        measures = list(product(("val", "test"), measure_names(quality).items()))
        rows = []
        for candidate in each_once.values():
            row = _candidate_row(candidate, self._role(candidate))
            scores = [row[f"{split}_{measure}"] for split, (measure, _) in measures]
            in_percent = [None if score is None else 100 * score for score in scores]
            rows.append((names[candidate.id], row["id"], row["role"], row["n_edits"], row["tokens"], *in_percent))
        titles = [f"{split} {name}" for split, (_, name) in measures]
        return card(
            repr(self)[1:-1],
            *(line(named(sentence, names)) for sentence in verdict),
            line("Measures in percent:"),
            table(("prompt", "id", "", "edits", "tokens", *titles), rows, digits=1),
            folded(f"the recommended prompt, {prompt.id}", prompt._repr_html_()),
        )

    def figure(self) -> go.Figure:
        """Return a plotly figure of every prompt that was evaluated completely: F1 against S on val, C as colour."""
        if self.draw is None:
            raise InputError("this run was put together without what draws it: psopt.load_run(run.path).figure()")
        return self.draw(self)

    def evaluated_trials(self) -> list[dict[str, Any]]:
        """Return the study's candidates that were evaluated completely, as trials.json lists them."""
        names = ("trial", "id", "edits", *OBJECTIVES, "feasible")
        whole = (row for row in self._trial_rows() if row["state"] == "complete" and not row["raced"])
        return [{name: row[name] for name in names} for row in whole]

    def to_frame(self, *, seed_prompt: bool = False) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per prompt of the front, by descending F1 on val, and the recommended.

        Columns are ``id``; ``role`` (``original prompt``, ``knee``, ``short``, ``recommended``); ``trial``;
        ``edits``, as people read them, and ``n_edits``; ``tokens``, about how many the prompt has without the text; and
        for val and test ``f1``, ``macro_f1``, ``sensitivity``, ``consistency`` and ``na_rate``, each in [0, 1] and with
        its interval: ``test_f1``, ``test_f1_low``, ``test_f1_high``. What was not measured is missing.

        Parameters
        ----------
        seed_prompt : bool
            Put the original prompt first, if it is not on the front.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        listed = [*self.front]
        if self.recommended.id not in {self.baseline.id, *(candidate.id for candidate in listed)}:
            listed.append(self.recommended)
        if seed_prompt and self.baseline.id not in {candidate.id for candidate in listed}:
            listed.insert(0, self.baseline)
        pandas = import_extra("pandas", "run.to_frame()", "pandas")
        return pandas.DataFrame([_candidate_row(candidate, self._role(candidate)) for candidate in listed])

    def trials_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per trial of the study.

        Columns are ``trial``, ``state`` (``complete``, ``pruned`` if its prompt was not evaluated, ``fail``,
        ``running``, ``waiting``), ``id``; ``f1``, ``sensitivity`` and ``consistency`` on val; ``na_rate``; ``feasible``
        and ``on_front``; ``edits`` and ``n_edits``; ``raced``, how far it got if it stopped in its race (its values are
        then estimates); ``note``; ``calls``, ``tokens``, ``cost_usd`` and ``seconds`` that it took; and ``started``.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return import_extra("pandas", "run.trials_frame()", "pandas").DataFrame(self._trial_rows())

    def _trial_rows(self) -> list[dict[str, Any]]:
        if vars(self)["study"] is None:
            raise InputError(f"this copy of a run has no trials: psopt.load_run({str(self.path)!r}) has them")
        on_front = {candidate.id for candidate in self.front}
        names = self.study.metric_names or ()
        rows = [_trial_row(trial, names, on_front) for trial in self.study.get_trials(deepcopy=False)]
        # The values of a trial that stopped in its race stay estimates, even if its prompt was evaluated afterwards.
        whole = {trial["trial"]: trial for trial in json_object(self.path / TRIALS).get("trials", ())}
        for row in rows:
            if row["raced"] is not None and row["trial"] in whole:
                row |= {"na_rate": None, **whole[row["trial"]], "raced": None}
        return rows

    def _role(self, candidate: Candidate) -> str:
        roles = {
            "original prompt": self.baseline.id,
            "knee": self.pick("knee").id,
            "short": self.short.id,
            "recommended": self.recommended.id,
        }
        return ", ".join(role for role, prompt_id in roles.items() if prompt_id == candidate.id)

    @property
    def recommended(self) -> Candidate:
        """The prompt to use: one that has passed the gate, otherwise the baseline; the knee if there was no gate."""
        return self.recommendation.prompt if self.recommendation else self.pick("knee")

    @property
    def shown(self) -> Candidate:
        """The prompt to look at: the recommended one, or the best found where that is the original prompt."""
        if not self.recommendation or self.recommended.id != self.baseline.id:
            return self.recommended
        return self.pick(best_found(self.recommendation.to_dict()["tests"], self.pick("knee").id))

    def pick(self, which: str = "recommended") -> Candidate:
        """Pick ``recommended``, ``knee``, ``short``, ``original``, the best by a measure, one by its id, or by a query.

        Measures are ``f1``, ``sensitivity`` and ``consistency``; a query is, for example, ``max F1 with S <= .05``.
        """
        if which == "recommended":
            return self.recommended
        knee_id = knee(self.front, self.baseline).id
        beside = {"original": self.baseline, "short": self.short}
        if self.recommendation:  # which may not be on the front
            beside["recommended"] = self.recommendation.prompt
        by_id = {candidate.id: candidate for candidate in (*beside.values(), *self.front)}
        front = [front_entry(candidate, knee_id) for candidate in self.front]
        entries = {name: front_entry(candidate, knee_id) for name, candidate in beside.items()}
        return by_id[pick_entry(front, which, **entries)["id"]]


def _candidate_row(candidate: Candidate, role: str) -> dict[str, Any]:
    """One prompt: what it adds, how long it is, and its scores on val and test with their intervals."""
    row: dict[str, Any] = {
        "id": candidate.id,
        "role": role,
        "trial": candidate.trial,
        "n_edits": len(candidate.edits),
        "edits": [str(edit) for edit in candidate.edits],
        "tokens": candidate.length["tokens"],
    }
    for split, scores in scores_of(candidate).items():
        row |= {f"{split}_{name}": value for name, value in scores_and_bounds(scores).items()}
    return row


def _trial_row(trial: FrozenTrial, metric_names: Collection[str], front: Collection[str]) -> dict[str, Any]:
    """One trial: its values on val, or what its race has estimated, and what it took."""
    attributes = trial.user_attrs
    is_complete = trial.state == optuna.trial.TrialState.COMPLETE
    values = dict(zip(metric_names, trial.values, strict=True)) if trial.values else {}
    edits = attributes.get("edits")
    return {
        "trial": trial.number,
        "state": trial.state.name.lower(),
        "id": attributes.get("prompt_id"),
        **{name: values.get(name) for name in OBJECTIVES},
        "na_rate": attributes.get("na_rate"),
        "feasible": "infeasible" not in attributes if is_complete and "raced" not in attributes else None,
        "on_front": attributes.get("prompt_id") in front and is_complete,
        "n_edits": None if edits is None else len(edits),
        "edits": edits,
        "raced": attributes.get("raced"),
        "note": next((attributes[name] for name in _NOTES if name in attributes), None),
        **{name: attributes.get(name) for name in ("calls", "tokens", "cost_usd", "seconds")},
        "started": trial.datetime_start,
    }


def scores_and_bounds(scores: Mapping[str, Any] | None) -> dict[str, float | None]:
    """The measures that run.json has, each with its interval: ``f1``, ``f1_low``, ``f1_high``; None where unknown."""
    scores = scores or {}
    values: dict[str, float | None] = {}
    for measure in _MEASURES:
        low, high = scores.get("ci", {}).get(measure, (None, None))
        values |= {measure: scores.get(measure), f"{measure}_low": low, f"{measure}_high": high}
    return values


def read_run(path: str | Path, storage: str | None = None) -> Run:
    """Do what `psopt.load_run` documents, except that the run can't be drawn yet."""
    directory = RunDirectory.open(path)
    manifest = directory.read_json(MANIFEST)
    with _damage_named(directory.path / MANIFEST):
        settings = RunSettings.from_dict(manifest["settings"])
        study = _study_of(directory, settings, storage)
        if manifest.get("baseline") and manifest.get("front"):
            return _from_files(directory, manifest, study)
        return _from_study(directory, manifest, settings, study)


def _from_files(directory: RunDirectory, manifest: Mapping[str, Any], study: StoredStudy) -> Run:
    file = directory.read_json(FRONT)
    with _damage_named(directory.path / FRONT):
        front = tuple(map(_candidate, file["prompts"]))
        beside = [_candidate(entry) for entry in (file["short"], file["recommended"]) if entry]
    baseline = _candidate(manifest["baseline"], read_baseline(directory))
    by_id = {candidate.id: candidate for candidate in (baseline, *beside, *front)}
    short = by_id[file["short"]["id"]] if file["short"] else knee(front, baseline)
    recommendation = _recommendation(manifest["recommended"], by_id)
    return Run(directory.path, baseline, front, short, study, manifest["finish_reason"], recommendation)


def _study_of(directory: RunDirectory, settings: RunSettings, storage: str | None) -> StoredStudy:
    url = storage or settings.storage
    if url:
        return read_study(url, settings.study_name or directory.path.resolve().name)
    file = directory.path / STUDY
    if not file.is_file():
        raise InputError(f"{directory.path} has lost its {STUDY}, which holds its trials: put it back")
    name = study_name(file)
    if name is None:
        raise InputError(f"{file} holds no study: the run broke off as it began, or the file is damaged")
    return read_study(directory.storage_url, name)


def _from_study(directory: RunDirectory, manifest: Mapping[str, Any], settings: RunSettings, study: StoredStudy) -> Run:
    """A run whose run.json has no findings yet, read from its study."""
    candidates = candidates_in(study)
    if not candidates:
        path = directory.path
        raise InputError(f"{path} has no scores yet: wait for its first trials, or resume with `psopt resume {path}`")
    baseline = candidates[0]
    front = pareto_front(candidates, baseline.val.f1 - settings.search.parts.margin)
    return Run(directory.path, baseline, front, knee(front, baseline), study, manifest["finish_reason"])


def _candidate(entry: Mapping[str, Any], prompt: Prompt | None = None) -> Candidate:
    test = entry.get("test")
    return Candidate(
        trial=entry.get("trial", 0),
        prompt=prompt or Prompt.from_dict(entry["prompt"]),
        edits=tuple(Edit.from_dict(edit) for edit in entry.get("edits", ())),
        val=scores_from_dict(entry["val"]),
        test=scores_from_dict(test) if test else None,
    )


def _recommendation(data: Mapping[str, Any], candidates: Mapping[str, Candidate]) -> Recommendation:
    calls = {when: CallPrice.from_dict(call) for when, call in data["call"].items()}
    prompt, verdict = candidates[data["id"]], read_data(Verdict, data)
    return Recommendation(prompt, verdict, data["samples_needed"], data["looks"], **calls)


@contextlib.contextmanager
def _damage_named(file: Path) -> Iterator[None]:
    """Report that a file is damaged if it lacks what psopt writes."""
    try:
        yield
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        defect = f"it lacks {json.dumps(error.args[0])}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{file} is damaged, or of a later version of psopt: {defect}") from error
