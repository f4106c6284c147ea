"""The note of a study: psopt's part is written anew, what people have written stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optuna_dashboard import get_note, save_note
from psopt.search import open_study, show_note

if TYPE_CHECKING:
    from pathlib import Path


def test_what_somebody_wrote_into_the_note_stays(tmp_path: Path) -> None:
    study = open_study(f"sqlite:///{tmp_path / 'study.db'}", "a", "random", 0)
    show_note(study, "## Best so far: trial 1")
    first = get_note(study)
    save_note(study, f"{first}\nAsk Ana before this ships.\n")
    show_note(study, "## Use trial 7")
    note = get_note(study)
    assert note.startswith("## Use trial 7\n")
    assert "trial 1" not in note
    assert note.count("Ask Ana before this ships.") == 1
    show_note(study, "## Use trial 7")
    assert get_note(study) == note


def test_a_note_that_psopt_did_not_write_is_kept_whole(tmp_path: Path) -> None:
    study = open_study(f"sqlite:///{tmp_path / 'study.db'}", "a", "random", 0)
    save_note(study, "# Tickets, third try")
    show_note(study, "## Best so far")
    assert get_note(study).startswith("## Best so far\n")
    assert get_note(study).endswith("# Tickets, third try\n")
