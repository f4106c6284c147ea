"""Loading a model without its libraries' progress bars and advice on the screen."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from psopt.errors import import_extra

if TYPE_CHECKING:
    from collections.abc import Iterator


def import_transformers(name: str) -> Any:
    """Import transformers for the model of this name.

    Raises
    ------
    MissingExtraError
        If transformers or torch is not installed.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import_extra("torch", f"the model {name}", "local")
    return import_extra("transformers", f"the model {name}", "local")


@contextlib.contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Let transformers report errors only, and leave its settings as they were."""
    logging = transformers.utils.logging
    verbosity, shows_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shows_bars:
            logging.enable_progress_bar()
