"""`psopt export` of a prompt of the user's own: the file, what changed, whether it gives the same answers."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
import pytest
from psopt.api import run as run_settings
from psopt.cli import main
from psopt.models.chat import LMConfig
from psopt.runs import RunSettings, load_data
from psopt.search_spaces import Prompt
from psopt.settings import DataOptions, SearchOptions
from psopt.tasks import fields_of
from psopt.templates import read_template

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = Path(__file__).resolve().parents[2] / "examples" / "own_prompt"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, FakeServer]]:
    """A run from the prompt sections.md on a copy of mail.csv, and the server that has answered."""
    folder = tmp_path_factory.mktemp("export")
    shutil.copy(OWN / "mail.csv", folder)
    data = DataOptions(str(folder / "mail.csv"), inputs=("subject", "body"), label_column="team")
    task = load_data(data, 42)
    columns = list(fields_of(task.train[0].text))
    template = read_template(OWN / "sections.md", columns, labels=task.labels)
    prompt = Prompt(template.description, task.labels, "mail", template=template.template)
    (folder / "prices.toml").write_text('"openai/m" = { in = 1, out = 2 }')
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("PSOPT_PRICES", str(folder / "prices.toml"))
    told = {"task": data.dataset, "inputs": "subject,body", "label_column": "team"}
    with FakeServer(answer="sim/accuracy=0.6,wobble=0.4", **told) as server:
        lm = LMConfig(api_base=server.url)
        settings = RunSettings(
            data,
            "openai/m",
            rephrasings=2,
            samples=8,
            search=SearchOptions(trials=6, rounds=1),
            lm=lm,
            prompt=prompt,
            proposer="rules",
        )
        run_settings(task, settings, out=folder / "run", cache_dir=folder / "cache")
        yield folder, server
    monkeypatch.undo()


@pytest.fixture
def export(made: tuple[Path, FakeServer], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Export that run's prompt with the longest text; returns the exit code, what was printed and what was said."""
    folder, _ = made
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(folder / "cache"))
    front = json.loads((folder / "run" / "front.json").read_text())["prompts"]
    longest = max(front, key=lambda entry: len(entry["edits"]))["id"]

    def run(*words: str, pick: str = longest) -> tuple[Any, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["export", str(folder / "run"), "--pick", pick, *words])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return run


def test_the_file_comes_back_with_additions_and_its_length_is_said(export: Any) -> None:
    code, text, said = export()
    assert code == 0
    lines = iter(text.splitlines())
    assert all(line in lines for line in (OWN / "sections.md").read_text().splitlines())
    assert "tokens per call" in said
    assert len(said.splitlines()) == 1


def test_what_changed_is_a_plain_diff_in_a_pipe(export: Any) -> None:
    _, text, _ = export()
    code, diff, _ = export("--diff")
    assert code == 0
    assert "\x1b" not in diff
    marks = {line[:1] for line in diff.splitlines()[2:]}
    assert marks == {"@", " ", "+"}
    assert all(line[1:] in text.splitlines() for line in diff.splitlines()[2:] if line.startswith("+"))


def test_what_changed_has_colours_on_a_terminal(export: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = export("--diff")[1].splitlines()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = export("--diff")[1].splitlines()
    for line, shown in list(zip(plain, coloured, strict=True))[3:]:
        assert shown == (f"\x1b[32m{line}\x1b[0m" if line.startswith("+") else line)


def test_its_answers_are_the_runs_and_are_asked_for_but_once(export: Any, made: tuple[Path, FakeServer]) -> None:
    server = made[1]
    asked = server.counts()
    for form in ([], ["--format", "openai"], ["--format", "json"]):
        code, _, said = export("--verify", "5", *form)
        assert code == 0
        assert "reproduces 5 of 5 answers (0 asked for, 5 known already)" in said
    assert server.counts() == asked


def test_to_read_it_is_its_messages_with_additions_marked(export: Any, made: tuple[Path, FakeServer]) -> None:
    folder = made[0] / "run"
    text = export()[1].rstrip()
    longest = export("--json")[1]
    shown = (folder / "prompts" / f"{json.loads(longest)['id']}.txt").read_text()
    assert [line[2:] for line in shown.rstrip().splitlines()] == text.splitlines()
    added = [line[2:] for line in shown.splitlines() if line.startswith("+ ")]
    assert added
    page = (folder / "report.html").read_text()
    for line in added:
        assert f"<mark>{html.escape(line, quote=False)}</mark>" in page.replace("&#34;", '"')
    assert "USD per 1,000 calls" in page
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder / 'study.db'}")
    notes = str(storage.get_study_system_attrs(storage.get_all_studies()[0]._study_id))
    assert "```diff" in notes
    assert "Answer with exactly one of these labels" not in notes + page + shown


