"""An option is declared once: what is a flag is a keyword and a key of a file, too, and agents are told of it."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

import jsonschema
import psopt
import pytest
from psopt.cli import command_line
from psopt.cli._config_file import config_schema
from psopt.errors import InputError
from psopt.settings import DataOptions, RunOptions, SizeOptions, check_keywords, leaves

from tests.cli.telling import check_refused
from tests.commands import psopt as psopt_in
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

SMALL = 'dataset = "trec"\nmodel = "sim"\ntrials = 2\nrounds = 1\nsamples = 12\nrephrasings = 3\n'
OF_ALL = """
dataset = "trec"
model = ["sim"]
model2 = ["sim/na=0"]
vary = "typos,case"
drop_labels = true
verbose = true
wordings = 3
abstain = 0.2
target_f1 = 0.9
to_label = 3
suspects = true
port = 80
samples = 12
extra_body = { top_k = 1 }
[files]
into = "module.py"
html = "page.html"
"""
WRONG = {"trials": 0, "min_f1": True, "junit": 3, "plain": "yes", "race": "of", "trails": 3}
PYTHON = ("dataset", "prompt", "prompt_format", "answer", "response_format", "model", "program", "log", "out")
HERE = ("cache_dir", "dry_run", "go_on", "force", "as_json", "quiet", "verbose", "config", "help_all", "heldout_from")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "psopt.toml").write_text(f'{SMALL}\n[models]\nmax-tokens = 99\nheader = {{ X-Team = "a" }}\n')
    return tmp_path


def listed(folder: Path, verb: str, flag: str) -> list[tuple[str, str]]:
    """The options that help shows, each with its panel."""
    shown = psopt_in(folder, verb, flag, code=0).stdout
    panels = re.split(r"^[+╭][-─]+ (.+?) [-─]+[+╮]$", shown, flags=re.MULTILINE)[1:]
    texts = zip(panels[::2], panels[1::2], strict=True)
    return [(panel, option) for panel, text in texts for option in re.findall(r"^[|│] (--[\w-]+)", text, re.MULTILINE)]


@each("verb", ["optimize", "diagnose", "check", "classify"])
def test_help_shows_few_options_and_help_all_forty_beside_those_of_a_file(verb: str, tmp_path: Path) -> None:
    few, everything = listed(tmp_path, verb, "--help"), listed(tmp_path, verb, "--help-all")
    assert 5 < len(few) <= (18 if verb == "optimize" else 30)
    assert 15 < sum("file" not in panel for panel, _ in everything) <= 40
    of_files = {option for _, option in everything} - {option for _, option in few}
    assert ("--batch-size" in of_files) or verb != "optimize"


def test_a_file_s_options_stand_where_no_flag_is_given_and_one_does_for_several_commands(folder: Path) -> None:
    given = ["--config", "psopt.toml", "--trials", "3", "--out", "run", "--json"]
    settings = json.loads(psopt_in(folder, "optimize", *given, code=0).stdout)["settings"]
    assert (settings["trials"], settings["samples"], settings["lm"]["max_tokens"]) == (3, 12, 99)
    assert settings["lm"]["headers"] == {"X-Team": None}
    done = psopt_in(folder, "check", "--config", "psopt.toml", "--max-sensitivity", "1", "--json", code=0)
    assert json.loads(done.stdout)["n_rephrasings"] == 3


@each(
    "text, message",
    [
        ("plain = true\nstructured = true", "--config psopt.toml: 'structured' is set twice"),
        ("trails = 3", "--config psopt.toml: there is no option 'trails'; did you mean 'trials'?"),
        ('dataset = "trec"\ntrials = 0', "'--trials': a whole number of 1 or more is expected, not '0'"),
        ("trials = ", "--config psopt.toml is no valid TOML"),
        ("min_f1 = 3\nmax_cost = true", "--config psopt.toml: 'max_cost' takes a value, not true or false"),
        ("out = 3", "--config psopt.toml: 'out' takes a path, in quotes"),
        ('plain = "yes"', "--config psopt.toml: 'plain' takes true or false"),
        (None, "--config psopt.toml can't be read"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_a_line(tmp_path: Path, text: str | None, message: str) -> None:
    (tmp_path / "psopt.toml").unlink(missing_ok=True)
    if text is not None:
        (tmp_path / "psopt.toml").write_text(text)
    check_refused(psopt_in(tmp_path, "optimize", "--config", "psopt.toml"), message)


def test_options_of_other_commands_are_passed_over_and_a_switch_is_turned_off_by_its_other_name(tmp_path: Path) -> None:
    data = tomllib.loads(OF_ALL)
    assert jsonschema.Draft202012Validator(config_schema()).is_valid(data)
    (tmp_path / "psopt.toml").write_text(OF_ALL)
    given = ["--config", "psopt.toml", "--dry-run"]
    for words in (["diagnose"], ["check", "--max-sensitivity", "1"], ["rephrase"]):
        assert psopt_in(tmp_path, *words, *given, code=0).stdout
    (tmp_path / "psopt.toml").write_text(f"{SMALL}plain = true\nout = 'run'\njson = true\n")
    done = psopt_in(tmp_path, "optimize", "--config", "psopt.toml", code=0)
    assert json.loads(done.stdout)["settings"]["lm"]["structured"] is False


def test_a_keyword_that_is_no_option_or_of_another_type_is_refused() -> None:
    task = psopt.load_task("trec")
    verbs: list[Any] = [psopt.optimize, psopt.estimate, psopt.diagnose, psopt.check, psopt.measure]
    for verb in verbs:
        with pytest.raises(InputError, match="there is no option 'rephrasngs'; did you mean 'rephrasings'"):
            verb(task, rephrasngs=3)
    of_optimize = {"trials": "trials must be a whole number, not 'x'", "race": "unknown race", "gate": "unknown gate"}
    for name, message in of_optimize.items():
        with pytest.raises(InputError, match=message):
            psopt.optimize(task, **{name: "x"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"lm takes LMConfig\(..\), not"):
        psopt.measure(task, lm={"max_calls": 5})
    with pytest.raises(InputError, match=r"options takes MeasureOptions\(..\), not"):
        psopt.measure(task, options={"rephrasings": 5})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a run must be a path, not 3"):
        psopt.load_run(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="description must be a text, not 5"):
        dataclasses.replace(task, description=5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the prompt is empty"):
        psopt.diagnose(task, "")
    with pytest.raises(InputError, match="structured must be true or false, not 'no'"):
        psopt.measure(task, structured="no")
    for name, least in (("rephrasings", 1), ("samples", 2), ("seed", 0)):
        with pytest.raises(InputError, match=f"{name} must be at least {least}, not {least - 1}"):
            psopt.measure(task, **{name: least - 1})  # type: ignore[arg-type]


def test_every_flag_of_optimize_is_a_keyword() -> None:
    names = {str(one.name) for one in command_line().load("optimize").params}
    of_load_task = {leaf.key for leaf in leaves(DataOptions)}
    check_keywords(dict.fromkeys(names - of_load_task - {*PYTHON, *HERE}), RunOptions, SizeOptions)


def test_a_schema_tells_editors_what_a_file_may_hold(folder: Path) -> None:
    schema = json.loads(psopt_in(folder, "schema", "config").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(tomllib.loads((folder / "psopt.toml").read_text()))
    assert [key for key, value in WRONG.items() if validator.is_valid({key: value})] == []
    assert schema["properties"]["race"]["enum"] == ["auto", "on", "strict", "off"]


def test_skill_prints_a_skill_file_and_writes_one_where_an_agent_looks(tmp_path: Path) -> None:
    done = psopt_in(tmp_path, "skill", columns=200, code=0)
    head, _, body = done.stdout.removeprefix("---\n").partition("---\n")
    assert re.match(r"name: psopt\ndescription: \S.{50,}\n$", head)
    assert body.isascii()  # any terminal shows it
    assert json.loads(psopt_in(tmp_path, "skill", "--json", columns=200).stdout)["text"] == done.stdout
    psopt_in(tmp_path, "skill", "--out", "skills/psopt/SKILL.md", columns=200, code=0)
    assert (tmp_path / "skills/psopt/SKILL.md").read_text() == done.stdout
    (tmp_path / "file").write_text("")
    check_refused(psopt_in(tmp_path, "skill", "--out", "file/SKILL.md", columns=200))


def test_every_command_and_option_that_a_skill_names_is_there(tmp_path: Path) -> None:
    text = psopt_in(tmp_path, "skill", columns=200).stdout
    spans = re.findall(r"`([^`]+)`", text)
    named = {words[1] for words in (span.split() for span in spans) if words[0] == "psopt" and len(words) > 1}
    assert named >= {"diagnose", "optimize", "resume", "export", "check"}
    assert named <= set(command_line().commands)
    helps = {name: psopt_in(tmp_path, name, "--help-all", columns=200).stdout for name in named - {"data", "models"}}
    helps |= {name: psopt_in(tmp_path, name, "--help", columns=200).stdout for name in named - helps.keys()}
    everything = "".join(helps.values())
    for span in spans:
        words = span.split()
        said = helps.get(words[1], everything) if words[0] == "psopt" and len(words) > 1 else everything
        for option in re.findall(r"(?<!\S)--[a-z][a-z0-9-]+", span):
            assert re.search(rf"{option}(?![a-z0-9-])", said), f"{span}: there is no {option}"
