"""Where psopt keeps what can be made again."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder(given: str | Path | None = None) -> Path:
    """Return the folder given, else `$PSOPT_CACHE_DIR`, else the user's cache folder for psopt."""
    if given:
        return Path(given)
    from_environment = os.environ.get("PSOPT_CACHE_DIR")
    return Path(from_environment) if from_environment else platformdirs.user_cache_path("psopt")
