"""What the README and the guides say can be done, can be done."""

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

from tests.docs.pages import all_commands, guides, python_blocks
from tests.sweeps import each

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
TEXTS = {page.name: page.read_text("utf-8") for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))}


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

    pages = (ROOT / "README.md", *guides(), ROOT / "docs" / "python" / "index.md")
    blocks = [block for page in pages for block in python_blocks(page) if "import psopt\n" in block]
    assert len(blocks) >= 2
    for block in blocks:
        for name in set(re.findall(r"psopt\.([a-zA-Z_]\w*)", block)):
            assert hasattr(psopt, name)


def smaller(program: str, *sizes: tuple[str, str]) -> str:
    """A program with smaller sizes: thousands of calls through DSPy take a minute."""
    for size, small in sizes:
        assert program.count(size) == 1, size
        program = program.replace(size, small)
    return program


def test_its_dspy_program_runs(tmp_path: Path, cache_dir: Path) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    (block,) = [block for block in python_blocks(ROOT / "docs" / "guides" / "dspy.md") if "import dspy\n" in block]
    environment = dict(os.environ)
    environment["PSOPT_CACHE_DIR"] = str(cache_dir)
    sizes = (
        ("subset(samples, 60,", "subset(samples, 6,"),
        ("num_trials=12, num_rephrasings=5", "num_trials=3, num_rephrasings=2"),
    )
    script = f"{smaller(block, *sizes)}\nprint(len(better.pareto_front), better.run.path)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "better.json").is_file()
    assert int(done.stdout.split()[0]) >= 1


def test_the_example_of_two_steps_runs(tmp_path: Path, cache_dir: Path) -> None:
    pytest.importorskip("dspy", reason="the extra `dspy` is not installed")
    example = (ROOT / "examples" / "dspy_program.py").read_text("utf-8")
    sizes = (
        ("subset(samples, 40,", "subset(samples, 6,"),
        ("num_trials=8, num_rephrasings=4", "num_trials=3, num_rephrasings=2"),
    )
    (tmp_path / "example.py").write_text(smaller(example, *sizes), "utf-8")
    environment = {**os.environ, "PSOPT_CACHE_DIR": str(cache_dir)}
    done = subprocess.run(
        [sys.executable, "example.py", str(tmp_path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    assert "S by step: {'find_topic'" in done.stdout
