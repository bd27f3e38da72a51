"""Parts of the data loader."""

from __future__ import annotations

from . import collate, fetch, worker

MP_STATUS_CHECK_INTERVAL = 5.0
__all__ = ["MP_STATUS_CHECK_INTERVAL", "collate", "fetch", "worker"]
