"""The package as it is installed, and its rooms: each imports from those below it, and nobody's private modules.

Every folder is listed, every public name exists, importing is cheap.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import importlib
import itertools
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import psopt
import pytest

from tests.sweeps import each

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {"optimizer": "psopt", "metrics": "psopt.metrics", "search_spaces": "psopt.search_spaces"}


SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
FILES = [
    (folder, file)
    for folder in FLOORS
    for file in (ROOT / folder).rglob("*")
    if file.is_file() and "__pycache__" not in file.parts
]
SOURCES = [(folder, file) for folder, file in FILES if file.suffix == ".py"]


def package_of(folder: str, file: Path) -> str:
    return ".".join((FLOORS[folder], *file.parent.relative_to(ROOT / folder).parts))


def test_every_folder_and_every_data_file_is_shipped() -> None:
    assert {package_of(folder, file) for folder, file in SOURCES} == set(SETUP["packages"])
    for _, file in SOURCES:
        assert (file.parent / "__init__.py").exists(), file
    patterns = list(itertools.chain.from_iterable(SETUP["package-data"].values()))
    for _, file in set(FILES) - set(SOURCES):
        assert any(file.match(pattern) for pattern in patterns), file


@each("package", SETUP["packages"])
def test_public_names_exist(package: Any) -> None:
    module = importlib.import_module(package)
    for name in getattr(module, "__all__", []):
        assert getattr(module, name) is not None


def test_no_public_function_takes_more_than_12_parameters() -> None:
    """Options that go together are a group: in `psopt.settings`, or `psopt.tasks.ReadingOptions`."""
    for _, file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                assert len(arguments) <= 12, f"{file}: {node.name}"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'optimise'"):
        psopt.optimise  # noqa: B018


def test_importing_psopt_loads_none_of_the_heavy_libraries() -> None:
    code = "import psopt, psopt.metrics, sys; print([m for m in sys.modules if m in sys.argv[1].split()])"
    heavy = "torch transformers optuna sklearn scipy pyarrow rich pooch mlflow wandb opentelemetry"
    done = subprocess.run([sys.executable, "-c", code, heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_opens_with_its_idea() -> None:
    for _, file in SOURCES:
        text = file.read_text()
        assert not text.strip() or text.startswith(('"""', 'r"""')), file


TOP = ["__main__", "__init__", "cli", "dspy_programs", "testing", "serving", "api"]
MIDDLE = ["tracking", "report", "runs", "search", "proposals", "diagnosis", "evaluation", "rephrasings", "models"]
BOTTOM = ["search_spaces", "templates", "tasks", "notebooks", "text", "metrics", "settings", "errors", "_signals"]
ROOMS = [*TOP, *MIDDLE, "answers", *BOTTOM, "_version"]


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


def module_of(folder: str, file: Path) -> str:
    """The name by which a file is imported."""
    package = package_of(folder, file)
    return package if file.stem == "__init__" else f"{package}.{file.stem}"
