"""Grids asked through a server's batch API: at half the price, within a day, and resumed after any interruption.

`BatchService` speaks the protocol, `OpenBatches` keeps open batches on disk, `BatchRunner` answers grids.
"""

from psopt.models.chat.batches._runner import BatchRunner
from psopt.models.chat.batches._service import BatchService
