"""What programs are told of psopt: `psopt schema`, `psopt skill` for coding agents, `psopt completion` for shells."""

import functools
import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from psopt.cli._config_file import config_schema
from psopt.cli._typer import script_for
from psopt.cli._verb import JSON, verb
from psopt.cli._writing import as_json_text, print_json, print_result, write_file
from psopt.errors import InputError, UnknownNameError
from psopt.settings import OUTPUT

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", help="A command or file, config for what --config takes; without one, all are listed."
    ),
]
Shell = Annotated[
    Literal["bash", "zsh", "fish", "powershell"], typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")
]
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_BAR = re.compile(r"\|(?![^(]*\))")  # separates types, except within brackets
Keys = dict[str, list[Any]]


@verb("psopt schema diagnose > diagnose.schema.json")
def schema(*, name: Name = None, as_json: bool = JSON) -> int:
    """Print the JSON Schema of what a command prints with --json, or of a run's run.json and front.json."""
    if name == "config":
        typer.echo(as_json_text(config_schema()))
    elif name is not None:
        typer.echo(as_json_text(schema_of(name)))
    elif as_json:
        print_json({"names": _names()})
    else:
        typer.echo("\n".join(_names()))
    return 0


@functools.cache
def tables() -> dict[str, Any]:
    """The contents of json_keys.toml: tables of keys by name, under ``outputs``, ``shapes`` and ``parts``."""
    return tomllib.loads(files("psopt.cli").joinpath("json_keys.toml").read_text("utf-8"))


def _names() -> list[str]:
    return [*tables()["outputs"], "config"]


def keys_of(name: str) -> Keys:
    """The keys of an output, a file or a shape: for each its type, its meaning, and true if it is optional."""
    table = next(listed[name] for listed in tables().values() if name in listed)
    keys: Keys = {}
    for base in table.get("like", ()):
        keys |= keys_of(base)
    for base in table.get("like_some", ()):
        keys |= {key: [*told[:2], True] for key, told in keys_of(base).items()}
    return keys | {key: told for key, told in table.items() if key not in {"of", "is_array", "like", "like_some"}}


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of an output or file, by its name; raises UnknownNameError."""
    table = tables()["outputs"].get(name)
    if table is None:
        raise UnknownNameError("output", name, _names())
    whole = _object(name)
    if table.get("is_array"):
        whole = {"type": "array", "items": whole}
    if shapes := _shapes_in(name):
        whole["$defs"] = {shape: _object(shape) for shape in sorted(shapes)}
    return {"$schema": _DRAFT, "title": name, "description": table["of"], **whole}


def _object(name: str) -> dict[str, Any]:
    keys = keys_of(name)
    return {
        "type": "object",
        "properties": {key: {**_type(told[0]), "description": told[1]} for key, told in keys.items()},
        "required": [key for key, told in keys.items() if len(told) < 3],
        "additionalProperties": False,
    }


def _type(types: str) -> dict[str, Any]:
    """The schema of a type as written in json_keys.toml."""
    choices = _BAR.split(types)
    if len(choices) > 1:
        return {"anyOf": [_type(choice) for choice in choices]}
    if types.endswith("[]"):
        return {"type": "array", "items": _type(types.removesuffix("[]"))}
    if types.endswith("{}"):
        return {"type": "object", "additionalProperties": _type(types.removesuffix("{}"))}
    if types.startswith("("):
        return _type(types[1:-1])
    return {"$ref": f"#/$defs/{types}"} if types in tables()["shapes"] else {"type": types}


def _shapes_in(name: str) -> set[str]:
    words = re.findall(r"\w+", " ".join(told[0] for told in keys_of(name).values()))
    named: set[str] = tables()["shapes"].keys() & words
    return named.union(*map(_shapes_in, named))


@verb("psopt skill --out .claude/skills/psopt/SKILL.md")
def skill(
    *,
    out: Path | None = OUTPUT.first("Write it to this file, and make its folder.", "FILE"),
    as_json: bool = JSON,
) -> int:
    """Print what a coding agent should know to run psopt well: a skill file in Markdown."""
    text = files("psopt.cli").joinpath("SKILL.md").read_text("utf-8")
    if out is not None:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--out: the folder {out.parent} can't be made: {error.strerror}") from error
        write_file("--out", out, text)
    if as_json:
        print_json({"file": out and str(out), "text": text})
    elif out is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(str(out))
    return 0


@verb("psopt completion bash >> ~/.bashrc")
def completion(*, shell: Shell, as_json: bool = JSON) -> int:
    """Print what lets a shell complete psopt's commands and options.

    bash and zsh: append it to ~/.bashrc or ~/.zshrc. fish: save it as ~/.config/fish/completions/psopt.fish.
    PowerShell: append it to $PROFILE.
    """
    script = script_for(shell)
    print_result({"shell": shell, "script": script}, script, as_json=as_json)
    return 0
