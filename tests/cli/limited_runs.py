"""Small runs of a priced model, for tests of limits and estimates."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING, Any

from tests.commands import run_command

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

SMALL = ["--effort", "full", "--trials", "4", "--samples", "30", "--rephrasings", "3", "--heldout", "4"]
SMALL += ["--rounds", "2", "--concurrency", "8"]


def write_questions(folder: Path, n: int = 30, end: str = "") -> Path:
    """Write data.csv: `n` questions of two classes a split, each in words of its own: a near copy is no example."""
    rows = ["id,text,label,split"]
    for place, split in enumerate(("train", "val", "test")):
        rows += [
            f'{split}{i},"what is {own_words(place * n + i)} called{end} ?",{"ab"[i % 2] * 3},{split}' for i in range(n)
        ]
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    return folder


def own_words(place: int) -> str:
    """Four words that no text of another place has."""
    syllables = ["".join(letters) for letters in itertools.product("bdfgklmnprst", "aeiou")]
    stem = "".join(syllables[place // 60**power % 60] for power in range(3))
    return " ".join(stem + ending for ending in ("ba", "de", "gi", "ko"))


def make_data(folder: Path) -> Path:
    """Questions of two classes, 30 a split, and what openai/test costs."""
    (folder / "prices.toml").write_text('"openai/test" = { in = 1.0, out = 4.0 }\n')
    return write_questions(folder)


def psopt(folder: Path, *arguments: str, code: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command there, with a cache of its own."""
    return run_command(*arguments, cwd=folder, env=environment(folder), code=code)


def environment(folder: Path) -> dict[str, str]:
    """What a command is told there: a cache and prices of its own."""
    return {
        **os.environ,
        "PSOPT_CACHE_DIR": str(folder / "cache"),
        "PSOPT_PRICES": str(folder / "prices.toml"),
        "OPENAI_API_KEY": "none",
        "COLUMNS": "140",
    }


def optimize(
    folder: Path, server: Any, *arguments: str, out: str = "run", model: str = "openai/test", code: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `psopt optimize` against a server; later arguments go before the small ones."""
    given = ["--dataset", "data.csv", "--model", model, "--api-base", server.url, "--out", out]
    return psopt(folder, "optimize", *given, *SMALL, *arguments, code=code)


def read(folder: Path, name: str = "run.json", run: str = "run") -> Any:
    """Read a file of a run."""
    return json.loads((folder / run / name).read_text())
