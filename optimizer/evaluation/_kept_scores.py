"""Values of dataclasses read back from run.json and front.json, scores among them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from psopt.evaluation._scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import TypeAdapter

T = TypeVar("T")


def read_data(kind: type[T], data: Mapping[str, Any]) -> T:
    """Build a dataclass from `asdict`'s data as JSON keeps it; what a later version has added is passed over.

    Raises ValueError if the data are damaged.
    """
    return _reader(kind).validate_python(dict(data))


@functools.cache
def _reader(kind: type[T]) -> TypeAdapter[T]:
    from pydantic import TypeAdapter  # takes .1 s, and most commands read nothing

    return TypeAdapter(kind)


def scores_from_dict(data: Mapping[str, Any]) -> Scores:
    """Build scores from `Scores.to_dict`'s data.

    Raises ValueError if the data are damaged.
    """
    shares = data if "answer_shares" in data else None
    return read_data(Scores, {**data, "ci": data.get("ci") or {}, "shares": shares})
