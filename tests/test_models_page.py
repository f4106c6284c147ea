"""The page of providers: its commands can be given as they stand, and name the addresses of its tables."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from psopt.cli import command_line

from tests.sweeps import each

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "models.md").read_text("utf-8")
LINES = [
    line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines() if line[0] != "#"
]


def parsed(line: str) -> Any:
    """What a command's options are; a value set before it is nothing to psopt."""
    words = shlex.split(line)
    start = words.index("psopt")
    assert all(re.fullmatch(r"OPENAI_API_KEY=\$[A-Z_]+", word) for word in words[:start])
    name, *arguments = words[start + 1 :]
    command = command_line().load(name)
    assert command is not None
    return command.make_context(name, arguments).params


@each("line", LINES)
def test_its_commands_parse(line: Any) -> None:
    params = parsed(line)
    kind, _, name = params["model"].partition("/")
    assert name
    if kind == "openai" and params["api_base"]:
        assert f"`{params['api_base']}`" in PAGE.replace("NAME", "my-resource")


def test_its_tables_name_no_address_without_a_command() -> None:
    told = set(re.findall(r"\| `(https?://[^`]+)`", PAGE))
    given = {parsed(line)["api_base"] for line in LINES}
    assert {address.replace("NAME", "my-resource") for address in told} <= given


def test_the_readme_leads_to_it() -> None:
    assert "(docs/models.md)" in (ROOT / "README.md").read_text("utf-8")
