"""A data set "toy" among the built-in ones, read as one of them is and published where a test says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.tasks._builtin import BUILTINS

__all__ = ["BUILTINS", "add_toy"]

if TYPE_CHECKING:
    import pytest
    from psopt.tasks import RemoteFile


def add_toy(monkeypatch: pytest.MonkeyPatch, like: str, *files: RemoteFile) -> None:
    monkeypatch.setitem(BUILTINS, "toy", replace(BUILTINS[like], name="toy", description="a toy", files=files))
