"""What is wrong with a command line, in one line of our own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.cli._entries import choices_of, described_range
from psopt.cli._nearest import did_you_mean
from psopt.cli._typer import BadParameter, NoSuchOption

if TYPE_CHECKING:
    import typer

_NUMBERS = {int: "a whole number", float: "a number"}


def usage_line(error: typer.TyperException) -> str:
    """Say what is wrong, and which help has more."""
    context = getattr(error, "ctx", None)
    hint = f" (see: {context.command_path} --help)" if context else ""
    return f"{_message(error)}{hint}"


def _message(error: typer.TyperException) -> str:
    if isinstance(error, NoSuchOption):
        return f"No such option {error.option_name}{did_you_mean(error.option_name, error.possibilities or ())}"
    refused = _refused_value(error)
    if refused is None or not isinstance(error, BadParameter) or error.param is None:
        return error.format_message()
    return f"Invalid value for {error.param.get_error_hint()}: {_expected(error.param, refused[0])}"


def _refused_value(error: typer.TyperException) -> tuple[Any] | None:
    """The value that pydantic, which reads values for Typer, has refused."""
    details = getattr(error.__cause__, "errors", None)
    return (details()[0]["input"],) if details else None


def _expected(parameter: Any, value: Any) -> str:
    """Say what a parameter takes."""
    if choices := choices_of(parameter):
        return f"{value!r} is not one of {', '.join(choices)}{did_you_mean(str(value), choices)}"
    kind = _NUMBERS.get(parameter.type_descriptor.annotation, "a value")
    bounds = described_range(parameter)
    preposition = "from" if parameter.max is not None else "of"
    return f"{kind}{f' {preposition} {bounds}' if bounds else ''} is expected, not {str(value)!r}"
