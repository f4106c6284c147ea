"""Whatever a user gets wrong: one clear line, exit code 2, no traceback, nothing half-written."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.telling import check_refused
from tests.commands import psopt
from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "text,label\n" + "".join(f"when did {i} end,Number\nwho built {i},Person\n" for i in range(10))
DATA = {  # all faults are swept in tests/tasks/test_bad_data.py
    "latin.csv": ("text,label\ncaf\u00e9,a\n".encode("latin-1"), "UTF-8"),
    "columns.csv": (b"words,kind\nx,a\n", "words"),
    "bad.jsonl": (b'{"text": "x", "label": "a"}\n{"text": \n', "line 2"),
    "few.csv": (b"text,label\nx,a\ny,b\n", "few"),
    "no.parquet": (b"PAR1", "arquet"),
}
OPTIMIZE = ["optimize", "--dataset", "good.csv"]
DIAGNOSE = ["diagnose", "--dataset", "good.csv"]
CHECK, COMPARE, REWORD = ([verb, "--dataset", "good.csv"] for verb in ("check", "compare", "rephrase"))
OPENAI = [*OPTIMIZE, "--model", "openai/test"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    files = {name: content for name, (content, _) in DATA.items()}
    files |= {"good.csv": GOOD.encode(), "full/notes.txt": b"mine", "broken.json": b"{"}
    files["other.json"] = json.dumps({"description": "d", "labels": ["x", "y"]}).encode()
    (folder / "full").mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def check_fails(folder: Path, words: list[Any], *said: str) -> None:
    before = sorted(folder.rglob("*"))
    check_refused(psopt(folder, *words, PSOPT_OFFLINE="1", OPENAI_API_KEY="none"), *said)
    assert [path for path in folder.rglob("*") if path not in before and "cache" not in path.parts] == []


@each("command, name", list(itertools.product(["optimize", "diagnose"], DATA)))
def test_data_that_can_t_be_used(folder: Path, command: str, name: Any) -> None:
    check_fails(folder, [command, "--dataset", name], name, DATA[name][1])


@each(
    "words, message",
    [
        (["optimise"], "No such command 'optimise'; did you mean 'optimize'?"),
        (["data", "lst"], "No such command 'lst'; did you mean 'list'?"),
        (["--json"], "No such option --json (see: psopt --help)"),
        (["optimize", "--trails", "3"], "No such option --trails; did you mean --trials?"),
        ([*DIAGNOSE, "--split", "tset"], "'tset' is not one of train, val, test, all; did you mean"),
        (["completion", "csh"], "'csh' is not one of bash, zsh, fish, powershell"),
        (["export"], "Missing argument 'RUN'"),
        (["optimize", "--dataset"], "Option '--dataset' requires an argument"),
        ([*OPTIMIZE, "--trials", "0"], "'--trials': a whole number of 1 or more is expected, not '0'"),
        ([*OPTIMIZE, "--trials", "many"], "--trials"),
        ([*OPTIMIZE, "--seed", "1.5"], "'--seed': a whole number of 0 or more is expected, not '1.5'"),
        ([*OPTIMIZE, "--seed", "-1"], "--seed"),
        ([*OPTIMIZE, "--max-unanswered", "2"], "'--max-unanswered': a number from 0 to 1 is expected, not '2'"),
        ([*OPTIMIZE, "--timeout", "0"], "'--timeout': a number above 0 is expected, not 0"),
        ([*OPTIMIZE, "--max-cost", "much"], "'--max-cost': a number of 0 or more is expected, not 'much'"),
        ([*OPENAI, "--max-cost", "nan"], "--max-cost"),
        ([*OPENAI, "--max-calls", "-1"], "--max-calls"),
        ([*OPENAI, "--max-tokens-total", "-1"], "--max-tokens-total"),
        ([*OPTIMIZE, "--extra-body", "[1]"], "'--extra-body': a JSON object is expected"),
        ([*OPTIMIZE, "--header", "Key"], "'--header': number 1 has no '='"),
        ([*OPTIMIZE, "--effort", "huge"], "'huge' is not one of"),
        (
            [*OPTIMIZE, "--effort", "light", "--program", "mine:program"],
            "nobody knows how often a --program calls its model",
        ),
        (["optimize"], "--dataset"),
        (["optimize", "--dataset", "nowhere.csv"], "no such file"),
        (["optimize", "--dataset", "god.csv"], "good.csv"),
        (["optimize", "--dataset", "tric"], "did you mean 'trec'"),
        (["optimize", "--dataset", "hf:name"], "hf:ORG/NAME"),
        (["optimize", "--dataset", "trec", "--strict-data"], "trec"),
        ([*OPTIMIZE, "--model", "minlm"], "did you mean 'minilm'"),
        ([*OPTIMIZE, "--model", "openai/"], "lacks a name"),
        ([*OPTIMIZE, "--model", "gguf/"], "lacks a path: gguf/PATH"),
        ([*OPTIMIZE, "--model", "lm/smollm2.gguf"], "did you mean gguf/lm/smollm2.gguf?"),
        ([*OPTIMIZE, "--sampler", "tpee"], "did you mean 'tpe'"),
        ([*OPTIMIZE, "--strategy", "detail"], "task file"),
        ([*OPTIMIZE, "--strategy", "1-shot", "--prompt", "other.json"], "leave one of them out"),
        ([*OPTIMIZE, "--rephrasings", "5000"], "5000"),
        ([*OPTIMIZE, "--resume"], "--out"),
        ([*OPTIMIZE, "--out", "good.csv"], "is a file"),
        ([*OPTIMIZE, "--out", "full"], "not empty"),
        ([*OPTIMIZE, "--out", "/proc/psopt-run"], "can't be written"),
        ([*OPTIMIZE, "--out", "run", "--storage", "nonsense://"], "nonsense"),
        *[
            ([*command, "--prompt", ""], "--prompt is empty")
            for command in (OPTIMIZE, DIAGNOSE, CHECK, COMPARE, REWORD)
        ],
        ([*DIAGNOSE, "--prompt", "none.txt"], "none.txt"),
        ([*DIAGNOSE, "--prompt", "other.json", "--model", "minilm"], "labels"),
        ([*DIAGNOSE, "--prompt", "broken.json"], "JSON"),
        (["rephrase", "--dataset", "good.csv", "--rephraser", "minilm"], "unknown rephraser 'minilm'"),
        (["doctor", "--model", "minilm"], "doctor looks at openai/NAME"),
        (["doctor", "--model", "gguf/model.gguf"], "that runs here, and needs no doctor"),
        (["schema", "optimise"], "unknown output 'optimise'; did you mean 'optimize'?"),
        ([*CHECK, "--each", "2"], "'--each': a number of up to 1 is expected, not '2'"),
        (["resume", "full"], "no run directory"),
        (["report", "nowhere"], "no run directory"),
        (["export", "nowhere"], "no run directory"),
        (["dashboard", "nowhere"], "no run directory"),
        (["dashboard"], "which run"),
        (["data", "fetch", "trek"], "did you mean 'trec'"),
        (["models", "fetch", "smolm"], "did you mean 'smollm2'"),
        (["models", "fetch", "smollm2"], "PSOPT_OFFLINE"),
    ],
)
def test_usage_that_makes_no_sense_is_one_line_of_our_words(folder: Path, words: list[str], message: str) -> None:
    check_fails(folder, words, message)
