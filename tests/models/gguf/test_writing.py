"""The real SmolLM2 as a writer: what it writes is kept, and held to JSON where that is asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psopt.errors import ModelError
from psopt.models.chat import LMConfig, load_writer

if TYPE_CHECKING:
    from pathlib import Path

ASKED = [{"role": "user", "content": "What is the capital of France? One word."}]
AS_JSON = [{"role": "user", "content": 'Say something nice. Answer with JSON alone: {"note": ".."}'}]


def test_what_is_written_is_kept_and_json_where_that_is_asked_for(smollm2: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    name, options = f"gguf/{smollm2}", LMConfig(max_tokens=200)
    writer = load_writer(name, cache_dir=tmp_path, options=options)
    first, other = (writer.write([ASKED], temperature=0.8, sample=number)[0] for number in (0, 1))
    assert first
    assert first != other
    assert isinstance(json.loads(writer.write([AS_JSON])[0]), dict)
    again = load_writer(name, cache_dir=tmp_path, options=options)
    assert again.write([ASKED], temperature=0.8)[0] == first
    assert "_server" not in again._engine.client.__dict__  # it came from the cache, and nothing was loaded
    with pytest.raises(ModelError, match=r"can't write: request .* exceeds the available context size"):
        writer.write([[{"role": "user", "content": "moon " * 9000}]])


def test_what_is_no_model_is_one_line(smollm2: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(smollm2.read_bytes()[:5_000_000])
    with pytest.raises(ModelError, match=r"can't be loaded: .*(corrupted or incomplete|not within)"):
        load_writer(f"gguf/{cut}").write([ASKED])
