"""Local language models, run by transformers: every label is scored by its likelihood, nothing is generated."""

from psopt.models.hf._model import HFModel
