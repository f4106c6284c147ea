"""Small runs of a priced model, for tests of limits and estimates."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import commands

KEY = "sk-very-secret-0123456789"
SMALL = ["--effort", "full", "--trials", "4", "--samples", "30", "--rephrasings", "3", "--heldout", "4"]
SMALL += ["--rounds", "2", "--concurrency", "8"]


def write_data(folder: Path, n: int, text_and_label: Callable[[str, int], str]) -> Path:
    """Write data.csv: `n` samples a split, of which a function gives the text and the label."""
    splits = [(split, i) for split in ("train", "val", "test") for i in range(n)]
    rows = [f"{split}{i},{text_and_label(split, i)},{split}" for split, i in splits]
    (folder / "data.csv").write_text("\n".join(["id,text,label,split", *rows]) + "\n")
    return folder


def write_questions(folder: Path, n: int = 30, end: str = "") -> Path:
    """Write questions of two classes, each in words of its own: a near copy is no example."""
    places = itertools.count()
    return write_data(folder, n, lambda _, i: f'"what is {own_words(next(places))} called{end} ?",{"ab"[i % 2] * 3}')


def own_words(place: int) -> str:
    """Four words that no text of another place has."""
    syllables = ["".join(letters) for letters in itertools.product("bdfgklmnprst", "aeiou")]
    stem = "".join(syllables[place // 60**power % 60] for power in range(3))
    return " ".join(stem + ending for ending in ("ba", "de", "gi", "ko"))


def make_data(folder: Path) -> Path:
    """Questions of two classes, 30 a split, and what openai/test costs."""
    (folder / "prices.toml").write_text('"openai/test" = { in = 1.0, out = 4.0 }\n')
    return write_questions(folder)


def environment(folder: Path) -> dict[str, str]:
    """What a command is told there: a cache and prices of its own, and a key."""
    return commands.environment(folder, 140, PSOPT_PRICES=str(folder / "prices.toml"), OPENAI_API_KEY=KEY)


def psopt(folder: Path, *words: str, code: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command there."""
    return commands.run_command(*words, cwd=folder, env=environment(folder), code=code)


def optimize(
    folder: Path, server: Any, *arguments: str, out: str = "run", model: str = "openai/test", code: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `psopt optimize` against a server; later arguments go before the small ones."""
    given = ["--dataset", "data.csv", "--model", model, "--api-base", server.url, "--out", out]
    return psopt(folder, "optimize", *given, *SMALL, *arguments, code=code)


def read(folder: Path, name: str = "run.json", run: str = "run") -> Any:
    """Read a file of a run."""
    return json.loads((folder / run / name).read_text())
