"""Optuna's samplers by the names that a user may say."""

from __future__ import annotations

from typing import get_args

import optuna
from psopt.errors import UnknownNameError, import_extra
from psopt.search._options import SamplerName

# Optuna's defaults, 10 and 50 trials at random, are a quarter of our usual 40 trials and all of them.
_TPE_STARTUP_TRIALS = 8
_NSGA2_POPULATION = 12


def make_sampler(name: SamplerName, seed: int) -> optuna.samplers.BaseSampler:
    """Make the sampler of this name; ``gp`` needs the extra ``local`` (torch)."""
    if name == "tpe":
        return optuna.samplers.TPESampler(
            multivariate=True, group=True, n_startup_trials=_TPE_STARTUP_TRIALS, seed=seed
        )
    if name == "nsga2":
        return optuna.samplers.NSGAIISampler(population_size=_NSGA2_POPULATION, seed=seed)
    if name == "gp":
        import_extra("torch", "the sampler gp", "local")
        return optuna.samplers.GPSampler(seed=seed)
    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    raise UnknownNameError("sampler", name, get_args(SamplerName))
