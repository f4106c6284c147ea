"""What the README, the guides and the page of providers say can be done, can be done."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from psopt.cli import command_line

from tests.docs.pages import DOCS, ROOT, all_commands, guides, python_blocks
from tests.sweeps import each

README = (ROOT / "README.md").read_text("utf-8")
TEXTS = {page.name: page.read_text("utf-8") for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))}


def test_its_examples_of_the_metrics_are_right() -> None:
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert (failed, tried) == (0, 4)


@each("line", all_commands())
def test_its_commands_and_options_exist(line: Any) -> None:
    words = shlex.split(line.partition(" > ")[0])[1:]
    command = command_line().load(words[0])
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_its_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    given = [
        target for text in TEXTS.values() for target in re.findall(r"(?:^    |`)make ([a-z-]+)", text, re.MULTILINE)
    ]
    assert set(given) <= targets
    assert {"run", "test"} <= set(re.findall(r"^    make ([a-z-]+)", README, re.MULTILINE))


def test_its_python_names_exist() -> None:
    import psopt

    pages = (ROOT / "README.md", *guides(), DOCS / "python" / "index.md")
    blocks = [block for page in pages for block in python_blocks(page) if "import psopt\n" in block]
    assert len(blocks) >= 2
    for block in blocks:
        for name in set(re.findall(r"psopt\.([a-zA-Z_]\w*)", block)):
            assert hasattr(psopt, name)


(GUIDE,) = [block for block in python_blocks(DOCS / "guides" / "dspy.md") if "import dspy\n" in block]
GUIDE += "\nprint(len(better.pareto_front), 'on the front')"
EXAMPLE = (ROOT / "examples" / "dspy_program.py").read_text("utf-8")
SMALL = ("num_trials=2, num_rephrasings=2", "subset(samples, 6,")  # thousands of calls through DSPy take a minute
PROGRAMS = {
    "guide.py": (GUIDE, ("num_trials=12, num_rephrasings=5", "subset(samples, 60,"), r"^[1-9]\d* on the front$"),
    "example.py": (EXAMPLE, ("num_trials=8, num_rephrasings=4", "subset(samples, 40,"), r"S by step: \{'find_topic'"),
}
# One after the other: a process of its own for each would load PyTorch twice.
RUN = f"import runpy; [runpy.run_path(name, run_name='__main__') for name in {[*PROGRAMS]}]"


def test_its_dspy_program_and_the_example_of_two_steps_run(tmp_path: Path, cache_dir: Path) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    for name, (program, sizes, _) in PROGRAMS.items():
        for size, small in zip(sizes, SMALL, strict=True):
            assert program.count(size) == 1, size
            program = program.replace(size, small)
        (tmp_path / name).write_text(program, "utf-8")
    of_example = tmp_path / "example"
    of_example.mkdir()
    words = [sys.executable, "-c", RUN, str(of_example)]
    environment = {**os.environ, "PSOPT_CACHE_DIR": str(cache_dir)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    for _, _, said in PROGRAMS.values():
        assert re.search(said, done.stdout, re.MULTILINE)
    assert (tmp_path / "better.json").is_file()
    assert (of_example / "better.json").is_file()


MODELS = (DOCS / "models.md").read_text("utf-8")
MODEL_LINES = [
    line for block in re.findall(r"```sh\n(.*?)```", MODELS, re.DOTALL) for line in block.splitlines() if line[0] != "#"
]


def parsed(line: str) -> Any:
    """What a command's options are; a value set before it is nothing to psopt."""
    words = shlex.split(line)
    start = words.index("psopt")
    assert all(re.fullmatch(r"OPENAI_API_KEY=\$[A-Z_]+", word) for word in words[:start])
    name, *arguments = words[start + 1 :]
    command = command_line().load(name)
    assert command is not None
    return command.make_context(name, arguments).params


@each("line", MODEL_LINES)
def test_commands_of_the_page_of_providers_parse(line: Any) -> None:
    params = parsed(line)
    kind, _, name = params["model"].partition("/")
    assert name
    if kind == "openai" and params["api_base"]:
        assert f"`{params['api_base']}`" in MODELS.replace("NAME", "my-resource")


def test_tables_of_providers_name_no_address_without_a_command() -> None:
    told = set(re.findall(r"\| `(https?://[^`]+)`", MODELS))
    given = {parsed(line)["api_base"] for line in MODEL_LINES}
    assert {address.replace("NAME", "my-resource") for address in told} <= given
    assert "(docs/models.md)" in README
