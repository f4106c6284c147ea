"""Task models: what answers a prompt."""

from psopt.models._base import Model
from psopt.models._registry import load_model

__all__ = ["Model", "load_model"]
