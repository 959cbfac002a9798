"""Random streams keyed by purpose, and Monte Carlo on every core."""

from pdpaudit.sampling.engine import Progress, tally
from pdpaudit.sampling.streams import draw_seed, stream

__all__ = ["Progress", "draw_seed", "stream", "tally"]
