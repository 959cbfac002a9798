"""Published mechanisms on graphs, and beside each the common mistake.

Each is a frozen dataclass with ``claim``, ``run``, ``sample``, ``law`` and ``pairs``, the pairs
being neighbours under the relation that it claims its ε for. What is true where a claim fails is
worked out in the docstring.
"""

from pdpaudit.core.graphs import Graph, GraphPair

from .contact_tracing import (
    RandomisedMeetings,
    RandomisedNotification,
    RiskScore,
    RiskScoreLinear,
    RiskScoreUnclipped,
)
from .degrees import (
    AscendingDegrees,
    AscendingDegreesExactTotal,
    NoisyDegrees,
    NoisyDegreesHalfNoise,
    NoisyJointDegrees,
    NoisyJointDegreesLocal,
    NoisyJointDegreesSmooth,
)
from .personalised_pagerank import (
    CappedPageRank,
    CappedPageRankOpen,
    NoisyPageRank,
    NoisyPageRankByDegree,
)
from .projections import (
    AssumedTriangles,
    FlowTies,
    ProjectedTies,
    ProjectedTiesUnsmoothed,
    ProjectedTriangles,
    ProjectedTrianglesUnscaled,
    TruncatedTies,
)
from .randomised_response import RandomisedLists, RandomisedTies, SuppressedTies
from .recommendation import (
    ExponentialRecommendation,
    NoisyRecommendation,
    ProtectedPrediction,
    ProtectedPredictionOneTie,
    ProtectedPredictionSquared,
    TwoRecommendations,
)
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
