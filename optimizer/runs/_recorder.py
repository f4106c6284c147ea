"""What a run records, while it goes on and at its end."""

from __future__ import annotations

import contextlib
import time
import traceback
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from psopt._version import __version__
from psopt.diagnosis import Diagnosis, diagnose_predictions, find_suspects
from psopt.errors import BudgetReachedError, InputError, PsoptError
from psopt.evaluation import OBJECTIVES, pooled
from psopt.rephrasings import to_file
from psopt.runs._directory import (
    CONTRIBUTIONS,
    ERROR_LOG,
    FRONT,
    MANIFEST,
    PROPOSALS,
    REPHRASINGS,
    SAMPLES,
    SUSPECTS,
    TRIALS,
    WEAK_SPOTS,
    RunDirectory,
    json_object,
)
from psopt.runs._manifest import Found, front_file, manifest
from psopt.runs._measured import answers_of, measured
from psopt.runs._predictions_file import write_predictions
from psopt.runs._recommendation import Recommendation, n_looks
from psopt.runs._settings import RunSettings
from psopt.search.gating import untested
from psopt.tasks import HubName, is_hub_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from psopt.evaluation import Evaluator, Objectives, Predictions
    from psopt.runs._measured import Measured
    from psopt.search import Candidate, Search, TrainDiagnoses
    from psopt.search.racing import StoppedCandidate
    from psopt.tasks import Task


