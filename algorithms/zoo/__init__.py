"""Classic mechanisms, correct and known to be broken, that auditors are measured on.

Each is a frozen dataclass. Its input is a tuple of query answers, and no answer of a neighbour is
more than 1 away. All have ``claim``, ``run``, ``sample`` and ``pairs``; those with few outputs
have ``law``, and ``sample`` gives coded outputs, of the others an array of shape ``(size, k)``.
"""

from .additive_noise import (
    Laplace,
    LaplaceParallel,
    NoisyHist1,
    NoisyHist2,
    PrefixSum,
    ReportNoisyMax1,
    ReportNoisyMax2,
    ReportNoisyMax3,
    ReportNoisyMax4,
    TruncatedGeometric,
    VectorPair,
    any_query_pairs,
    one_query_pairs,
)
from .rappor import OneTimeRappor, Rappor
from .sparse_vector import SVT1, SVT2, SVT3, SVT4, SVT5, SVT6, NumericalSVT, SVT34Parallel

__all__ = [
    "SVT1",
    "SVT2",
    "SVT3",
    "SVT4",
    "SVT5",
    "SVT6",
    "Laplace",
    "LaplaceParallel",
    "NoisyHist1",
    "NoisyHist2",
    "NumericalSVT",
    "OneTimeRappor",
    "PrefixSum",
    "Rappor",
    "ReportNoisyMax1",
    "ReportNoisyMax2",
    "ReportNoisyMax3",
    "ReportNoisyMax4",
    "SVT34Parallel",
    "TruncatedGeometric",
    "VectorPair",
    "any_query_pairs",
    "one_query_pairs",
]
