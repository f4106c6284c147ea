"""What programs are told: what `--json` prints and a run leaves is what schemas say; options are declared once.

What is a flag is a keyword and a key of a file, too, and agents are told of it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import re
import signal
import socket
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

import jsonschema
import psopt as library
import pytest
from psopt.cli import command_line
from psopt.cli._config_file import config_schema
from psopt.errors import InputError
from psopt.settings import DataOptions, RunOptions, SizeOptions, check_keywords, leaves

from tests import commands
from tests.cli.conftest import TREC
from tests.cli.telling import check_refused
from tests.fake_server import FakeServer
from tests.processes import Process
from tests.sweeps import each
from tests.waiting import wait_until

PRINTED = {
    "resume": ["resume", "run"],
    "dry-run": ["optimize", *TREC, "--trials", "4", "--dry-run"],
    "diagnose": ["diagnose", *TREC],
    "compare": ["compare", *TREC, "--model2", "sim/accuracy=0.9"],
    "check": ["check", *TREC, "--min-f1", "0", "--max-sensitivity", "1", "--each", ".1", "--min-each", "0"],
    "check-fresh": ["check", "--baseline", "run", "--fresh", "texts.txt"],
    "classify": ["classify", "--prompt", "run", "texts.txt"],
    "rephrase": ["rephrase", "--dataset", "trec"],
    "rephrase-show": ["rephrase", "--prompt", "prompt.txt", "--show"],
    "report": ["report", "run"],
    "report-two": ["report", "run", "run"],
    "select": ["select", "run"],
    "export": ["export", "run", "--diff", "--verify", "5"],
    "migrate": ["migrate", "run", "--model", "sim/accuracy=0.9", "--no-search"],
    "data-list": ["data", "list"],
    "models-list": ["models", "list"],
    "skill": ["skill"],
    "completion": ["completion", "bash"],
}
# Run by the fixture; need others, or a network.
ELSEWHERE = {"optimize", "worker", "doctor", "dashboard", "serve", "data-fetch", "models-fetch"}
FILES = ["run.json", "front.json", "weak_spots.json"]


def psopt(folder: Path, *words: str) -> str:
    return commands.psopt(folder, *words, code=0).stdout


@pytest.fixture(scope="module")
def folder(trec_run: Path) -> Path:
    """A folder with a run in it, a prompt and texts."""
    (trec_run / "texts.txt").write_text("Who was he ?\nWhere is it ?\n")
    (trec_run / "prompt.txt").write_text("Classify the question.\n\n{text}\n")
    check("optimize", json.loads((trec_run / "printed.json").read_text("utf-8")))
    return trec_run


@functools.cache
def schema_of(name: str) -> Any:
    return json.loads(psopt(Path.cwd(), "schema", name))


def check(name: str, data: Any) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    faults = jsonschema.Draft202012Validator(schema).iter_errors(data)
    assert [f"{fault.json_path}: {fault.message[:200]}" for fault in faults] == []


@each("name", PRINTED)
def test_what_is_printed_is_what_its_schema_says(folder: Path, name: str) -> None:
    printed = psopt(folder, *PRINTED[name], "--json")
    documents = map(json.loads, printed.splitlines()) if name == "classify" else [json.loads(printed)]
    for data in documents:
        check(name, data)
        for entry in data if isinstance(data, list) else [data]:
            assert entry["schema_version"] == 1


def test_files_of_a_run_and_a_diagnosis_without_labels_are_what_their_schemas_say(folder: Path) -> None:
    for name in FILES:
        check(name, json.loads((folder / "run" / name).read_text("utf-8")))
    (folder / "bare.csv").write_text("text\n" + "".join(f"What is number {n} ?\n" for n in range(12)))
    (folder / "task.toml").write_text('description = "Classify the question."\nlabels = ["Number", "Person"]\n')
    words = ["--dataset", "bare.csv", "--task-file", "task.toml", "--model", "sim/", "--rephrasings", "2"]
    check("diagnose", json.loads(psopt(folder, "diagnose", *words, "--json")))


def test_what_doctor_and_a_worker_print_is_what_their_schemas_say(folder: Path) -> None:
    with FakeServer() as server:
        asked = ["doctor", "--model", "openai/any", "--api-base", server.url]
        check("doctor", json.loads(psopt(folder, *asked, "--json")))
    study = ["--storage", f"sqlite:///{folder}/shared.db", "--study-name", "shared"]
    psopt(folder, "optimize", *TREC, "--trials", "3", "--out", "shared", *study)
    check("worker", json.loads(psopt(folder, "worker", *study, "--json")))


def test_what_the_dashboard_prints_is_what_its_schema_says_and_it_serves_the_study(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["dashboard", "run", "--port", str(port), "--json"]
    served = Process(words, cwd=folder, env=commands.environment(folder))
    try:
        printed = json.loads(served.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)) as unfinished:  # as browsers open some ahead of need
            unfinished.sendall(b"GET / HTTP/1.1\r\n")
            studies = wait_until(lambda: summaries(f"{printed['url']}api/studies"), process=served)
            served.send_signal(signal.SIGTERM)
            _, said = served.communicate(timeout=60)
    finally:
        served.kill()
    assert (served.returncode, said) == (0, "")
    check("dashboard", printed)
    assert printed["url"] == f"http://127.0.0.1:{port}/"
    assert [study["study_name"] for study in studies] == ["run"]


def summaries(url: str) -> Any:
    """The studies that a dashboard shows, once it answers."""
    with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)["study_summaries"]
    return None


def test_every_command_has_a_schema_and_every_key_is_explained_and_no_other_allowed() -> None:
    commands = {name for name in command_line().commands if name not in {"schema", "data", "models"}}
    *outputs, config = psopt(Path.cwd(), "schema").split()
    assert config == "config"
    assert commands <= set(outputs)
    assert set(PRINTED) | ELSEWHERE | set(FILES) == set(outputs)
    for name in outputs:
        schema = schema_of(name)
        keys = schema.get("items", schema)["properties"].values()
        assert all(key["description"] and key.keys() - {"description"} for key in keys)
    with pytest.raises(AssertionError, match="surprise"):
        check("skill", {"schema_version": 1, "file": None, "text": "", "surprise": 1})


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
def configured(tmp_path: Path) -> Path:
    (tmp_path / "psopt.toml").write_text(f'{SMALL}\n[models]\nmax-tokens = 99\nheader = {{ X-Team = "a" }}\n')
    return tmp_path


def listed(configured: Path, verb: str, flag: str) -> list[tuple[str, str]]:
    """The options that help shows, each with its panel."""
    shown = commands.psopt(configured, verb, flag, code=0).stdout
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


def test_a_file_s_options_stand_where_no_flag_is_given_and_one_does_for_several_commands(configured: Path) -> None:
    given = ["--config", "psopt.toml", "--trials", "3", "--out", "run", "--json"]
    settings = json.loads(commands.psopt(configured, "optimize", *given, code=0).stdout)["settings"]
    assert (settings["trials"], settings["samples"], settings["lm"]["max_tokens"]) == (3, 12, 99)
    assert settings["lm"]["headers"] == {"X-Team": None}
    done = commands.psopt(configured, "check", "--config", "psopt.toml", "--max-sensitivity", "1", "--json", code=0)
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
        (
            'dataset = "trec"\ntrials = "x"',
            "--config psopt.toml: Invalid value for '--trials': a whole number of 1 or more is expected",
        ),
        ('plain = "yes"', "--config psopt.toml: 'plain' takes true or false"),
        (None, "--config psopt.toml can't be read"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_a_line(tmp_path: Path, text: str | None, message: str) -> None:
    (tmp_path / "psopt.toml").unlink(missing_ok=True)
    if text is not None:
        (tmp_path / "psopt.toml").write_text(text)
    check_refused(commands.psopt(tmp_path, "optimize", "--config", "psopt.toml"), message)


def test_options_of_other_commands_are_passed_over_and_a_switch_is_turned_off_by_its_other_name(tmp_path: Path) -> None:
    data = tomllib.loads(OF_ALL)
    assert jsonschema.Draft202012Validator(config_schema()).is_valid(data)
    (tmp_path / "psopt.toml").write_text(OF_ALL)
    given = ["--config", "psopt.toml", "--dry-run"]
    for words in (["diagnose"], ["check", "--max-sensitivity", "1"], ["rephrase"]):
        assert commands.psopt(tmp_path, *words, *given, code=0).stdout
    (tmp_path / "psopt.toml").write_text(f"{SMALL}plain = true\nout = 'run'\njson = true\n")
    done = commands.psopt(tmp_path, "optimize", "--config", "psopt.toml", code=0)
    assert json.loads(done.stdout)["settings"]["lm"]["structured"] is False


def test_a_keyword_that_is_no_option_or_of_another_type_is_refused() -> None:
    task = library.load_task("trec")
    verbs: list[Any] = [library.optimize, library.estimate, library.diagnose, library.check, library.measure]
    for verb in verbs:
        with pytest.raises(InputError, match="there is no option 'rephrasngs'; did you mean 'rephrasings'"):
            verb(task, rephrasngs=3)
    of_optimize = {"trials": "trials must be a whole number, not 'x'", "race": "unknown race", "gate": "unknown gate"}
    for name, message in of_optimize.items():
        with pytest.raises(InputError, match=message):
            library.optimize(task, **{name: "x"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"lm takes LMConfig\(..\), not"):
        library.measure(task, lm={"max_calls": 5})
    with pytest.raises(InputError, match=r"options takes MeasureOptions\(..\), not"):
        library.measure(task, options={"rephrasings": 5})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a run must be a path, not 3"):
        library.load_run(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="description must be a text, not 5"):
        dataclasses.replace(task, description=5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the prompt is empty"):
        library.diagnose(task, "")
    with pytest.raises(InputError, match="structured must be true or false, not 'no'"):
        library.measure(task, structured="no")
    for name, least in (("rephrasings", 1), ("samples", 2), ("seed", 0)):
        with pytest.raises(InputError, match=f"{name} must be at least {least}, not {least - 1}"):
            library.measure(task, **{name: least - 1})  # type: ignore[arg-type]


def test_every_flag_of_optimize_is_a_keyword() -> None:
    names = {str(one.name) for one in command_line().load("optimize").params}
    of_load_task = {leaf.key for leaf in leaves(DataOptions)}
    check_keywords(dict.fromkeys(names - of_load_task - {*PYTHON, *HERE}), RunOptions, SizeOptions)


def test_a_schema_tells_editors_what_a_file_may_hold(configured: Path) -> None:
    schema = json.loads(commands.psopt(configured, "schema", "config").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(tomllib.loads((configured / "psopt.toml").read_text()))
    assert [key for key, value in WRONG.items() if validator.is_valid({key: value})] == []
    assert schema["properties"]["race"]["enum"] == ["auto", "on", "strict", "off"]


def test_skill_prints_a_skill_file_and_writes_one_where_an_agent_looks(tmp_path: Path) -> None:
    done = commands.psopt(tmp_path, "skill", columns=200, code=0)
    head, _, body = done.stdout.removeprefix("---\n").partition("---\n")
    assert re.match(r"name: psopt\ndescription: \S.{50,}\n$", head)
    assert body.isascii()  # any terminal shows it
    assert json.loads(commands.psopt(tmp_path, "skill", "--json", columns=200).stdout)["text"] == done.stdout
    commands.psopt(tmp_path, "skill", "--out", "skills/psopt/SKILL.md", columns=200, code=0)
    assert (tmp_path / "skills/psopt/SKILL.md").read_text() == done.stdout
    (tmp_path / "file").write_text("")
    check_refused(commands.psopt(tmp_path, "skill", "--out", "file/SKILL.md", columns=200))


def test_every_command_and_option_that_a_skill_names_is_there(tmp_path: Path) -> None:
    text = commands.psopt(tmp_path, "skill", columns=200).stdout
    spans = re.findall(r"`([^`]+)`", text)
    named = {words[1] for words in (span.split() for span in spans) if words[0] == "psopt" and len(words) > 1}
    assert named >= {"diagnose", "optimize", "resume", "export", "check"}
    assert named <= set(command_line().commands)
    helps = {
        name: commands.psopt(tmp_path, name, "--help-all", columns=200).stdout for name in named - {"data", "models"}
    }
    helps |= {name: commands.psopt(tmp_path, name, "--help", columns=200).stdout for name in named - helps.keys()}
    everything = "".join(helps.values())
    for span in spans:
        words = span.split()
        said = helps.get(words[1], everything) if words[0] == "psopt" and len(words) > 1 else everything
        for option in re.findall(r"(?<!\S)--[a-z][a-z0-9-]+", span):
            assert re.search(rf"{option}(?![a-z0-9-])", said), f"{span}: there is no {option}"
