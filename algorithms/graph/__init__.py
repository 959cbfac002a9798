"""Published mechanisms on graphs, and beside each the common mistake.

Each is a frozen dataclass with ``claim``, ``run``, ``sample``, ``law`` and ``pairs``, the pairs
being neighbours under the relation that it claims its ε for. What is true where a claim fails is
worked out in the docstring.
"""

from pdpaudit.core.graphs import Graph as Graph
from pdpaudit.core.graphs import GraphPair as GraphPair

from .degrees import AscendingDegrees as AscendingDegrees
from .degrees import AscendingDegreesExactTotal as AscendingDegreesExactTotal
from .degrees import NoisyDegrees as NoisyDegrees
from .degrees import NoisyDegreesHalfNoise as NoisyDegreesHalfNoise
from .degrees import NoisyJointDegrees as NoisyJointDegrees
from .degrees import NoisyJointDegreesLocal as NoisyJointDegreesLocal
from .degrees import NoisyJointDegreesSmooth as NoisyJointDegreesSmooth
from .personalised_pagerank import CappedPageRank as CappedPageRank
from .personalised_pagerank import CappedPageRankOpen as CappedPageRankOpen
from .personalised_pagerank import NoisyPageRank as NoisyPageRank
from .personalised_pagerank import NoisyPageRankByDegree as NoisyPageRankByDegree
from .projections import AssumedTriangles as AssumedTriangles
from .projections import FlowTies as FlowTies
from .projections import ProjectedTies as ProjectedTies
from .projections import ProjectedTiesUnsmoothed as ProjectedTiesUnsmoothed
from .projections import ProjectedTriangles as ProjectedTriangles
from .projections import ProjectedTrianglesUnscaled as ProjectedTrianglesUnscaled
from .projections import TruncatedTies as TruncatedTies
from .randomised_response import RandomisedLists as RandomisedLists
from .randomised_response import RandomisedMeetings as RandomisedMeetings
from .randomised_response import RandomisedNotification as RandomisedNotification
from .randomised_response import RandomisedTies as RandomisedTies
from .randomised_response import RiskScore as RiskScore
from .randomised_response import RiskScoreLinear as RiskScoreLinear
from .randomised_response import RiskScoreUnclipped as RiskScoreUnclipped
from .randomised_response import SuppressedTies as SuppressedTies
from .recommendation import ExponentialRecommendation as ExponentialRecommendation
from .recommendation import NoisyRecommendation as NoisyRecommendation
from .recommendation import ProtectedPrediction as ProtectedPrediction
from .recommendation import ProtectedPredictionOneTie as ProtectedPredictionOneTie
from .recommendation import ProtectedPredictionSquared as ProtectedPredictionSquared
from .recommendation import TwoRecommendations as TwoRecommendations
from .subgraph_counts import NoisyStars as NoisyStars
from .subgraph_counts import NoisyStarsOneEnd as NoisyStarsOneEnd
from .subgraph_counts import NoisyStarsSmooth as NoisyStarsSmooth
from .subgraph_counts import NoisyTies as NoisyTies
from .subgraph_counts import NoisyTriangles as NoisyTriangles
from .subgraph_counts import NoisyTrianglesLocal as NoisyTrianglesLocal
from .subgraph_counts import NoisyTrianglesSmooth as NoisyTrianglesSmooth
