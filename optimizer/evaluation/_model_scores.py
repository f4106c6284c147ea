"""What a prompt is worth with one of several models, as it stands beside the scores of all."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelScores:
    """What a prompt is worth with one of several models."""

    f1: float
    sensitivity: float
    consistency: float | None
    na_rate: float
    is_hollow: bool  # whether it answers one label to nearly everything, so that S and C say nothing
    # 95 % intervals by measure; empty where not asked
    ci: dict[str, tuple[float, float]]
