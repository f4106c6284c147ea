"""DSPy programs: `SensitivityOptimizer` makes them robust as `psopt.optimize` does prompts."""

from psopt.dspy_programs._candidate import ProgramCandidate
from psopt.dspy_programs._command import load_program, optimize_program
from psopt.dspy_programs._optimizer import SensitivityOptimizer
from psopt.dspy_programs._saving import PROGRAMS, predict_state, write_program

__all__ = [
    "PROGRAMS",
    "ProgramCandidate",
    "SensitivityOptimizer",
    "load_program",
    "optimize_program",
    "predict_state",
    "write_program",
]
