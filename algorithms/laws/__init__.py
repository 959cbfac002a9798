"""Exact output laws of the searches: scores in, probabilities out, nothing sampled."""

from pdpaudit.core.protocols import LawUnavailable

from .closed_form import LossEnclosure, enclose_loss, enclose_round
from .exact_round import (
    Enclosure,
    ExactRound,
    exact_first_target,
    exact_search_com,
    exact_threshold_stop,
)
from .nearby import NearbyLaws
from .noise import Exponential, Gumbel, Laplace, Noise
from .one_round import (
    RoundLaw,
    first_target_law,
    search_com_law,
    search_com_noises,
    threshold_stop_law,
)
from .rounds import (
    ListLaw,
    Stage,
    chain_law,
    noiseless_rounds_law,
    search_com_rounds_law,
)
from .scores import RoundScores
from .verify import Verification, enclose_by_quadrature, verify_loss
from .worst_case import (
    WorstCase,
    main_text_bound,
    main_text_loss,
    main_text_noise,
    search_com_bound,
    search_com_epsilon,
    search_com_worst_case,
)

__all__ = [
    "Enclosure",
    "ExactRound",
    "Exponential",
    "Gumbel",
    "Laplace",
    "LawUnavailable",
    "ListLaw",
    "LossEnclosure",
    "NearbyLaws",
    "Noise",
    "RoundLaw",
    "RoundScores",
    "Stage",
    "Verification",
    "WorstCase",
    "chain_law",
    "enclose_by_quadrature",
    "enclose_loss",
    "enclose_round",
    "exact_first_target",
    "exact_search_com",
    "exact_threshold_stop",
    "first_target_law",
    "main_text_bound",
    "main_text_loss",
    "main_text_noise",
    "noiseless_rounds_law",
    "search_com_bound",
    "search_com_epsilon",
    "search_com_law",
    "search_com_noises",
    "search_com_rounds_law",
    "search_com_worst_case",
    "threshold_stop_law",
    "verify_loss",
]
