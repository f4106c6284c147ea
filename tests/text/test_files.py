"""A file that can't be read is refused in one line; tests of data and of prompts have more that is wrong with files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psopt.errors import InputError
from psopt.text import read_text, read_toml

if TYPE_CHECKING:
    from pathlib import Path


def test_toml_is_refused_as_json_is_and_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(InputError, match="my file is no valid TOML: nested too deeply"):
        read_toml(tmp_path / "deep.toml", "my file")
    (tmp_path / "marked.toml").write_bytes(b"\xef\xbb\xbfa = 1")
    assert read_toml(tmp_path / "marked.toml") == {"a": 1}
    assert read_text(tmp_path / "marked.toml") == "a = 1"
