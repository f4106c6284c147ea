"""The embedded model: all-MiniLM-L6-v2 reads the prompt. It is no LLM and never pretends to be one."""

from psopt.models.minilm._encoder import Encoder
from psopt.models.minilm._lm import MiniLMEngine, minilm_lm
from psopt.models.minilm._model import MiniLM
from psopt.models.minilm._request import Reading, read_request

__all__ = ["Encoder", "MiniLM", "MiniLMEngine", "Reading", "minilm_lm", "read_request"]
