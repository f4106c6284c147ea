"""The README and the guides, and the commands that they give."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
_INDENTED = re.compile(r"^    (psopt .+?)(?:\s{2,}#.*)?$", re.MULTILINE)
_COMMENT = re.compile(r"\s{2,}#.*$")
_FENCED = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def guides() -> list[Path]:
    """The guides, in the order in which they are read."""
    configuration = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    (names,) = (entry["Guides"] for entry in configuration["nav"] if "Guides" in entry)
    return [DOCS / name for name in names if name.startswith("guides/")]


def commands(page: Path) -> list[str]:
    """The commands of a page, indented or in a block of shell."""
    text = page.read_text("utf-8")
    starts = [(match.start(), match[1].strip()) for match in _INDENTED.finditer(text)]
    for block in _FENCED.finditer(text):
        lines = [_COMMENT.sub("", line) for line in block[1].splitlines()]
        starts += [(block.start(), line) for line in lines if line.startswith("psopt ")]
    return [command for _, command in sorted(starts, key=lambda start: start[0])]


def all_commands() -> list[str]:
    """Those of the README, then those of the guides, each once."""
    return list(dict.fromkeys(command for page in (README, *guides()) for command in commands(page)))


def python_blocks(page: Path) -> list[str]:
    """The blocks of Python of a page."""
    return re.findall(r"```python\n(.+?)```", page.read_text("utf-8"), re.DOTALL)
