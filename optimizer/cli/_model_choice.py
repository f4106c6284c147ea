"""Which model a command asks, and how: as the command line says, else as the run has measured the prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from psopt.cli._options import take_lm_options
from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.models.chat import LMConfig
    from psopt.runs import Measured, PromptSource

DEFAULT = "minilm"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model of a command.

    Attributes
    ----------
    model : str
    server : str or None
        The address that is asked, without secrets.
    origin : str
        Where that comes from, in words.
    lm : LMConfig
        How it is asked.
    """

    model: str
    server: str | None
    origin: str
    lm: LMConfig

    @property
    def line(self) -> str:
        """What is said of it on the screen."""
        place = f" at {self.server}" if self.server else ""
        return f"model {self.model}{place}{likelihood_note(self.model, self.lm)}, {self.origin}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {"model": self.model, "server": self.server, "model_origin": self.origin}


def likelihood_note(model: str, lm: LMConfig) -> str:
    """Say which likelihood a local model scores labels by; empty for other models."""
    if _kind(model) != "hf":
        return ""
    return f" (labels scored by {'mean' if lm.hf_likelihood == 'mean' else 'whole'} log-likelihood)"


def choose_model(options: dict[str, Any], sources: Sequence[PromptSource], *, silent: bool) -> ModelChoice:
    """Choose the model of prompts, and put into a command's options how the run has asked it; say it on stderr.

    What is given on the command line goes before what a prompt says. Where a model is named, the prompt's server and
    options are still those to use, as long as both models are asked in the same way.

    Raises
    ------
    InputError
        If nothing says which model it is, or the prompts say different things.
    """
    from psopt.models.chat import server_of

    given: str | None = options.pop("model")
    measured = [(one, one.measured) for one in sources if one.measured is not None]
    origin = "as --model says" if given else _origin(sources, measured)
    name = given or (measured[0][1].model if measured else DEFAULT)
    alike = [one for _, one in measured if _kind(one.model) == _kind(name)]
    if alike:
        _take_over(options, alike[0])
    lm = take_lm_options(dict(options))
    server = server_of(name, lm)
    others = [
        f"{one.path} was measured with {_place(how)}"
        for one, how in measured
        if (how.model, how.server or server) != (name, server)
    ]
    choice = ModelChoice(name, server, "; ".join([origin, *others]), lm)
    if not silent:
        click.echo(choice.line, err=True)
    return choice


def _origin(sources: Sequence[PromptSource], measured: Sequence[tuple[PromptSource, Measured]]) -> str:
    """Where the model comes from that nobody has named; refuses where that is nowhere."""
    if not sources:
        return "the default"
    if not measured:
        raise InputError(f"prompt {sources[0].path} does not say which model it is for: give --model")
    for source, how in measured:
        _check_usable(source, how)
    first, how = measured[0]
    for other, different in measured[1:]:
        _check_same(first, how, other, different)
    return f"as in {first.run or first.path}"


def _check_usable(source: PromptSource, how: Measured) -> None:
    if how.program is not None:
        raise InputError(
            f"prompt {source.path} is that of a DSPy program ({how.program}), run by {_place(how)}: use the program "
            "(psopt export RUN --format dspy), or give --model to try its text as a prompt of psopt's"
        )
    if not how.by_name:
        raise InputError(
            f"prompt {source.path} was measured with a model object in Python ({how.model}), which no name loads: "
            "give --model"
        )


def _check_same(first: PromptSource, how: Measured, other: PromptSource, different: Measured) -> None:
    ours, theirs = how.deciding, different.deciding
    context = click.get_current_context()
    for name in sorted(ours.keys() | theirs.keys(), key=lambda name: (name != "model", name != "server", name)):
        option = "api_base" if name == "server" else name
        if ours.get(name) != theirs.get(name) and not _is_given(context, option):
            flag = "--" + option.replace("_", "-") if option in context.params else "--model"
            raise InputError(
                f"the prompts were measured differently: {first.path} with {name} {ours.get(name)}, {other.path} with "
                f"{theirs.get(name)}; say with {flag} what both are to be measured with"
            )


def _take_over(options: dict[str, Any], how: Measured) -> None:
    """Put what a run has set in the place of defaults."""
    context = click.get_current_context()
    options |= {name: value for name, value in how.options.items() if not _is_given(context, name)}


def _is_given(context: click.Context, name: str) -> bool:
    from click.core import ParameterSource

    return context.get_parameter_source(name) in {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}


def _kind(model: str) -> str:
    return model.partition("/")[0]


def _place(how: Measured) -> str:
    return f"{how.model}{f' at {how.server}' if how.server else ''}"
