"""What decides the answers of a program, and so the keys that they are kept under."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pydantic
from psopt.dspy_programs._contents import digest
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._lm import lm_of, place_of
from psopt.dspy_programs._outcome import as_text
from psopt.models import answer_key
from psopt.models.chat import public_settings


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What decides a program's answer to a text."""

    state: str  # instructions, fields and demonstrations of every step
    # The language models: their names, their settings without secrets, and their servers or engines. DSPy's own key
    # leaves the server out, so that two servers with one model name would share answers.
    lm: list[str]
    adapter: str  # what makes messages of a step: its class and its settings

    @classmethod
    def of(cls, program: Any) -> Fingerprint:
        """Take the fingerprint of a program under DSPy's settings of now."""
        of_steps = [predictor.lm for _, predictor in program.named_predictors() if predictor.lm is not None]
        models = {id(lm): lm for lm in (lm_of(program), *of_steps)}.values()
        lms = [
            part for lm in models for part in (lm.model, str(sorted(public_settings(lm.kwargs).items())), *place_of(lm))
        ]
        state = json.dumps(as_json_data(program.dump_state()), sort_keys=True)
        return cls(state, lms, digest(dspy.settings.adapter))

    def key(self, text: str, kind: str = "outcome") -> bytes:
        """The key of what the program answers to a text, or of another `kind` of record about that."""
        return answer_key(kind=kind, state=self.state, text=text, lm=self.lm, adapter=self.adapter)


def as_json_data(value: Any) -> Any:
    """A value as JSON data: objects of pydantic's by their fields, what else is none, as text."""
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: Any) -> Any:
    if isinstance(value, pydantic.BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    if isinstance(value, np.generic):
        return value.item()
    return as_text(value)