@dataclass(eq=False)
class RunRecorder:
    """Records a run; it holds what every version of run.json contains."""

    directory: RunDirectory
    task: Task
    settings: RunSettings
    evaluator: Evaluator
    started: float = field(default_factory=time.monotonic)
    before: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] | None = None
    _tested: Found | None = None  # the findings at the end

    def __post_init__(self) -> None:
        if (self.directory.path / MANIFEST).exists():
            self.before = self.directory.read_json(MANIFEST)

    def check_same(self) -> None:
        """Refuse to resume a run that was about something else; raises InputError, naming what differs."""
        if not self.before:
            return
        before = self.before
        pairs = {
            "the samples": (before["dataset"]["sha256"], self.task.info.sha256),
            "the answers": (_answers(before["dataset"]), _answers(answers_of(self.task))),
            "the model": (before["model"], self.settings.model),
            "the rephrasings": (before["rephrasings"]["sha256"], self.evaluator.rephrasings.sha256),
            "psopt's version": (before["psopt_version"], __version__),
        }
        changed = []
        for subject, (was, now) in pairs.items():
            if was != now:
                was, now = (value[:12] if len(value) == 64 else value for value in (was, now))  # a digest, shortened
                changed.append(f"{subject} (was {was}, is {now})")
        if changed:
            raise InputError(
                f"{self.directory.path} cannot be resumed, since this has changed: {', '.join(changed)}; "
                f"{self._samples_back()}start a new run, or accept it with --force"
            )

    def _samples_back(self) -> str:
        """How to get the samples back, if it is known why they differ: a folder, or a commit of the hub."""
        before, dataset = self.before["dataset"], self.settings.data.dataset
        if self.task.info.source == "bundled" != before["source"]:
            return "set PSOPT_DATA_DIR to the folder of the data that it was begun with, "
        commit = before.get("revision", "")
        if not is_hub_name(dataset) or commit == self.task.info.revision:
            return ""
        return f"give --resume with --dataset {replace(HubName.read(dataset), revision=commit)}, "

    def save_broken_off(self, search: Search | None, error: BaseException) -> None:
        """Record a run that an error has ended, as far as possible; with the traceback of an error that is not ours."""
        reason = "failed" if isinstance(error, Exception) else "interrupted"
        with contextlib.suppress(InputError):
            self._save_part(search, "budget" if isinstance(error, BudgetReachedError) else reason)
        if isinstance(error, Exception) and not isinstance(error, PsoptError):
            with contextlib.suppress(InputError):
                self.directory.write_text(ERROR_LOG, "".join(traceback.format_exception(error)))
                error.add_note(f"the traceback is in {self.directory.path / ERROR_LOG}")

    def _save_part(self, search: Search | None, reason: str) -> None:
        if self._tested:  # the failure came after the final test, whose scores only this process has
            self.save(self._tested, reason)
            return
        if search is None or not search.candidates:
            self.save(Found(), reason)
            return
        baseline, front = search.candidates[0], search.state.front
        why = f"the run has ended ({reason}) before the prompts that it found were tested against it"
        verdict = untested(self.settings.gate, self.settings.gate_margin, why)
        recommendation = Recommendation(baseline, verdict, looks=n_looks(self.before, verdict))
        self.save(Found(baseline, front, None, recommendation, search.race_counts), reason)
        self.save_proposals(search)
        self._save_samples()
        for candidate in {candidate.id: candidate for candidate in (baseline, *front)}.values():
            self.directory.write_prompt(candidate.prompt, self._measured(candidate))

    def save(self, found: Found, reason: str) -> None:
        """Write run.json and front.json as far as the run has got."""
        seconds = time.monotonic() - self.started
        content = manifest(self.settings, self.task, self.evaluator, found, reason, seconds, self.before)
        if plan := self.plan or self.before.get("plan"):
            content["plan"] = plan
        self.directory.write_json(MANIFEST, content)
        if found.front:
            self.directory.write_json(FRONT, front_file(found, self._measured))
        if found.shortest:
            self._tested = found

    def _measured(self, candidate: Candidate) -> Measured:
        return measured(self.settings, self.task, self.evaluator, candidate)

    def save_rephrasings(self) -> None:
        """Write rephrasings.json, with which the run is resumed, and which other runs may use."""
        self.directory.write_json(REPHRASINGS, to_file(self.evaluator.rephrasings))

    def save_proposals(self, search: Search) -> None:
        """Write every proposed edit, and every refused draft with the reason."""
        refused = json_object(self.directory.path / PROPOSALS).get("refused", [])  # a damaged file is overwritten
        if search.problem.proposer:
            refused += [asdict(draft) for draft in search.problem.proposer.refused]
        edits = [edit.to_dict() for edit in search.state.pool]
        self.directory.write_json(PROPOSALS, {"schema_version": 1, "edits": edits, "refused": refused})

    def save_prompts(
        self,
        baseline: Candidate,
        front: tuple[Candidate, ...],
        others: Sequence[Candidate],
        shown: Candidate,
        diagnoses: TrainDiagnoses,
    ) -> None:
        """Write all these prompts, their predictions, and what was weak, and still is under the one shown."""
        for candidate in {candidate.id: candidate for candidate in (baseline, *front, *others)}.values():
            self.directory.write_prompt(candidate.prompt, self._measured(candidate))
            predictions: dict[str, Predictions] = {"val": self.evaluator.predictions(candidate.prompt, "val")}
            if candidate.test:
                predictions["test"] = self.evaluator.predictions(candidate.prompt, "test")
            write_predictions(self.directory, candidate.prompt, predictions)
            for place in range(len(self.evaluator.others)):
                of_other = {split: of_all.others[place] for split, of_all in predictions.items()}
                write_predictions(self.directory, candidate.prompt, of_other, f"-{place + 2}")
        self.directory.write_json(WEAK_SPOTS, self._weak_spots(baseline, shown, diagnoses))
        self._save_suspects(baseline, diagnoses)

    def _save_suspects(self, baseline: Candidate, diagnoses: TrainDiagnoses) -> None:
        """Write which labels of train and val are suspect, judging by the answers to the original prompt.

        Test is left out: fixing its labels where a model disagrees would make the model look better than it is.
        """
        content: dict[str, Any] = {"schema_version": 1, "prompt": baseline.id}
        with contextlib.suppress(BudgetReachedError):  # what was not paid for is not known
            on_train = diagnoses.predictions(baseline.prompt)
            content["train"] = find_suspects(on_train, labelled=self.task.train).to_dict()
            on_val = pooled(self.evaluator.predictions(baseline.prompt, "val"))
            content["val"] = find_suspects(on_val, labelled=self.task.train).to_dict()
        self.directory.write_json(SUSPECTS, content)

    def earlier_contributions(self, chosen: Candidate, most: int) -> dict[str, Any] | None:
        """What this many of the chosen prompt's edits contribute, if an earlier part of the run has measured it."""
        contributions = json_object(self.directory.path / CONTRIBUTIONS)  # a damaged file is measured and written anew
        if contributions.get("prompt") != chosen.id or contributions.get("most", 0) < most:
            return None
        return contributions

    def save_for_report(self, search: Search, contributions: dict[str, Any]) -> None:
        """Write what else the report shows: the samples, every prompt tried, and what the chosen one's edits add."""
        self._save_samples()
        self.directory.write_json(TRIALS, self._trials(search))
        self.directory.write_json(CONTRIBUTIONS, contributions)

    def _save_samples(self) -> None:
        content: dict[str, Any] = {"schema_version": 1, "labels": list(self.task.labels)}
        answers = self.evaluator.answer_type
        if not answers.is_plain:
            content["answers"] = answers.to_dict()
        for split in ("val", "test"):
            content[split] = list(map(asdict, self.evaluator.samples[split]))
            for sample in content[split]:
                if not sample["pinned"]:
                    del sample["pinned"]
        self.directory.write_json(SAMPLES, content)

    @staticmethod
    def _trials(search: Search) -> dict[str, Any]:
        """Every candidate; the scores of those that stopped in their race are estimates."""
        least_f1 = search.state.least_f1
        trials = [
            {
                **_listed(candidate),
                **_objectives(candidate.val),
                "na_rate": candidate.val.na_rate,
                "feasible": candidate.val.f1 >= least_f1,
            }
            for candidate in search.candidates
        ]
        raced = [
            {**_listed(stopped), "raced": stopped.raced, "estimates": _objectives(stopped.val)}
            for stopped in search.stopped
        ]
        return {"schema_version": 1, "trials": trials, **({"raced": raced} if raced else {})}

    def _weak_spots(self, baseline: Candidate, pick: Candidate, diagnoses: TrainDiagnoses) -> dict[str, Any]:
        """What was unstable under the original prompt on train, and how every train sample does under the chosen one.

        If diagnoses are partial, with the number of answers. What a limit does not pay for is left empty.
        """
        unknown = Diagnosis({"sensitivity": ()}, ()).to_dict()
        content: dict[str, Any] = {"schema_version": 1, "prompt": pick.id, "before": unknown, "after": {}}
        try:
            before = diagnoses.predictions(baseline.prompt)
            content["before"] = diagnose_predictions(before, labelled=self.task.train).to_dict()
            after = diagnoses.predictions(pick.prompt)
        except BudgetReachedError:
            return content
        n_asked = after.asked.sum(axis=1)
        for sample, n_right, s, of in zip(after.samples, after.n_right, after.sensitivities, n_asked, strict=True):
            content["after"][sample.id] = {"right": int(n_right), "sensitivity": float(s)}
            if diagnoses.is_partial or self.evaluator.others:
                content["after"][sample.id]["of"] = int(of)
        return content


