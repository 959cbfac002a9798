"""Random streams keyed by purpose, and Monte Carlo on every core."""

from pdpaudit.core.errors import Misbehaviour
from pdpaudit.sampling.backends import backend
from pdpaudit.sampling.engine import Hits, Silent, Watcher, draw, draw_seed, hits, stream
from pdpaudit.sampling.guard import BatchFailed
from pdpaudit.sampling.store import Store

__all__ = [
    "BatchFailed",
    "Hits",
    "Misbehaviour",
    "Silent",
    "Store",
    "Watcher",
    "backend",
    "draw",
    "draw_seed",
    "hits",
    "stream",
]
