"""psopt makes LLM classifiers robust to the wording of their prompts."""

__version__ = "0.1.0"
