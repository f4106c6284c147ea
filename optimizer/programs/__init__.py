"""DSPy programs: `SensitivityOptimizer` makes them robust as `psopt.optimize` does prompts."""

from psopt.programs._candidate import ProgramCandidate
from psopt.programs._named import load_program, optimize_program
from psopt.programs._optimizer import SensitivityOptimizer
from psopt.programs._state import PROGRAMS, predict_state, write_program

__all__ = [
    "PROGRAMS",
    "ProgramCandidate",
    "SensitivityOptimizer",
    "load_program",
    "optimize_program",
    "predict_state",
    "write_program",
]
