"""Exact output laws of the searches: scores in, probabilities out, nothing sampled."""

from .errors import LawUnavailable
from .noise import Exponential, Gumbel, Laplace, Noise
from .one_round import (
    RoundLaw,
    first_target_law,
    search_com_law,
    search_com_noises,
    threshold_stop_law,
)
from .scores import RoundScores

__all__ = [
    "Exponential",
    "Gumbel",
    "Laplace",
    "LawUnavailable",
    "Noise",
    "RoundLaw",
    "RoundScores",
    "first_target_law",
    "search_com_law",
    "search_com_noises",
    "threshold_stop_law",
]
