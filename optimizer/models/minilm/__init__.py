"""The embedded model: all-MiniLM-L6-v2 reads the prompt. It is not an LLM and does not pretend to be one."""

from psopt.models.minilm._encoder import Encoder
from psopt.models.minilm._lm import MiniLMEngine, Reading, minilm_lm, read_request
from psopt.models.minilm._model import MiniLM
