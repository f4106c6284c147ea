"""The note of a run's study: what is optimized, which trial to use, how to export it, where the report is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.evaluation import measure_names, objective_values, objectives_of
from psopt.runs._directory import REPORT
from psopt.runs._recommendation import recommendation_lines
from psopt.search import choose_trial, show_note
from psopt.text import counted, escaped_markdown, shell_line

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.evaluation import Evaluator, Objectives
    from psopt.runs._run import Run
    from psopt.runs._settings import RunSettings
    from psopt.search.distributed import StoredStudy
    from psopt.tasks import Task

_UP = {"maximize": "up", "minimize": "down"}
_WAYS_TO_END = {
    "trials": "All trials were made.",
    "exhausted": "Nothing new was left to try.",
    "budget": "A limit was reached.",
}


@dataclass(frozen=True, eq=False)
class StudyNote:
    """Writes the note of a study when its run begins and ends, and marks the trial to use."""

    folder: Path  # the run directory
    task: Task
    settings: RunSettings
    evaluator: Evaluator

    def begin(self, study: StoredStudy) -> None:
        """Describe what the run is about."""
        lines = [
            "The trial with the badge is the best so far. What is recommended is decided at the end, on test samples."
        ]
        if self.settings.program != "python":
            lines.append(f"If it was broken off:\n\n    psopt resume {shell_line([self.folder])}")
        show_note(study, self._text("## Not finished", lines))

    def end(self, study: StoredStudy, run: Run) -> None:
        """Describe the result, and how to export it."""
        recommended, start = run.recommended, run.baseline
        take = f"    psopt export {shell_line([self.folder])}"
        ways = [take, f"{take} --format json"]
        candidate, name = recommended, f"trial {recommended.trial}"
        head = f"## Recommended: {name}"
        if recommended.id == start.id:
            candidate = run.pick("knee")
            head, name = f"{head}, the original prompt", f"trial {candidate.trial} (knee)"
        rows = {"original prompt, val": start.val, "original prompt, test": start.test}
        if candidate.id != start.id:
            rows |= {f"{name}, val": candidate.val, f"{name}, test": candidate.test}
            if candidate is not recommended:
                ways.append(f"{take} --pick knee --diff   # what was found, to look at")
        lines = [
            f"Prompt `{recommended.id}`, {counted(len(recommended.edits), 'edit')}. {_WAYS_TO_END[run.finish_reason]}"
        ]
        if run.recommendation:
            sentence = recommendation_lines(run.recommendation.to_dict(), self._quality)[0]
            lines.append(escaped_markdown(sentence))
        lines += [
            self._scores({name: scores for name, scores in rows.items() if scores is not None}),
            "Test samples and their wordings were unseen by the search; the objectives of trials are those on val.",
            "## Take it",
            "\n".join(ways),
            f"Report: `{self.folder / REPORT}`",
        ]
        show_note(study, self._text(head, lines))
        choose_trial(study, recommended.trial)

    def _text(self, head: str, lines: list[str]) -> str:
        task, samples = self.task, self.evaluator.samples
        sizes = ", ".join(f"{len(samples[split])} {split}" for split in ("train", "val", "test"))
        if task.labels:
            sizes = f"{counted(len(task.labels), 'label')}; {sizes}"
        ways = objectives_of(self.evaluator.answer_type)
        n_wordings = len(self.evaluator.rephrasings.search)
        objectives = ", ".join(f"{measure_names(self._quality)[name]} {_UP[way]}" for name, way in ways.items())
        about = {
            "data": f"{task.name} ({task.info.source}): {sizes} samples asked about",
            "model": self.settings.model,
            "objectives": f"{objectives}, on val, under {n_wordings} wordings of the same task",
            "run": str(self.folder),
        }
        rows = [f"| {name} | {escaped_markdown(value)} |" for name, value in about.items()]
        title = f"# {escaped_markdown(task.name)}: one prompt, the same right answer however the task is said"
        terms = ["S (sensitivity) is how far answers change with the wording"]
        if len(ways) > 2:
            terms.append("C (consistency) how alike the samples of a class are answered")
        meaning = (
            f"{', '.join(terms)}. Each trial is the original prompt with some edits; its parameters say which. In "
            "`psopt dashboard` one trial bears the badge: the one below."
        )
        return "\n\n".join([title, "\n".join(["| | |", "|---|---|", *rows]), meaning, head, *lines]) + "\n"

    def _scores(self, rows: dict[str, Objectives]) -> str:
        names = [measure_names(self._quality)[name] for name in objectives_of(self.evaluator.answer_type)]
        lines = [f"| in percent | {' | '.join(names)} |", f"|---|{'--:|' * len(names)}"]
        for name, scores in rows.items():
            cells = (f"{100 * value:.1f}" for value in objective_values(scores).values())
            lines.append(f"| {name} | {' | '.join(cells)} |")
        return "\n".join(lines)

    @property
    def _quality(self) -> str:
        return self.evaluator.answer_type.quality_name
