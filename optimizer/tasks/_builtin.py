"""The built-in data sets, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError, UnknownNameError, nearest
from psopt.tasks._dbpedia import DBPEDIA
from psopt.tasks._superglue import CB, RTE
from psopt.tasks._trec import TREC
from psopt.tasks._wos import WOS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.tasks._dataset import Builtin

BUILTINS = {builtin.name: builtin for builtin in (TREC, CB, RTE, DBPEDIA, WOS)}


def find_builtin(name: str) -> Builtin:
    """Return the built-in data set of this name.

    Raises
    ------
    UnknownNameError
        If there is none.
    """
    if name not in BUILTINS:
        hint = "or give a .csv, .tsv, .jsonl, .parquet or task .toml file"
        raise UnknownNameError("dataset", name, BUILTINS, hint=hint)
    return BUILTINS[name]


def check_fields(builtin: Builtin, names: Iterable[str]) -> None:
    """Raise InputError if one of these is no field of the data set's samples."""
    fields = tuple(dict.fromkeys((*builtin.fields, "text")))
    for name in names:
        if name not in fields:
            hint = nearest(name, fields)
            raise InputError(
                f"{builtin.name}: has no column {name!r}{hint}; its columns: {', '.join(map(repr, fields))}"
            )
