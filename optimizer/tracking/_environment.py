"""Variables of the environment for what can't be told a package in another way."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextlib.contextmanager
def unless_set(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables for a while, as far as the user has not set them; after it they are as they were."""
    new = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)
