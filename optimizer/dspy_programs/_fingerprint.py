"""What decides the answers of a program, and so the keys that they are kept under."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pydantic
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._lm import lm_of, place_of
from psopt.dspy_programs._outcome import as_text
from psopt.models import answer_key
from psopt.models.chat import public_settings


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What decides a program's answer to a text.

    Attributes
    ----------
    state : str
        Instructions, fields and demonstrations of every step.
    lm : list
        The language model: its name, its settings without secrets, and its server. DSPy's own key leaves the server
        out, so that two servers with one model name would share answers.
    adapter : str
        The class that makes messages of a step.
    """

    state: str
    lm: list[str]
    adapter: str

    @classmethod
    def of(cls, program: Any) -> Fingerprint:
        """Take the fingerprint of a program under DSPy's settings of now."""
        lm = lm_of(program)
        settings = str(sorted(public_settings(lm.kwargs).items()))
        state = json.dumps(as_json_data(program.dump_state()), sort_keys=True)
        return cls(state, [lm.model, settings, *place_of(lm)], type(dspy.settings.adapter).__name__)

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
    return as_text(value)
