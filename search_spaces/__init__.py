"""Search spaces: the rephrasings that a prompt must withstand."""

from ._checks import LEAST_CLOSENESS, Checks, Verdict
from ._families import read_families, vary
from ._file import from_file, read_file, to_file
from ._for_task import rephrasings_for
from ._rules import rephrase_by_rules
from ._set import Rejected, RephrasingSet
from ._written import SHOWN, write_rephrasings

__all__ = [
    "LEAST_CLOSENESS",
    "SHOWN",
    "Checks",
    "Rejected",
    "RephrasingSet",
    "Verdict",
    "from_file",
    "read_families",
    "read_file",
    "rephrase_by_rules",
    "rephrasings_for",
    "to_file",
    "vary",
    "write_rephrasings",
]
