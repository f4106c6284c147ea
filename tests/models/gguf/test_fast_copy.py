"""The copy in Q8_0 that smollm2 runs from: the same model, whole or not there at all."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from psopt.models.gguf import fast_copy

gguf = pytest.importorskip("gguf")
WEIGHTS = np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64)
NORMS = np.array([1.0, 2.0], dtype=np.float32)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A file as llama.cpp's tools write them, in 4 bits."""
    path = tmp_path / "toy.Q4_1.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("Toy")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    kind = gguf.GGMLQuantizationType.Q4_1
    writer.add_tensor("token_embd.weight", gguf.quants.quantize(WEIGHTS, kind), raw_dtype=kind)
    writer.add_tensor("output_norm.weight", NORMS)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_it_holds_the_same_weights_and_words_and_is_written_again_only_when_older(published: Path) -> None:
    path = fast_copy(published)
    assert path.stat().st_mtime_ns == published.stat().st_mtime_ns
    copy = gguf.GGUFReader(path)
    tensors = {tensor.name: tensor for tensor in copy.tensors}
    embedding = tensors["token_embd.weight"]
    assert embedding.tensor_type == gguf.GGMLQuantizationType.Q8_0
    assert gguf.quants.dequantize(embedding.data, embedding.tensor_type) == pytest.approx(WEIGHTS, abs=0.05)
    assert (tensors["output_norm.weight"].data == NORMS).all()
    assert copy.fields["general.name"].contents() == "Toy"
    assert copy.fields["tokenizer.ggml.tokens"].contents() == ["a", "b"]
    whole = path.read_bytes()
    path.write_bytes(whole[::-1])
    assert fast_copy(published).read_bytes() == whole[::-1]
    os.utime(path, ns=(0, 0))
    assert fast_copy(published).read_bytes() == whole
