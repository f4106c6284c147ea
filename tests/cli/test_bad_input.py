"""Whatever a user gets wrong: one clear line, exit code 2, no traceback, nothing half-written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from psopt.tasks import list_datasets

from tests.cli.telling import check_refused
from tests.commands import psopt
from tests.sweeps import each

GOOD = "text,label\n" + "".join(f"when did {i} end,Number\nwho built {i},Person\n" for i in range(10))
OPTIMIZE = ["optimize", "--dataset", "good.csv"]
DIAGNOSE = ["diagnose", "--dataset", "good.csv"]
CHECK, COMPARE, REWORD = ([verb, "--dataset", "good.csv"] for verb in ("check", "compare", "rephrase"))
OPENAI = [*OPTIMIZE, "--model", "openai/test"]
TWO = [*OPTIMIZE, "--model", "sim", "--model"]
ORDERED = [*DIAGNOSE, "--model", "sim", "--answers"]
# What a model's name without its kind may mean
KINDS = {
    "gpt-4o-mini": "openai/gpt-4o-mini",
    "meta-llama/Llama-3.1-8B": "openai/meta-llama/Llama-3.1-8B (a server, see --api-base), or hf/",
    "claude-3-5-haiku-latest": "dspy/anthropic/claude-3-5-haiku-latest?",
    "anthropic/claude-3-5-haiku-latest": "dspy/anthropic/claude-3-5-haiku-latest?",
    "gemini-2.0-flash": "dspy/gemini/gemini-2.0-flash?",
    "qwen2.5:7b": "openai/qwen2.5:7b with --api-base http://localhost:11434/v1 (Ollama)",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    (folder / "full").mkdir()
    (folder / "full" / "notes.txt").write_text("mine")
    (folder / "good.csv").write_text(GOOD)
    (folder / "columns.csv").write_text("words,kind\nx,a\n")
    (folder / "broken.json").write_text("{")
    (folder / "models.toml").write_text('model = ["sim", "minilm"]')
    (folder / "other.json").write_text(json.dumps({"description": "d", "labels": ["x", "y"]}))
    return folder


@each(
    "words, message",
    [
        (["optimise"], "No such command 'optimise'; did you mean 'optimize'?"),
        (["--json"], "No such option --json (see: psopt --help)"),
        (["optimize", "--trails", "3"], "No such option --trails; did you mean --trials?"),
        ([*DIAGNOSE, "--split", "tset"], "'tset' is not one of train, val, test, all; did you mean"),
        (["completion", "csh"], "'csh' is not one of bash, zsh, fish, powershell"),
        (["export"], "Missing argument 'RUN'"),
        (["optimize", "--dataset"], "Option '--dataset' requires an argument"),
        ([*OPTIMIZE, "--trials", "0"], "'--trials': a whole number of 1 or more is expected, not '0'"),
        ([*OPTIMIZE, "--seed", "1.5"], "'--seed': a whole number of 0 or more is expected, not '1.5'"),
        ([*OPTIMIZE, "--max-unanswered", "2"], "'--max-unanswered': a number from 0 to 1 is expected, not '2'"),
        ([*OPTIMIZE, "--timeout", "0"], "'--timeout': a number above 0 is expected, not 0"),
        ([*OPTIMIZE, "--max-cost", "much"], "'--max-cost': a number of 0 or more is expected, not 'much'"),
        ([*OPENAI, "--max-cost", "nan"], "--max-cost"),
        ([*OPENAI, "--max-cost", "5"], "--max-cost needs the price of openai/test"),
        ([*OPTIMIZE, "--effort", "huge"], "'huge' is not one of"),
        (
            [*OPTIMIZE, "--effort", "light", "--program", "mine:program"],
            "nobody knows how often a --program calls its model",
        ),
        (["optimize"], "--dataset"),
        (["diagnose", "--dataset", "columns.csv"], "columns.csv"),  # all faults are swept in tests/tasks
        (["optimize", "--dataset", "god.csv"], "good.csv"),
        (["optimize", "--dataset", "tric"], "did you mean 'trec'"),
        (["optimize", "--dataset", "trec", "--strict-data"], "trec"),
        ([*OPTIMIZE, "--model", "minlm"], "did you mean 'minilm'"),
        ([*OPTIMIZE, "--model", "gguf/"], "lacks a path: gguf/PATH"),
        ([*OPTIMIZE, "--model", "lm/smollm2.gguf"], "did you mean gguf/lm/smollm2.gguf?"),
        *(([*OPTIMIZE, "--model", name], f"did you mean {meant}") for name, meant in KINDS.items()),
        ([*OPTIMIZE, "--rephraser", "gpt-4o-mini"], "did you mean openai/gpt-4o-mini?"),
        ([*OPTIMIZE, "--proposer", "gpt-4o-mini"], "did you mean openai/gpt-4o-mini?"),
        ([*TWO, "sim"], "is named twice"),
        ([*TWO, "nomodel"], "unknown model 'nomodel'"),
        ([*TWO, "sim/na=0", "--race", "on"], "--race on is for one model, and here are 2"),
        ([*TWO, "sim/na=0", "--storage", "sqlite:///study.db"], "--storage is for one model"),
        ([*TWO, "sim/na=0", "--probe", "texts.csv"], "--probe is for one model"),
        ([*ORDERED, "ordinal", "--order", "low,,high"], "is no list of labels"),
        ([*ORDERED, "ordered"], "ordinal"),
        ([*OPTIMIZE, "--sampler", "tpee"], "did you mean 'tpe'"),
        ([*OPTIMIZE, "--strategy", "detail"], "task file"),
        ([*OPTIMIZE, "--strategy", "1-shot", "--prompt", "other.json"], "leave one of them out"),
        ([*OPTIMIZE, "--rephrasings", "5000"], "5000"),
        ([*OPTIMIZE, "--resume"], "--out"),
        ([*OPTIMIZE, "--model", "sim", "--force"], "--force goes with --resume"),
        ([*OPTIMIZE, "--model", "sim", "--race", "on", "--samples", "12"], "--race on needs at least 20 samples"),
        ([*CHECK, "--model", "sim", "--model", "minilm"], "--model is given more than once"),
        ([*CHECK, "--config", "models.toml"], "'model' takes one model here, not 2"),
        ([*CHECK, "--model", ""], "--model is empty"),
        (["classify", "--prompt", "", "good.csv"], "--prompt is empty"),
        ([*OPTIMIZE, "--out", "good.csv"], "is a file"),
        ([*OPTIMIZE, "--out", "full"], "not empty"),
        ([*OPTIMIZE, "--out", "/proc/psopt-run"], "can't be written"),
        ([*OPTIMIZE, "--out", "run", "--storage", "nonsense://"], "nonsense"),
        *(([*command, "--prompt", ""], "--prompt is empty") for command in (OPTIMIZE, DIAGNOSE, COMPARE, REWORD)),
        ([*DIAGNOSE, "--prompt", "none.txt"], "none.txt"),
        ([*DIAGNOSE, "--prompt", "other.json", "--model", "minilm"], "labels"),
        ([*DIAGNOSE, "--prompt", "broken.json"], "JSON"),
        (["rephrase", "--dataset", "good.csv", "--rephraser", "minilm"], "unknown rephraser 'minilm'"),
        (["doctor", "--model", "minilm"], "doctor looks at openai/NAME"),
        (["doctor", "--model", "gguf/model.gguf"], "that runs here, and needs no doctor"),
        (["schema", "optimise"], "unknown output 'optimise'; did you mean 'optimize'?"),
        ([*CHECK, "--each", "2"], "'--each': a number of up to 1 is expected, not '2'"),
        ([*CHECK, "--each", "0"], "a number above 0 is expected"),
        ([*CHECK, "--min-f1", "0", "--junit", "no/check.xml"], "--junit no/check.xml can't be written: there is no"),
        ([*CHECK, "--min-f1", "0", "--junit", "."], "--junit . is a folder"),
        ([*CHECK, "--min-class-f1", "Person"], "'Person': a number from 0 to 1 is expected, or LABEL=NUMBER"),
        ([*CHECK, *2 * ["--min-class-f1", "Person=.5"]], "'Person' has two bounds, 0.5 and .5"),
        ([*CHECK, "--min-class-f1", ".5", "--min-class-f1", "Person=.5"], "give it alone, or LABEL=NUMBER for each"),
        *(([verb, "full"], "no run directory") for verb in ("resume", "report", "export", "dashboard")),
        (["dashboard"], "which run"),
        (["data", "fetch", "trek"], "did you mean 'trec'"),
        (["models", "fetch", "smolm"], "did you mean 'smollm2'"),
        (["models", "fetch", "smollm2"], "PSOPT_OFFLINE"),
    ],
)
def test_what_makes_no_sense_is_one_line_of_our_words_and_nothing_is_written(
    folder: Path, words: list[str], message: str
) -> None:
    before = sorted(folder.rglob("*"))
    check_refused(psopt(folder, *words, PSOPT_OFFLINE="1", OPENAI_API_KEY="none"), message)
    assert [path for path in folder.rglob("*") if path not in before and "cache" not in path.parts] == []


def test_data_sets_are_listed_and_what_can_t_be_fetched_can_be_put_there_by_hand(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: folder / "nothing")
    shown = psopt(folder, "data", "list", code=0).stdout
    statuses = list_datasets()
    assert shown.count("not at hand") == len(statuses)
    for status in statuses:
        assert f" {status.name} " in shown
        done = psopt(folder, "data", "fetch", status.name, PSOPT_OFFLINE="1")
        check_refused(done, f"{status.name} can't be fetched: PSOPT_OFFLINE is set; to do it by hand, get ")
        files = re.escape(", ".join(status.files))
        assert re.search(rf" at https?://\S+ and put {files} into \$PSOPT_DATA_DIR/{status.name}", done.stderr)
