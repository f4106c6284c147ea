"""Search spaces: the rephrasings that a prompt must withstand."""

from ._for_task import rephrasings_for
from ._rules import rephrase_by_rules
from ._set import RephrasingSet

__all__ = ["RephrasingSet", "rephrase_by_rules", "rephrasings_for"]
