"""Published mechanisms on graphs, and beside each the common mistake.

Each is a frozen dataclass with ``claim``, ``run``, ``sample``, ``law`` and ``pairs``, the pairs
being neighbours under the relation that it claims its ε for. What is true where a claim fails is
worked out in the docstring.
"""

from pdpaudit.core.graphs import Graph, GraphPair

from .degree_sequence import (
    AscendingDegrees,
    AscendingDegreesExactTotal,
    NoisyDegrees,
    NoisyDegreesHalfNoise,
)
from .degree_truncation import FlowTies, TruncatedTies
from .exposure_notification import RandomisedMeetings, RandomisedNotification
from .joint_degree import NoisyJointDegrees, NoisyJointDegreesLocal, NoisyJointDegreesSmooth
from .link_prediction import (
    ProtectedPrediction,
    ProtectedPredictionOneTie,
    ProtectedPredictionSquared,
)
from .one_sided import SuppressedTies
from .personalised_pagerank import (
    CappedPageRank,
    CappedPageRankOpen,
    NoisyPageRank,
    NoisyPageRankByDegree,
)
from .randomised_response import RandomisedLists, RandomisedTies
from .recommendation import ExponentialRecommendation, NoisyRecommendation, TwoRecommendations
from .restricted_sensitivity import (
    AssumedTriangles,
    ProjectedTies,
    ProjectedTiesUnsmoothed,
    ProjectedTriangles,
    ProjectedTrianglesUnscaled,
)
from .risk_score import RiskScore, RiskScoreLinear, RiskScoreUnclipped
from .subgraph_counts import (
    NoisyStars,
    NoisyStarsOneEnd,
    NoisyStarsSmooth,
    NoisyTies,
    NoisyTriangles,
    NoisyTrianglesLocal,
    NoisyTrianglesSmooth,
)

__all__ = [
    "AscendingDegrees",
    "AscendingDegreesExactTotal",
    "AssumedTriangles",
    "CappedPageRank",
    "CappedPageRankOpen",
    "ExponentialRecommendation",
    "FlowTies",
    "Graph",
    "GraphPair",
    "NoisyDegrees",
    "NoisyDegreesHalfNoise",
    "NoisyJointDegrees",
    "NoisyJointDegreesLocal",
    "NoisyJointDegreesSmooth",
    "NoisyPageRank",
    "NoisyPageRankByDegree",
    "NoisyRecommendation",
    "NoisyStars",
    "NoisyStarsOneEnd",
    "NoisyStarsSmooth",
    "NoisyTies",
    "NoisyTriangles",
    "NoisyTrianglesLocal",
    "NoisyTrianglesSmooth",
    "ProjectedTies",
    "ProjectedTiesUnsmoothed",
    "ProjectedTriangles",
    "ProjectedTrianglesUnscaled",
    "ProtectedPrediction",
    "ProtectedPredictionOneTie",
    "ProtectedPredictionSquared",
    "RandomisedLists",
    "RandomisedMeetings",
    "RandomisedNotification",
    "RandomisedTies",
    "RiskScore",
    "RiskScoreLinear",
    "RiskScoreUnclipped",
    "SuppressedTies",
    "TruncatedTies",
    "TwoRecommendations",
]