def test_other_answers_are_counted_named_and_exit_code_1(export: Any, made: tuple[Path, FakeServer]) -> None:
    (file,) = [
        path
        for path in (made[0] / "run" / "predictions").iterdir()
        if path.stem == json.loads(export("--json")[1])["id"]
    ]
    kept = file.read_bytes()
    with np.load(file) as arrays:
        content = {name: arrays[name] for name in arrays}
    content["val"] = (content["val"] + 1) % 4
    np.savez_compressed(file, **content)
    code, _, said = export("--verify", "3")
    file.write_bytes(kept)
    assert code == 1
    assert "reproduces 0 of 3 answers" in said
    assert said.count("in the run") == 3


def test_verifying_respects_limits(export: Any, tmp_path: Path) -> None:
    code, text, said = export("--verify", "3", "--cache-dir", str(tmp_path), "--max-calls", "1")
    assert code == 3
    assert text == ""
    assert len(said.splitlines()) == 1


def test_it_is_written_under_a_name_of_its_own(export: Any, tmp_path: Path) -> None:
    text = export()[1]
    code, named, _ = export("--out", str(tmp_path))
    assert code == 0
    (file,) = tmp_path.iterdir()
    assert named.strip() == str(file)
    assert file.suffix == ".md"
    assert file.read_bytes().decode() == text


def test_as_json_it_says_all_of_that(export: Any) -> None:
    said = json.loads(export("--json", "--diff", "--verify", "2")[1])
    assert said["text"] == export()[1]
    assert said["diff"] == export("--diff")[1]
    assert said["verification"]["reproduced"] == said["verification"]["asked"] == 2
    assert said["call"]["after"]["tokens_a_call"] > said["call"]["before"]["tokens_a_call"]


def test_each_edit_says_why_and_may_be_left_out(export: Any) -> None:
    _, reasons, _ = export("--why")
    first, *others = re.findall(r"^(\w{9})  (?:note|definition|example)", reasons, re.MULTILINE)
    assert reasons.count("drawn from") == len([first, *others])
    whole = json.loads(export("--json")[1])
    code, text, _ = export("--without", first)
    less = json.loads(export("--without", first, "--json")[1])
    assert code == 0
    assert less["text"] == text
    assert less["id"] != whole["id"]
    assert [edit["id"] for edit in less["edits"]] == [edit["id"] for edit in whole["edits"] if edit["id"] != first]
    assert set(text.splitlines()) < set(whole["text"].splitlines())
    _, original, _ = export(*(word for name in (first, *others) for word in ("--without", name)))
    assert original == (OWN / "sections.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--without", "n00000000"], "has no edit 'n00000000'"),
        (["--pick", "zzzz"], "unknown prompt of the front 'zzzz'"),
        (["--format", "dspy", "--verify", "2"], "--verify is for a prompt's text"),
        (["--format", "dspy", "--diff"], "--diff is for a prompt's text"),
        (["--out", "nowhere/prompt.md"], "can't be written"),
        (["--verify", "0"], "1 or more"),
    ],
)
def test_what_can_t_be_done_is_one_line(export: Any, words: list[str], message: str) -> None:
    code, text, said = export(*words)
    assert code == 2
    assert message in said
    assert text == ""
    assert len(said.splitlines()) == 1


def test_without_the_data_nothing_can_be_verified(export: Any, made: tuple[Path, FakeServer]) -> None:
    data = made[0] / "mail.csv"
    data.rename(data.with_suffix(".away"))
    code, _, said = export("--verify", "2")
    data.with_suffix(".away").rename(data)
    assert code == 2
    assert "--verify needs the data of the run" in said
    assert len(said.splitlines()) == 1
