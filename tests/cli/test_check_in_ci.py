"""What `psopt check` leaves for CI: JUnit XML, a summary on GitHub's page, the samples that fail.

The action and the pre-commit hook say what it takes, and the guide what they take.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from psopt import api
from psopt.api import FailingSample, Threshold
from psopt.cli import command_line

from tests.cli.limited_runs import write_data
from tests.cli.telling import failed_cases
from tests.commands import psopt

DATA = ["--dataset", "data.csv", "--rephrasings", "5", "--samples", "40"]
SHAKY = ["--model", "sim/wobble=0.6,accuracy=0.6,na=0"]
ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "guides" / "ci.md").read_text("utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
HOSTILE = 'a]]>b<&"\x00\x1b[31m|`*\n\ud800\ufffe é 漢'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of two classes, two samples of which are pinned in a copy."""
    folder = tmp_path_factory.mktemp("checked")
    write_data(folder, 40, lambda split, i: f"text {split} {i},{'Number' if i % 2 else 'Person'}")
    head, *rows = (folder / "data.csv").read_text().splitlines()
    marked = [f"{row},{'yes' if row.startswith(('test3,', 'train4,')) else ''}" for row in rows]
    (folder / "pinned.csv").write_text("\n".join([f"{head},keep", *marked]) + "\n")
    return folder