def _listed(candidate: Candidate | StoppedCandidate) -> dict[str, Any]:
    return {"trial": candidate.trial, "id": candidate.id, "edits": [str(edit) for edit in candidate.edits]}


def _objectives(scores: Objectives) -> dict[str, Any]:
    return {name: getattr(scores, name) for name in OBJECTIVES}


def _answers(dataset: Mapping[str, Any]) -> str:
    """The kind of answers, from run.json's `dataset`: ``label``, ``ordinal`` or ``ordinal: low < high``."""
    parts = [dataset.get("answers", "label"), " < ".join(dataset.get("order", ()))]
    return ": ".join(filter(None, parts))


def check_same_prompt(run: Path, settings: RunSettings) -> None:
    """Refuse to resume a run with another prompt than it has begun with; raises InputError, naming both."""
    if not (run / MANIFEST).exists():
        return
    before = RunSettings.from_dict(RunDirectory.open(run).read_json(MANIFEST)["settings"])
    if (before.prompt and before.prompt.id) != (settings.prompt and settings.prompt.id):
        raise InputError(
            f"{run} has begun with {_named(before)}, and cannot be resumed from {_named(settings)}: start a new "
            f"run, or continue with the prompt that it keeps (psopt resume {run})"
        )


def _named(settings: RunSettings) -> str:
    """How messages name a run's prompt: a user's own by its file and id, any other as the strategy's."""
    if settings.prompt is None:
        return "the strategy's prompt"
    return f"prompt {settings.prompt_file or 'of Python'} ({settings.prompt.id})"
