"""What Optuna's dashboard shows of a study as a whole: its note, and the one trial that bears a badge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search.distributed._study_keys import CHOSEN

if TYPE_CHECKING:
    import optuna
    from psopt.search.distributed import StoredStudy


def show_note(study: StoredStudy, text: str) -> None:
    """Write the study's note, in Markdown."""
    from optuna_dashboard import save_note

    save_note(study, text)


def choose_trial(study: StoredStudy, number: int) -> None:
    """Write down which trial is to be used, or is the best so far."""
    study.set_hidden_attr(CHOSEN, number)


def chosen_trial(storage: optuna.storages.BaseStorage, study_id: int) -> int | None:
    """Return the number of the trial that is to be used; None in a study of before 0.2, or without trials.

    Raises
    ------
    KeyError
        If the storage has no such study.
    """
    number = storage.get_study_system_attrs(study_id).get(CHOSEN)
    return None if number is None else int(number)
