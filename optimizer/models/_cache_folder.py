"""Where psopt keeps what can be made again."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder(cache_dir: str | Path | None = None) -> Path:
    """Return `cache_dir`, else `$PSOPT_CACHE_DIR`, else the user's cache folder for psopt."""
    if cache_dir:
        return Path(cache_dir)
    from_environment = os.environ.get("PSOPT_CACHE_DIR")
    return Path(from_environment) if from_environment else platformdirs.user_cache_path("psopt")
