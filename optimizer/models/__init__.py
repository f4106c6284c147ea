"""Task models: what answers a prompt."""

from psopt.models._base import Model, SoftModel, reads_order
from psopt.models._registry import NAMES, load_model

__all__ = ["NAMES", "Model", "SoftModel", "load_model", "reads_order"]
