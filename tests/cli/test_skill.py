"""`psopt skill`: what it tells agents is true of this psopt."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from psopt.cli import command_line

from tests.commands import psopt

if TYPE_CHECKING:
    from pathlib import Path


def test_it_prints_a_skill_file(tmp_path: Path) -> None:
    done = psopt(tmp_path, "skill", columns=200, code=0)
    head, _, body = done.stdout.removeprefix("---\n").partition("---\n")
    assert re.match(r"name: psopt\ndescription: \S.{50,}\n$", head)
    assert body.isascii()  # any terminal shows it
    assert json.loads(psopt(tmp_path, "skill", "--json", columns=200).stdout)["text"] == done.stdout


def test_it_is_written_where_an_agent_looks(tmp_path: Path) -> None:
    done = psopt(tmp_path, "skill", "--out", "skills/psopt/SKILL.md", columns=200, code=0)
    assert (tmp_path / "skills/psopt/SKILL.md").read_text().startswith("---\nname: psopt\n")
    (tmp_path / "file").write_text("")
    done = psopt(tmp_path, "skill", "--out", "file/SKILL.md", columns=200, code=2)
    assert len(done.stderr.splitlines()) == 1


def test_every_command_and_option_that_it_names_is_there(tmp_path: Path) -> None:
    text = psopt(tmp_path, "skill", columns=200).stdout
    spans = re.findall(r"`([^`]+)`", text)
    named = {words[1] for words in (span.split() for span in spans) if words[0] == "psopt" and len(words) > 1}
    assert named >= {"diagnose", "optimize", "resume", "export", "check"}
    assert named <= set(command_line().commands)
    helps = {name: psopt(tmp_path, name, "--help-all", columns=200).stdout for name in named - {"data", "models"}}
    helps |= {name: psopt(tmp_path, name, "--help", columns=200).stdout for name in named - helps.keys()}
    everything = "".join(helps.values())
    for span in spans:
        words = span.split()
        said = helps.get(words[1], everything) if words[0] == "psopt" and len(words) > 1 else everything
        for option in re.findall(r"(?<!\S)--[a-z][a-z0-9-]+", span):
            assert re.search(rf"{option}(?![a-z0-9-])", said), f"{span}: there is no {option}"
