"""Exact output laws of the searches: scores in, probabilities out, nothing sampled."""

from .closed_form import LossEnclosure, enclose_loss, enclose_round
from .errors import LawUnavailable
from .exact_round import (
    Enclosure,
    ExactRound,
    exact_first_target,
    exact_search_com,
    exact_threshold_stop,
)
from .noise import Exponential, Gumbel, Laplace, Noise
from .one_round import (
    RoundLaw,
    first_target_law,
    search_com_law,
    search_com_noises,
    threshold_stop_law,
)
from .scores import RoundScores
from .verify import Verification, enclose_by_quadrature, verify_loss

__all__ = [
    "Enclosure",
    "ExactRound",
    "Exponential",
    "Gumbel",
    "Laplace",
    "LawUnavailable",
    "LossEnclosure",
    "Noise",
    "RoundLaw",
    "RoundScores",
    "Verification",
    "enclose_by_quadrature",
    "enclose_loss",
    "enclose_round",
    "exact_first_target",
    "exact_search_com",
    "exact_threshold_stop",
    "first_target_law",
    "search_com_law",
    "search_com_noises",
    "threshold_stop_law",
    "verify_loss",
]
