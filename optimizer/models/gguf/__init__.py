"""Language models in GGUF files, read in this process."""

from psopt.models.gguf._fetching import KNOWN, KnownModel, fetched_model

__all__ = ["KNOWN", "KnownModel", "fetched_model"]
