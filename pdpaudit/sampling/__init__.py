"""Random streams keyed by purpose, and Monte Carlo on every core."""

from pdpaudit.sampling.draws import Draws
from pdpaudit.sampling.engine import Hits, Progress, draw, hits, tally
from pdpaudit.sampling.guard import Misbehaviour
from pdpaudit.sampling.streams import draw_seed, stream

__all__ = [
    "Draws",
    "Hits",
    "Misbehaviour",
    "Progress",
    "draw",
    "draw_seed",
    "hits",
    "stream",
    "tally",
]
