"""`psopt export` of a prompt of the user's own: the file, what changed, whether it gives the same answers."""

from __future__ import annotations

import functools
import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from tests.cli.telling import check_refused
from tests.commands import psopt
from tests.fake_server import FakeServer
from tests.sweeps import each

OWN = Path(__file__).resolve().parents[2] / "examples" / "own_prompt"
ORIGINAL = (OWN / "sections.md").read_text()
COLUMNS = ["--input", "subject", "--input", "body", "--label-column", "team"]
SIZES = ["--rephrasings", "2", "--samples", "8", "--trials", "6", "--rounds", "1", "--effort", "full"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, FakeServer]]:
    """A folder with a run from the prompt sections.md on a copy of mail.csv, and the server that has answered."""
    folder = tmp_path_factory.mktemp("export")
    for name in ("mail.csv", "sections.md"):
        shutil.copy(OWN / name, folder)
    (folder / "prices.toml").write_text('"openai/m" = { in = 1, out = 2 }')
    told = {"task": str(folder / "mail.csv"), "inputs": "subject,body", "label_column": "team"}
    with FakeServer(answer="knows", **told) as server:
        given = ["--dataset", "mail.csv", *COLUMNS, "--prompt", "sections.md", "--proposer", "rules", *SIZES]
        model = ["--model", "openai/m", "--api-base", server.url]
        run_psopt(folder, "optimize", *given, *model, "--out", "run", code=0)
        yield folder, server


def run_psopt(folder: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return psopt(folder, *words, PSOPT_PRICES=str(folder / "prices.toml"), OPENAI_API_KEY="none", **more)


@pytest.fixture(scope="module")
def export(made: tuple[Path, FakeServer]) -> Any:
    """Exports that run's prompt with the longest text."""
    folder, _ = made
    front = json.loads((folder / "run" / "front.json").read_text())["prompts"]
    longest = max(front, key=lambda entry: len(entry["edits"]))["id"]
    return functools.partial(run_psopt, folder, "export", "run", "--pick", longest)


@pytest.fixture(scope="module")
def whole(export: Any) -> Any:
    """All that is said of it."""
    return json.loads(export("--json", "--diff", "--verify", "2", code=0).stdout)


def test_the_file_comes_back_with_additions_under_a_name_of_its_own(export: Any, whole: Any, tmp_path: Path) -> None:
    done = export(code=0)
    assert done.stdout == whole["text"]
    lines = iter(done.stdout.splitlines())
    assert all(line in lines for line in ORIGINAL.splitlines())
    assert "tokens per call" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert whole["call"]["after"]["tokens_a_call"] > whole["call"]["before"]["tokens_a_call"]
    named = export("--out", str(tmp_path), code=0).stdout
    (file,) = tmp_path.glob("*.md")
    assert named.strip() == str(file)
    assert file.read_bytes().decode() == done.stdout
    file.unlink()
    shown = json.loads(export("--out", str(file), "--json", "--format", "openai").stdout)["text"]
    assert file.read_text() == shown
    assert json.loads(shown)[0]["role"] == "user"


def test_what_changed_is_a_plain_diff_in_a_pipe_and_has_colours_on_a_terminal(export: Any, whole: Any) -> None:
    diff = export("--diff", code=0).stdout
    assert diff == whole["diff"]
    assert "\x1b" not in diff
    lines = diff.splitlines()
    assert {line[:1] for line in lines[2:]} == {"@", " ", "+"}
    assert all(line[1:] in whole["text"].splitlines() for line in lines[2:] if line.startswith("+"))
    coloured = export("--diff", FORCE_COLOR="1", NO_COLOR="").stdout.splitlines()
    for line, shown in list(zip(lines, coloured, strict=True))[3:]:
        assert shown == (f"\x1b[32m{line}\x1b[0m" if line.startswith("+") else line)


def test_its_answers_are_the_runs_and_are_asked_for_but_once(
    export: Any, whole: Any, made: tuple[Path, FakeServer], tmp_path: Path
) -> None:
    folder, server = made
    asked = server.counts()
    for form in ([], ["--format", "openai"], ["--format", "json"]):
        done = export("--verify", "5", *form, code=0)
        assert "reproduces 5 of 5 answers (0 asked for, 5 known already)" in done.stderr
    assert server.counts() == asked
    assert whole["verification"]["reproduced"] == whole["verification"]["asked"] == 2
    check_refused(export("--verify", "3", "--cache-dir", str(tmp_path), "--max-calls", "1"), code=3)
    for file, words, said in (
        ("mail.csv", ["--verify", "2"], "--verify needs the data of the run"),
        ("run/samples.json", [], "has no samples.json: write it anew with `psopt resume run`"),
    ):
        away = (folder / file).rename(folder / "away")
        refused = export(*words)
        away.rename(folder / file)
        check_refused(refused, said)


def test_to_read_it_is_its_messages_with_additions_marked(whole: Any, made: tuple[Path, FakeServer]) -> None:
    folder = made[0] / "run"
    shown = (folder / "prompts" / f"{whole['id']}.txt").read_text()
    assert [line[2:] for line in shown.rstrip().splitlines()] == whole["text"].rstrip().splitlines()
    added = [line[2:] for line in shown.splitlines() if line.startswith("+ ")]
    assert added
    page = (folder / "report.html").read_text()
    for line in added:
        assert f"<mark>{line}</mark>" in html.unescape(page)
    assert "USD per 1,000 calls" in page
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder / 'study.db'}")
    notes = str(storage.get_study_system_attrs(storage.get_all_studies()[0]._study_id))
    assert "```diff" in notes
    assert "Answer with exactly one of these labels" not in notes + page + shown


