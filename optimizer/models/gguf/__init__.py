"""GGUF files by llama.cpp, in this process: labels are scored by their likelihood, texts are written."""

from psopt.models.gguf._model import GGUFModel

__all__ = ["GGUFModel"]
