"""A file that is no text, no JSON or no TOML is refused in one line: what, where, and the cure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psopt.errors import DataError, InputError
from psopt.text import read_json, read_text, read_toml

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = {
    "UTF-16": (b"\xff\xfea\0", "file.json is UTF-16; convert .*iconv -f utf-16"),
    "Latin-1": (b"\xef\xbb\xbf{}\n\xe9", "file.json, line 2: byte 0xe9 is not UTF-8; convert .*iconv -f cp1252"),
    "cut off": (b'{\n"a": ', "file.json is no valid JSON: line 2, column 6"),
    "deep": (b"[" * 100_000, "file.json is no valid JSON: nested too deeply"),
    "missing": (None, "file.json can't be read: no such file; did you mean 'files.json'"),
}


@each("name", REFUSED)
def test_a_file_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    content, message = REFUSED[name]
    (tmp_path / "files.json").touch()
    (tmp_path / "file.json").unlink(missing_ok=True)
    if content is not None:
        (tmp_path / "file.json").write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        read_json(tmp_path / "file.json", error=DataError)
    assert "\n" not in str(error.value)


def test_toml_is_refused_as_json_is_and_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(InputError, match="my file is no valid TOML: nested too deeply"):
        read_toml(tmp_path / "deep.toml", "my file")
    (tmp_path / "marked.toml").write_bytes(b"\xef\xbb\xbfa = 1")
    assert read_toml(tmp_path / "marked.toml") == {"a": 1}
    assert read_text(tmp_path / "marked.toml") == "a = 1"
