"""Messages for Python callers: arguments instead of options."""

from __future__ import annotations

import contextlib
import re
from dataclasses import fields
from typing import TYPE_CHECKING

from psopt.errors import PsoptError
from psopt.models.chat import LMConfig

if TYPE_CHECKING:
    from collections.abc import Iterator


_OPTION = re.compile(
    r"(?<![\w-])--([a-z][a-z-]+)(?:[ =](\d[\w.%]*|(?<=gate )\w+|(?<=answers )[\w:.+-]+|(?<=pick )\w+))?"
)
_RESUME = re.compile(r"`psopt resume ([^`]+)`")
_OF_DATA = {"answers", "order", "heldout_from"}
_OWN = {"max_calls", "max_errors", "max_prompt_tokens", "gate", "gate_margin", "pick", "storage", "seed"} | _OF_DATA
_RENAMED = {
    "out": "log_dir",
    "trials": "num_trials",
    "rephrasings": "num_rephrasings",
    "model": "task_model",
    "proposer": "prompt_model",
    "rephraser": "prompt_model",
    "judge": "judge_model",
}
_OF_LM = frozenset(setting.name for setting in fields(LMConfig))


def python_words(text: str) -> str:
    """Rewrite the options in a message as arguments of `SensitivityOptimizer`.

    >>> python_words("Not tested (--gate off): raise --max-calls 100, or --timeout")
    "Not tested (gate='off'): raise max_calls=100, or lm=LMConfig(timeout=..)"
    >>> python_words("resume with `psopt resume runs/a b`")
    "resume with the same call and log_dir='runs/a b'"
    """
    text = _RESUME.sub(lambda match: f"the same call and log_dir={match[1]!r}", text)
    return _OPTION.sub(_argument, text)


@contextlib.contextmanager
def in_python_words() -> Iterator[None]:
    """Rewrite psopt's errors for Python."""
    try:
        yield
    except PsoptError as error:
        error.args = (python_words(str(error)),)
        raise


def _argument(match: re.Match[str]) -> str:
    name = match[1].replace("-", "_")
    name = _RENAMED.get(name, name)
    value = match[2] or ""
    if value and not re.fullmatch(r"[\d.]+", value):
        value = repr(value)
    if name in _OWN or name in _RENAMED.values():
        return f"{name}={value}".removesuffix("=")
    if name in _OF_LM:
        return f"lm=LMConfig({name}={value or '..'})"
    return match[0]
