"""What a study says about itself, so that a worker elsewhere can join it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.search.distributed._study_keys import METADATA

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True, slots=True)
class StudyMetadata:
    """All that prompts are compared on, and how the search goes, as plain JSON data."""

    settings: dict[str, Any]  # the run's settings
    dataset_sha256: str  # of the samples; a worker brings its own
    prompt: dict[str, Any]  # the original prompt
    rephrasings: dict[str, Any]  # the set, as in rephrasings.json
    psopt_version: str


def write_metadata(study: optuna.Study, metadata: StudyMetadata) -> None:
    """Write it to the study."""
    content = {name: getattr(metadata, name) for name in StudyMetadata.__slots__}
    study.set_user_attr(METADATA, json.dumps(content))


def read_metadata(study: optuna.Study) -> StudyMetadata:
    """Read it from the study.

    Raises InputError if the study is none of psopt's.
    """
    content = study.user_attrs.get(METADATA)
    if content is None:
        raise InputError(f"study {study.study_name!r} was not started by `psopt optimize --storage`")
    return StudyMetadata(**json.loads(content))
