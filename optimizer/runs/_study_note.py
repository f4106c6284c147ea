"""The note of a run's study: what is optimized, which trial to use, how to export it, where the report is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.runs._directory import REPORT
from psopt.runs._recommendation import recommendation_lines
from psopt.search import choose_trial, show_note
from psopt.text import counted, escaped_markdown, shell_line

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.runs._run import Run
    from psopt.runs._settings import RunSettings
    from psopt.search.distributed import StoredStudy
    from psopt.tasks import Task

_MEANING = (
    "S (sensitivity) is how far answers change with the wording, C (consistency) how alike the samples of a class are "
    "answered, both on val. Each trial is the original prompt with some edits; its parameters say which."
)


@dataclass(frozen=True, eq=False)
class StudyNote:
    """Writes the note of a study when its run begins and ends, and marks the trial to use."""

    folder: Path  # the run directory
    task: Task
    settings: RunSettings

    def begin(self, study: StoredStudy) -> None:
        """Describe what the run is about."""
        lines = [
            "The trial with the badge is the best so far. What is recommended is decided at the end, on test samples."
        ]
        if self.settings.program != "python":
            lines.append(f"If it was broken off:\n\n    psopt resume {shell_line([self.folder])}")
        self._show(study, "Not finished", lines)

    def end(self, study: StoredStudy, run: Run) -> None:
        """Describe the result, and how to export it."""
        recommended = run.recommended
        head = f"Recommended: trial {recommended.trial}"
        take = f"    psopt export {shell_line([self.folder])}"
        ways = [take, f"{take} --format json"]
        if recommended.id == run.baseline.id:
            head += ", the original prompt"
            ways.append(f"{take} --pick knee --diff   # what was found, to look at")
        lines = [f"Prompt `{recommended.id}`, {counted(len(recommended.edits), 'edit')}."]
        if run.recommendation:
            sentence = recommendation_lines(run.recommendation.to_dict(), run.baseline.val.quality_name)[0]
            lines.append(escaped_markdown(sentence))
        self._show(study, head, [*lines, "\n".join(ways), f"Report: `{self.folder / REPORT}`"])
        choose_trial(study, recommended.trial)

    def _show(self, study: StoredStudy, head: str, lines: list[str]) -> None:
        about = escaped_markdown(f"{self.task.name} ({self.task.info.source}), {self.settings.model}")
        show_note(study, "\n\n".join([f"# {about}", _MEANING, f"## {head}", *lines]) + "\n")
