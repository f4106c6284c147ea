"""What Optuna's dashboard shows of a study as a whole: its note, and the one trial that bears a badge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search.distributed._study_keys import CHOSEN

if TYPE_CHECKING:
    import optuna
    from psopt.search.distributed import StoredStudy

_THEIRS = "---\n\n*What is written below this line stays.*"


def show_note(study: StoredStudy, text: str) -> None:
    """Write the study's note, in Markdown; what somebody has written into it stays, below a line."""
    from optuna_dashboard import get_note, save_note

    before = get_note(study) or ""
    _, line, theirs = before.partition(_THEIRS)
    kept = theirs.strip() if line else before.strip()  # without the line all of it is somebody's
    save_note(study, f"{text.rstrip()}\n\n{_THEIRS}\n" + (f"\n{kept}\n" if kept else ""))


def choose_trial(study: StoredStudy, number: int) -> None:
    """Write down which trial is to be used, or is the best so far."""
    study.set_hidden_attr(CHOSEN, number)


def chosen_trial(storage: optuna.storages.BaseStorage, study_id: int) -> int | None:
    """Return the number of the trial that is to be used; None in a study of before 0.2, or without trials.

    Raises KeyError if the storage has no such study.
    """
    number = storage.get_study_system_attrs(study_id).get(CHOSEN)
    return None if number is None else int(number)
