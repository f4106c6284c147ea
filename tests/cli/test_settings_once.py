"""An option is declared once: what is a flag is a keyword and a key of a file, too."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

import jsonschema
import psopt
import pytest
from psopt.cli import command_line, main
from psopt.errors import InputError
from psopt.settings import DataOptions, RunOptions, SizeOptions, check_keywords, leaves

from tests.commands import psopt as psopt_in

if TYPE_CHECKING:
    from pathlib import Path

SMALL = 'dataset = "trec"\nmodel = "sim"\ntrials = 2\nrounds = 1\nsamples = 12\nrephrasings = 3\n'
PYTHON = ("dataset", "prompt", "prompt_format", "answer", "response_format", "model", "program", "log", "out")
HERE = ("cache_dir", "dry_run", "go_on", "force", "as_json", "quiet", "verbose", "config", "help_all", "heldout_from")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "psopt.toml").write_text(f'{SMALL}\n[models]\nmax-tokens = 99\nheader = {{ X-Team = "a" }}\n')
    return tmp_path


@pytest.mark.parametrize("verb", ["optimize", "diagnose", "check", "classify"])
def test_help_shows_few_options_and_help_all_forty_beside_those_of_a_file(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def listed(flag: str) -> dict[str, list[str]]:
        """The options that help shows, by panel."""
        with pytest.raises(SystemExit):
            main([verb, flag])
        panels = re.split(r"^[+╭][-─]+ (.+?) [-─]+[+╮]$", capsys.readouterr().out, flags=re.MULTILINE)[1:]
        return {
            name: re.findall(r"^[|│] (--[\w-]+)", text, re.MULTILINE)
            for name, text in zip(panels[::2], panels[1::2], strict=True)
        }

    few, everything = listed("--help"), listed("--help-all")
    assert 5 < sum(map(len, few.values())) <= (18 if verb == "optimize" else 30)
    assert 15 < sum(len(options) for panel, options in everything.items() if "file" not in panel) <= 40


def test_a_file_s_options_stand_where_no_flag_is_given(folder: Path) -> None:
    given = ["--config", "psopt.toml", "--trials", "3", "--out", "run", "--json"]
    done = psopt_in(folder, "optimize", *given, code=0)
    settings = json.loads(done.stdout)["settings"]
    assert (settings["trials"], settings["samples"], settings["lm"]["max_tokens"]) == (3, 12, 99)
    assert settings["lm"]["headers"] == {"X-Team": None}


def test_one_file_does_for_several_commands(folder: Path) -> None:
    done = psopt_in(folder, "check", "--config", "psopt.toml", "--max-sensitivity", "1", "--json", code=0)
    assert json.loads(done.stdout)["n_rephrasings"] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trails = 3", "--config psopt.toml: there is no option 'trails'; did you mean 'trials'?"),
        ('dataset = "trec"\ntrials = 0', "'--trials': a whole number of 1 or more is expected, not '0'"),
        ("trials = ", "--config psopt.toml is no valid TOML"),
        ('dataset = "trec"\nrace = "of"', "'of' is not one of auto, on, strict, off"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_a_line(folder: Path, text: str, message: str) -> None:
    (folder / "psopt.toml").write_text(text)
    done = psopt_in(folder, "optimize", "--config", "psopt.toml", code=2)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_is_not_there_is_said(folder: Path) -> None:
    done = psopt_in(folder, "optimize", "--config", "none.toml")
    assert (done.returncode, done.stderr.count("--config none.toml can't be read")) == (2, 1)


def test_python_takes_the_same_names(folder: Path) -> None:
    keywords = tomllib.loads(SMALL + "max_tokens = 99\n")
    task = psopt.load_task(keywords.pop("dataset"))
    run = psopt.optimize(task, **keywords, out=folder / "run", cache_dir=folder)
    settings = json.loads((run.path / "run.json").read_text("utf-8"))["settings"]
    assert (settings["trials"], settings["rounds"], settings["lm"]["max_tokens"]) == (2, 1, 99)


@pytest.mark.parametrize("verb", [psopt.optimize, psopt.estimate, psopt.diagnose, psopt.check, psopt.measure])
def test_a_keyword_that_is_no_option_is_refused_with_the_nearest(verb: Any) -> None:
    with pytest.raises(InputError, match="there is no option 'rephrasngs'; did you mean 'rephrasings'"):
        verb(psopt.load_task("trec"), rephrasngs=3)


def test_every_flag_of_optimize_is_a_keyword() -> None:
    names = {str(one.name) for one in command_line().load("optimize").params}
    of_load_task = {leaf.key for leaf in leaves(DataOptions)}
    check_keywords(dict.fromkeys(names - of_load_task - {*PYTHON, *HERE}), RunOptions, SizeOptions)


@pytest.mark.parametrize(
    ("name", "message"), [("trials", "trials must be a number, not 'x'"), ("race", "unknown race")]
)
def test_a_keyword_of_another_type_is_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        psopt.optimize(psopt.load_task("trec"), **{name: "x"})  # type: ignore[arg-type]


def test_help_all_shows_what_help_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for flag in ("--help", "--help-all"):
        with pytest.raises(SystemExit):
            main(["optimize", flag])
        shown[flag] = capsys.readouterr().out
    assert "--batch-size" not in shown["--help"]
    assert "--batch-size" in shown["--help-all"]


def test_a_schema_tells_editors_what_a_file_may_hold(folder: Path) -> None:
    schema = json.loads(psopt_in(folder, "schema", "config").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(tomllib.loads((folder / "psopt.toml").read_text()))
    assert not validator.is_valid({"trials": 0})
    assert schema["properties"]["race"]["enum"] == ["auto", "on", "strict", "off"]
