"""torch.multiprocessing.pool: Python's, whose workers are spawned with tidu under the name torch where that is so."""

from multiprocessing.pool import Pool

__all__ = ["Pool"]