def check(folder: Path, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    model = [] if "--model" in arguments else SHAKY
    return psopt(folder, "check", *DATA, *model, *arguments, **more)


def test_bounds_and_failing_samples_are_test_cases_and_rows(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text("before\n")
    bounds = ("--min-macro-f1", "0.1", "--min-class-f1", "Person=0.99", "--each", "0.8", "--max-sensitivity", "1")
    done = check(folder, *bounds, "--junit", "check.xml", "--json", GITHUB_STEP_SUMMARY=str(page), code=1)
    by_option = {one["option"]: one for one in json.loads(done.stdout)["checks"]}
    assert by_option["min_macro_f1"]["met"]
    assert by_option["min_class_f1"]["label"] == "Person"
    failing = {sample["id"] for sample in by_option["min_each"]["failing"]}
    assert len(failing) == round(40 * (1 - by_option["min_each"]["value"]))
    failures = failed_cases(folder / "check.xml")
    assert failures == {"f1 of Person", "samples right under 80 % of wordings", *failing}
    root = ET.parse(folder / "check.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == (str(4 + len(failing)), str(len(failures)))
    text = page.read_text("utf-8")
    assert text.startswith("before\n### psopt check: 2 of 4 bounds missed\n")
    assert text.count("\n| kept |") == 2
    assert f" and {len(failing) - 10} more" in text


def test_samples_that_a_bound_allows_to_fail_are_skipped_and_no_failures(folder: Path) -> None:
    check(folder, "--each", "1", "--min-each", "0", "--junit", "skipped.xml", code=0)
    root = ET.parse(folder / "skipped.xml").getroot()
    assert root.get("failures") == "0"
    assert int(root.get("tests", 0)) == 1 + int(root.get("skipped", 0)) > 1


def test_a_file_of_an_earlier_check_is_replaced_whole_and_a_page_that_can_not_be_written_is_a_warning(
    folder: Path,
) -> None:
    (folder / "reports").mkdir()
    (folder / "reports" / "check.xml").write_text("x" * 100_000)
    nowhere = str(folder / "nowhere" / "page.md")
    done = check(folder, "--min-f1", "0", "--junit", "reports/check.xml", GITHUB_STEP_SUMMARY=nowhere, code=0)
    assert "Warning: the summary $GITHUB_STEP_SUMMARY can't be written: No such file or directory\n" in done.stderr
    assert failed_cases(folder / "reports" / "check.xml") == set()
    assert [path.name for path in (folder / "reports").iterdir()] == ["check.xml"]


def test_junit_is_xml_and_a_summary_a_table_whatever_the_texts_hold(folder: Path, monkeypatch: Any) -> None:
    held = (
        Threshold("min_class_f1", 0.5, 0.4, label=HOSTILE),
        Threshold("min_each", 1.0, 0.5, each=0.8, n_rephrasings=5, failing=(FailingSample(HOSTILE, HOSTILE, 0.2),)),
        Threshold("rests_on_na", 0.2, 0.5, note=HOSTILE),
    )
    measured = api.check
    monkeypatch.setattr(api, "check", lambda *given, **more: replace(measured(*given, **more), thresholds=held))
    file = HOSTILE.translate(dict.fromkeys((0, 0xD800))) + ".csv"  # which no name of a file may hold
    (folder / file).write_bytes((folder / "data.csv").read_bytes())
    words = ("--dataset", file, "--model", "sim/na=0.5", "--min-f1", "0", "--junit", "hostile.xml")
    psopt(folder, "check", *words, code=1, GITHUB_STEP_SUMMARY=str(folder / "hostile.md"))
    root, text = ET.parse(folder / "hostile.xml"), (folder / "hostile.md").read_text("utf-8")
    (name,) = [case.get("name") for case in root.iter("testcase") if case.get("classname") == "psopt.check.samples"]
    assert name == 'a]]>b<&"\\x00\\x1b[31m|`*\n\\ud800\\ufffe é 漢'
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 3
    assert {row.replace("\\|", "").count("|") for row in rows} == {8}
    assert "\x1b" not in text
    assert r"\<\&" in text


def test_pinned_samples_fail_a_check_with_their_ids(folder: Path) -> None:
    arguments = ("--dataset", "pinned.csv", "--pinned-column", "keep", "--pin", "val5")
    wrong = check(folder, *arguments, "--model", "sim/accuracy=0.3", "--junit", "pinned.xml", "--json", code=1)
    (of_pinned,) = json.loads(wrong.stdout)["checks"]
    assert (of_pinned["option"], of_pinned["n_samples"]) == ("pinned", 3)
    failing = {sample["id"] for sample in of_pinned["failing"]}
    assert failing <= {"test3", "train4", "val5"}
    assert failed_cases(folder / "pinned.xml") == {"pinned samples right under all wordings", *failing}
    right = check(folder, *arguments, "--model", "sim/accuracy=1,wobble=0,na=0", code=0)
    assert "ok: pinned samples right under all wordings 100.0 >= 100" in right.stdout


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
    github = {"GITHUB_ACTION_PATH": str(ROOT), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    env = {**os.environ, **variables, **github}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    code = subprocess.run(script, env=env, cwd=tmp_path, check=False).returncode
    return code, told.read_text().splitlines() if told.exists() else []


def test_the_action_installs_its_own_revision_and_checks_with_words_as_they_were_quoted_and_runs_none_of_them(
    tmp_path: Path,
) -> None:
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
    assert all("${{" not in step.get("run", "") for step in STEPS)

    (tmp_path / "told").unlink()
    left_open = {"arguments": "--max-sensitivity .1 --pin it's --min-f1 .8"}
    assert run_step(STEPS[2], tmp_path, "psopt", left_open) == (2, [])
    for extras, suffix in (("", ""), ("local,dspy", "[local,dspy]")):  # it installs its own revision
        _, words = run_step(STEPS[1], tmp_path, "python", {"extras": extras})
        assert words == ["-m", "pip", "install", "--quiet", f"{ROOT}{suffix}"]


def test_the_action_s_options_are_the_command_s_and_its_inputs_are_in_the_guide_and_so_is_the_hook() -> None:
    known = {flag for one in command_line().load("check").params for flag in one.opts}
    assert set(re.findall(r"--[a-z]+(?:-[a-z]+)*", STEPS[2]["run"])) <= known
    told = dict(re.findall(r"^\| `([\w-]+)` \| (.+?) \|$", GUIDE.split("## GitHub")[1].split("\n## ")[0], re.MULTILINE))
    assert told == {name: one["description"] for name, one in ACTION["inputs"].items()}
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert (hook["entry"], hook["language"], hook["pass_filenames"]) == ("psopt check", "python", False)
    assert f"id: {hook['id']}" in GUIDE
