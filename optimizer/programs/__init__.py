"""DSPy programs: `SensitivityOptimizer` makes them robust as `psopt.optimize` does prompts."""

from psopt.programs._candidate import ProgramCandidate
from psopt.programs._optimizer import SensitivityOptimizer
from psopt.programs._state import predict_state, write_program

__all__ = ["ProgramCandidate", "SensitivityOptimizer", "predict_state", "write_program"]
