"""Classic mechanisms, correct and known to be broken, that auditors are measured on.

Each is a frozen dataclass. Its input is a tuple of query answers, and no answer of a neighbour is
more than 1 away. All have ``claim``, ``run``, ``sample`` and ``pairs``; those with few outputs
have ``law``, and ``sample`` gives coded outputs, of the others an array of shape ``(size, k)``.
"""

from .additive_noise import Laplace as Laplace
from .additive_noise import LaplaceParallel as LaplaceParallel
from .additive_noise import NoisyHist1 as NoisyHist1
from .additive_noise import NoisyHist2 as NoisyHist2
from .additive_noise import OneTimeRappor as OneTimeRappor
from .additive_noise import PrefixSum as PrefixSum
from .additive_noise import Rappor as Rappor
from .additive_noise import ReportNoisyMax1 as ReportNoisyMax1
from .additive_noise import ReportNoisyMax2 as ReportNoisyMax2
from .additive_noise import ReportNoisyMax3 as ReportNoisyMax3
from .additive_noise import ReportNoisyMax4 as ReportNoisyMax4
from .additive_noise import TruncatedGeometric as TruncatedGeometric
from .additive_noise import VectorPair as VectorPair
from .additive_noise import any_query_pairs as any_query_pairs
from .additive_noise import one_query_pairs as one_query_pairs
from .sparse_vector import SVT1 as SVT1
from .sparse_vector import SVT2 as SVT2
from .sparse_vector import SVT3 as SVT3
from .sparse_vector import SVT4 as SVT4
from .sparse_vector import SVT5 as SVT5
from .sparse_vector import SVT6 as SVT6
from .sparse_vector import NumericalSVT as NumericalSVT
from .sparse_vector import SVT34Parallel as SVT34Parallel
