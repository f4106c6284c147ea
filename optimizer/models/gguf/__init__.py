"""Language models in GGUF files, run by llama.cpp in this process, and fetching the ones psopt knows by name."""

from psopt.models.gguf._fetching import KNOWN, KnownModel, fast_copy, fetched_model
from psopt.models.gguf._model import GGUFModel, n_processors
from psopt.models.gguf._reader import Reader, find_gguf
