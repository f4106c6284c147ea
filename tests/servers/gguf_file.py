"""A small Llama of transformers as a GGUF file, for llama.cpp; runs where the package gguf is.

    python tests/servers/gguf_file.py FOLDER FILE

llama.cpp's names of tensors and keys are those of gguf's own tables. Its rotary embedding pairs neighbouring columns,
that of transformers the two halves of a head, so the rows of queries and keys are put in llama.cpp's order.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import gguf
    from numpy.typing import NDArray

OUTER = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
INNER = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_gguf(folder: Path, file: Path) -> None:
    """Write a model that `save_pretrained` has saved, in single precision."""
    import gguf
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(file, "llama")
    _add_sizes(writer, config)
    _add_tokenizer(writer, folder, config["vocab_size"])
    for name, weights in load_file(folder / "model.safetensors").items():
        writer.add_tensor(*_renamed(name, weights.astype(np.float32), config))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_sizes(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    from gguf import LlamaFileType

    writer.add_name("label-lm")
    writer.add_file_type(LlamaFileType.ALL_F32)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])


def _add_tokenizer(writer: gguf.GGUFWriter, folder: Path, n_tokens: int) -> None:
    """Add the tokens, and unused ones up to the network's vocabulary."""
    from gguf import TokenType

    whole = json.loads((folder / "tokenizer.json").read_text())
    model = whole["model"]
    special = {token["content"]: token["id"] for token in whole["added_tokens"] if token["special"]}
    ids = {**model["vocab"], **special}
    tokens = [f"[UNUSED{index}]" for index in range(n_tokens)]
    types = [TokenType.UNUSED] * n_tokens
    for token, index in ids.items():
        tokens[index] = token
        types[index] = TokenType.CONTROL if token in special else TokenType.NORMAL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([" ".join(merge) if isinstance(merge, list) else merge for merge in model["merges"]])
    writer.add_eos_token_id(ids["<|im_end|>"])
    writer.add_bos_token_id(ids["<|begin|>"])
    writer.add_pad_token_id(ids["<|begin|>"])
    writer.add_add_bos_token(value=False)
    writer.add_chat_template((folder / "chat_template.jinja").read_text())


def _renamed(name: str, weights: NDArray[np.float32], config: dict[str, Any]) -> tuple[str, NDArray[np.float32]]:
    if name in OUTER:
        return OUTER[name], weights
    _, _, layer, part = name.removesuffix(".weight").split(".", 3)
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}.get(INNER[part])
    if heads:
        weights = _paired(weights, config[heads])
    return f"blk.{layer}.{INNER[part]}.weight", weights


def _paired(weights: NDArray[np.float32], n_heads: int) -> NDArray[np.float32]:
    """Let the two halves of each head's rows alternate: (n_heads * d, n) to the same."""
    halves = weights.reshape(n_heads, 2, -1, weights.shape[1])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(weights.shape))


if __name__ == "__main__":
    write_gguf(Path(sys.argv[1]), Path(sys.argv[2]))
