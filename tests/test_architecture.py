"""Rooms: each imports only from those below it, and from no other room's private modules."""

import ast
import functools
import graphlib
from pathlib import Path

from tests.sweeps import each

ROOT = Path(__file__).resolve().parent.parent
TOP = ["__main__", "__init__", "cli", "dspy_programs", "testing", "serving", "api"]
MIDDLE = [
    "tracking",
    "report",
    "runs",
    "search",
    "proposals",
    "diagnosis",
    "evaluation",
    "rephrasings",
    "models",
    "answers",
]
BOTTOM = ["search_spaces", "templates", "tasks", "notebooks", "text", "metrics", "settings", "errors", "_version"]
ROOMS = [*TOP, *MIDDLE, *BOTTOM]
SOURCES = [
    (package, file) for package in ("optimizer", "search_spaces", "metrics") for file in (ROOT / package).rglob("*.py")
]


@functools.cache
def imported(file: Path) -> set[str]:
    """Modules of psopt that a file imports, wherever in it; those for types alone too."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    modules |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {module for module in modules if module.split(".")[0] == "psopt"}


@each("package, file", SOURCES)
def test_a_room_imports_what_stands_below_it_and_nobody_elses_private_modules(package: str, file: Path) -> None:
    room = package if package != "optimizer" else file.relative_to(ROOT / package).with_suffix("").parts[0]
    for module in imported(file):
        other, *inner = module.split(".")[1:] or ["__init__"]
        assert ROOMS.index(room) <= ROOMS.index(other), f"{room} imports {module}, which stands above it"
        assert room == other or not any(part.startswith("_") for part in inner), f"{file} reaches into {module}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    files = {module_of(package, file): file for package, file in SOURCES}
    graph = {module: (imported(file) & set(files)) - {module} for module, file in files.items()}
    graphlib.TopologicalSorter(graph).prepare()


def module_of(package: str, file: Path) -> str:
    """The name by which a file is imported."""
    inner = file.relative_to(ROOT / package).with_suffix("").parts
    names = ["psopt", *([package] if package != "optimizer" else []), *inner]
    return ".".join(names[:-1] if names[-1] == "__init__" else names)
