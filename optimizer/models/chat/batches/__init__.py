"""Grids asked by a server's batch API: at half the price, within a day, and picked up again after whatever happens.

`BatchService` speaks the protocol, `OpenBatches` keeps on disk what is under way, `BatchRunner` answers grids.
"""

from psopt.models.chat.batches._runner import BatchRunner
from psopt.models.chat.batches._service import BatchService

__all__ = ["BatchRunner", "BatchService"]
