"""Options in messages as Python's users give them: ``max_calls=100`` in place of ``--max-calls 100``."""

from __future__ import annotations

import functools
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from psopt.errors import PsoptError
from psopt.settings._bounds import BoundOptions
from psopt.settings._data import DataOptions, PromptOptions
from psopt.settings._option import all_leaves
from psopt.settings._run import AnsweringOptions, MeasureOptions, PersonOptions, RunOptions, SizeOptions
from psopt.settings._search import SearchOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_GROUPS = (RunOptions, SizeOptions, SearchOptions, MeasureOptions, BoundOptions, AnsweringOptions, PersonOptions)
# Parameters of verbs that are no settings: the keyword, and its value where a flag has none
_OF_VERBS = {
    **{flag: (flag.replace("-", "_"), "") for flag in ("prompt", "out", "pick", "verify", "into", "heldout-from")},
    **{flag: (flag, "True") for flag in ("resume", "force")},
    "format": ("form", ""),
    "dataset": ("task", ""),
}
_COMMAND = re.compile(r"(`psopt [^`]*`)")
_RESUME = re.compile(r"`psopt resume ([^`]+)`")
_OPTION = re.compile(
    r"(?<![\w-])--([a-z][a-z0-9-]+)"
    r"(?:[ =](\d[\w.%]*|[A-Z]{2,}\b|(?<=(?:gate|race|pick) )\w+|(?<=answers )[\w:.+-]+|(?<=answer )\w+:[\w:.+-]+))?"
)


def argument(flag: str, value: str) -> str:
    """An option, with its value if there is one, as an argument of psopt's verbs; empty for others, as a server's."""
    if flag in _of_prompts():
        return f"prompt_options=PromptOptions({_of_prompts()[flag]}={value or '..'})"
    if flag not in _keywords():
        return ""
    name, alone = _keywords()[flag]
    return f"{name}={value or alone}".removesuffix("=")


def in_python(
    text: str, as_argument: Callable[[str, str], str] = argument, resumed: str = "psopt.resume({folder!r})"
) -> str:
    """Rewrite the options in a message; commands that are quoted whole stay, but for that to resume.

    >>> in_python("--max-calls 100 is reached: raise it, or add --plain, and resume with `psopt resume runs/a b`")
    "max_calls=100 is reached: raise it, or add structured=False, and resume with psopt.resume('runs/a b')"
    >>> in_python("start the server with --max-model-len=4096, or leave --no-batch and --min-f1 .8 out")
    'start the server with --max-model-len=4096, or leave batch=False and min_f1 .8 out'
    """

    def spelled(match: re.Match[str]) -> str:
        value = match[2] or ""
        if re.fullmatch("[A-Z]+", value):
            value = ".."
        elif value and not re.fullmatch(r"[\d.]+", value):
            value = repr(value)
        return as_argument(match[1], value) or match[0]

    text = _RESUME.sub(lambda match: resumed.format(folder=match[1]), text)
    parts = _COMMAND.split(text)
    parts[::2] = [_OPTION.sub(spelled, part) for part in parts[::2]]
    return "".join(parts)


@contextmanager
def spelled_for_python(words: Callable[[str], str] = in_python) -> Iterator[None]:
    """Rewrite the messages of psopt's errors for Python."""
    try:
        yield
    except PsoptError as error:
        error.args = (words(str(error)), *error.args[1:])
        raise


@functools.cache
def _keywords() -> dict[str, tuple[str, str]]:
    """By flag: the keyword, and its value where a flag has none."""
    keywords = dict(_OF_VERBS)
    for leaf in (leaf for group in (DataOptions, *_GROUPS) for leaf in all_leaves(group)):
        on, _, off = leaf.flags.partition("/")
        is_switch = leaf.types == (bool,)
        keywords[on.removeprefix("--")] = (leaf.key, "True" if is_switch else "")
        keywords[off.removeprefix("--") or f"no-{on.removeprefix('--')}"] = (leaf.key, "False")
    return keywords


@functools.cache
def _of_prompts() -> dict[str, str]:
    return {leaf.flags.removeprefix("--"): leaf.name for leaf in all_leaves(PromptOptions)}
