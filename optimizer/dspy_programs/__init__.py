"""DSPy programs: `SensitivityOptimizer` makes them robust, as `psopt.optimize` does for prompts."""

from psopt.dspy_programs._command import optimize_program
from psopt.dspy_programs._compile import ProgramCandidate
from psopt.dspy_programs._model import ProgramModel
from psopt.dspy_programs._optimizer import SensitivityOptimizer
from psopt.dspy_programs._saving import PROGRAMS, predict_state

__all__ = ["PROGRAMS", "ProgramCandidate", "ProgramModel", "SensitivityOptimizer", "optimize_program", "predict_state"]
