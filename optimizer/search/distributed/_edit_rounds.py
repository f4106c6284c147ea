"""The edits of each round, as they stand in the study: whoever loads it can build every prompt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from psopt.search.distributed._study_keys import EDITS
from psopt.search_spaces import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import optuna


def write_edits(study: optuna.Study, round_number: int, edits: Iterable[Edit], worker: str = "") -> None:
    """Store a round's new edits in the study."""
    key = f"{EDITS}:{round_number}" + (f":{worker}" if worker else "")
    study.set_user_attr(key, json.dumps([edit.to_dict() for edit in edits]))


def stored_edits(study: optuna.Study) -> dict[str, str]:
    """Return what `write_edits` stored, unread: equal where nothing has come."""
    return {key: value for key, value in study.user_attrs.items() if key.startswith(f"{EDITS}:")}


def read_rounds(stored: Mapping[str, str]) -> list[list[Edit]]:
    """Return the new edits of each round so far, most to gain first, whichever worker proposed them.

    Two edits always stand in the same order, so that the same choice makes the same prompt for every worker.
    """
    edits_of_round: dict[int, dict[str, Edit]] = {}
    earlier: set[str] = set()
    for key in sorted(stored, key=lambda key: (_round_of(key), key)):
        edits = [Edit.from_dict(data) for data in json.loads(stored[key])]
        new = {edit.id: edit for edit in edits if edit.id not in earlier}
        edits_of_round.setdefault(_round_of(key), {}).update(new)
        earlier |= {edit.id for edit in edits}
    rounds: list[list[Edit]] = []
    while len(rounds) in edits_of_round:  # what follows a gap is read when the gap is filled
        rounds.append(sorted(edits_of_round[len(rounds)].values(), key=lambda edit: (-edit.gain, edit.id)))
    return rounds


def _round_of(key: str) -> int:
    return int(key.removeprefix(f"{EDITS}:").split(":")[0])
