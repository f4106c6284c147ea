"""Growing diagnoses: a prompt is asked about a part of train, and about more where it is not clear what fails."""

from psopt.search.growing._growing_grid import EarlierFailures, GrowingGrid
from psopt.search.growing._train_diagnoses import DiagnosisSize, TrainDiagnoses

__all__ = ["DiagnosisSize", "EarlierFailures", "GrowingGrid", "TrainDiagnoses"]
