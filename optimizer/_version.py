"""The version of psopt: the only place that has it."""

__version__ = "0.1.0"
