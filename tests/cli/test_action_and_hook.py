"""The action and the pre-commit hook: they say what `psopt check` takes, and the guide what they take."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from psopt.cli import command_line

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "guides" / "ci.md").read_text("utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]


def run_step(step: dict[str, Any], tmp_path: Path, program: str, inputs: dict[str, str]) -> tuple[int, Sequence[str]]:
    """Run a step as GitHub does, with a program in the place of the real one that notes its words and ends with 1."""
    told = tmp_path / "told"
    fake = tmp_path / program
    fake.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >'{told}'\nexit 1\n")
    fake.chmod(0o755)
    defaults = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
    values = {**defaults, **inputs}
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found.group(1)], value)
        for name, value in step["env"].items()
    }
    env = {**os.environ, **variables, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    code = subprocess.run(script, env=env, cwd=tmp_path, check=False).returncode
    return code, told.read_text().splitlines()


def test_the_action_checks_with_words_as_they_were_quoted_and_runs_none_of_them(tmp_path: Path) -> None:
    inputs = {
        "dataset": "my tickets.csv",
        "prompt": "$(touch ran).txt",
        "arguments": "--max-sensitivity 0.1\n--min-class-f1 'very angry=.8' --each .8 '$(touch ran)'",
    }
    code, words = run_step(STEPS[2], tmp_path, "psopt", inputs)
    assert code == 1
    assert words == [
        *("check", "--dataset", "my tickets.csv", "--junit", "psopt.xml", "--prompt", "$(touch ran).txt"),
        *("--max-sensitivity", "0.1", "--min-class-f1", "very angry=.8", "--each", ".8", "$(touch ran)"),
    ]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("inputs", "requirement"),
    [
        ({}, "psopt"),
        ({"version": "0.2.0"}, "psopt==0.2.0"),
        ({"version": "0.2.0", "extras": "local,dspy"}, "psopt[local,dspy]==0.2.0"),
    ],
)
def test_the_action_installs_the_version_that_is_named(
    tmp_path: Path, inputs: dict[str, str], requirement: str
) -> None:
    _, words = run_step(STEPS[1], tmp_path, "python", inputs)
    assert words == ["-m", "pip", "install", "--quiet", requirement]


def test_no_input_is_part_of_a_script() -> None:
    assert all("${{" not in step.get("run", "") for step in STEPS)


def test_options_of_the_action_are_those_of_the_command() -> None:
    known = {flag for one in command_line().load("check").params for flag in one.opts}
    assert set(re.findall(r"--[a-z]+(?:-[a-z]+)*", STEPS[2]["run"])) <= known


def test_the_guide_lists_every_input_with_its_meaning() -> None:
    told = dict(re.findall(r"^\| `([\w-]+)` \| (.+?) \|$", GUIDE.split("## GitHub")[1].split("\n## ")[0], re.MULTILINE))
    assert told == {name: one["description"] for name, one in ACTION["inputs"].items()}


def test_the_hook_is_the_command_and_is_told_in_the_guide() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert hook["entry"] == "psopt check"
    assert hook["language"] == "python"
    assert hook["pass_filenames"] is False
    assert f"id: {hook['id']}" in GUIDE
