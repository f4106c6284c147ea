"""The package as it is installed: every folder is listed, every public name exists, importing is cheap."""

from __future__ import annotations

import importlib
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


def configuration() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def test_every_folder_with_code_or_data_is_in_the_package_list() -> None:
    found = set()
    for folder, package in FLOORS.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            inner = init.parent.relative_to(ROOT / folder).parts
            found.add(".".join((package, *inner)))
        for file in (ROOT / folder).rglob("*"):
            assert file.is_dir() or "__pycache__" in file.parts or (file.parent / "__init__.py").exists(), file
    assert found == set(configuration()["packages"])


def test_every_data_file_is_shipped() -> None:
    shipped = configuration()["package-data"]
    for folder, package in FLOORS.items():
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and file.suffix not in (".py", ".pyc"):
                name = ".".join((package, *file.parent.relative_to(ROOT / folder).parts))
                assert any(file.match(pattern) for pattern in shipped.get(name, [])), file


@each("package", [name for name in configuration()["packages"] if ".bundled_" not in name])
def test_public_names_exist(package: Any) -> None:
    module = importlib.import_module(package)
    for name in getattr(module, "__all__", []):
        assert getattr(module, name) is not None


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'optimise'"):
        psopt.optimise  # noqa: B018


def test_importing_psopt_loads_none_of_the_heavy_libraries() -> None:
    code = "import psopt, psopt.metrics, sys; print([m for m in sys.modules if m in sys.argv])"
    heavy = [
        "torch",
        "transformers",
        "optuna",
        "sklearn",
        "scipy",
        "pyarrow",
        "rich",
        "pooch",
        "mlflow",
        "wandb",
        "opentelemetry",
    ]
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_opens_with_its_idea() -> None:
    for folder in FLOORS:
        for file in (ROOT / folder).rglob("*.py"):
            text = file.read_text()
            assert not text.strip() or text.startswith(('"""', 'r"""')), file