def test_other_answers_are_counted_named_and_exit_code_1(
    export: Any, whole: Any, made: tuple[Path, FakeServer]
) -> None:
    file = made[0] / "run" / "predictions" / f"{whole['id']}.npz"
    kept = file.read_bytes()
    with np.load(file) as arrays:
        content = {name: arrays[name] for name in arrays}
    content["val"] = (content["val"] + 1) % 4
    np.savez_compressed(file, **content)
    done = export("--verify", "3", code=1)
    file.write_bytes(kept)
    assert "reproduces 0 of 3 answers" in done.stderr
    assert done.stderr.count("in the run") == 3


def test_each_edit_says_why_and_may_be_left_out(export: Any, whole: Any) -> None:
    reasons = export("--why").stdout
    first, *others = re.findall(r"^(\w{9})  (?:note|definition|example)", reasons, re.MULTILINE)
    assert reasons.count("drawn from") == len([first, *others])
    text = export("--without", first, code=0).stdout
    less = json.loads(export("--without", first, "--json").stdout)
    assert less["text"] == text
    psopts = export("--without", first, "--format", "json")
    assert json.loads(psopts.stdout)["measured"]["val"] is None
    assert "without these edits it was not measured" in psopts.stderr
    assert less["id"] != whole["id"]
    assert [edit["id"] for edit in less["edits"]] == [edit["id"] for edit in whole["edits"] if edit["id"] != first]
    assert set(text.splitlines()) < set(whole["text"].splitlines())
    assert export(*(word for name in (first, *others) for word in ("--without", name))).stdout == ORIGINAL


@each(
    "words, message",
    [
        (["--without", "n00000000"], "has no edit 'n00000000'"),
        (["--format", "dspy", "--verify", "2"], "--verify is for a prompt's text"),
        (["--out", "nowhere/prompt.md"], "can't be written"),
        (["--why", "--out", "reasons.txt"], "leave --out out"),
        (["--verify", "0"], "1 or more"),
    ],
)
def test_what_can_t_be_done_is_one_line(export: Any, words: list[str], message: str) -> None:
    check_refused(export(*words), message)
