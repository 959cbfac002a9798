"""What claims on graphs rest on: functions, with what they declare that neighbours differ by.

Each is checked on all graphs of up to 7 vertices under its ``relation``: ``pdpaudit check
pdpaudit.algorithms.graph.sensitivities:utilities --relation edge``.

No constant is behind the other claims. Randomised response, of ties, lists, notifications, or of
ties that are suppressed, adds no noise to a number. Smooth bounds follow the graph, as does noise
that is read off it by mistake. A list of two people is a mistake in adding up, not in a
sensitivity.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.graphs import Graph

from . import degrees, personalised_pagerank, projections, recommendation, subgraph_counts
from .contact_tracing import RiskScore

__all__ = [
    "capped_pagerank",
    "first_three_ties",
    "first_ties",
    "flow_ties",
    "joint_degrees",
    "pagerank",
    "projected_triangles",
    "risk",
    "scores",
    "sorted_degrees",
    "three_stars",
    "ties",
    "triangles",
    "two_stars",
    "utilities",
]

#: How far a sum of a few numbers may be off.
ROUNDED = 1e-12


def declared(
    function: Callable[[Graph], object],
    sensitivity: float | Callable[[int], float],
    relation: str = "edge",
    *,
    error: float = 0.0,
    **inputs: Any,
) -> Any:
    """Return a function with what a check asks of it; ``inputs`` says what is public or secret."""
    made: Any = partial(function)
    domain = Graphs((2, 7), form=unchanged, **inputs)
    vars(made).update(sensitivity=sensitivity, domain=domain, relation=relation, error=error)
    if hasattr(function, "values"):
        made.values = function.values
    return made


def noise_of(mechanism: Any) -> Callable[[int], float]:
    """Return what a mechanism's noise is for, by the largest degree there may be."""
    return lambda degree: float(mechanism.sensitivity(Graph(degree + 1, ())))


_TIES, _TRIANGLES = subgraph_counts.NoisyTies(1.0), subgraph_counts.NoisyTriangles(1.0)
_TWO, _THREE = subgraph_counts.NoisyStars(1.0), subgraph_counts.NoisyStars(1.0, 3)
ties = declared(_TIES.count, noise_of(_TIES))
triangles = declared(_TRIANGLES.count, noise_of(_TRIANGLES))
two_stars = declared(_TWO.count, noise_of(_TWO))
three_stars = declared(_THREE.count, noise_of(_THREE))

_JOINT = degrees.NoisyJointDegrees(1.0)
sorted_degrees = declared(degrees.NoisyDegrees(1.0).degrees, 2)
joint_degrees = declared(_JOINT.counts, noise_of(_JOINT))

_WALK, _CAPPED = personalised_pagerank.NoisyPageRank(1.0), personalised_pagerank.CappedPageRank(1.0)
pagerank = declared(_WALK.ranks, noise_of(_WALK))
capped_pagerank = declared(_CAPPED.ranks, noise_of(_CAPPED))

_FIRST, _FLOW = projections.ProjectedTriangles(1.0), projections.FlowTies(1.0)
first_ties = declared(_FIRST.projected, 3)
first_three_ties = declared(projections.ProjectedTriangles(1.0, 3).projected, 3)
projected_triangles = declared(_FIRST.count, _FIRST.factor * (_FIRST.degree - 1))
flow_ties = declared(_FLOW.count, 2 * _FLOW.degree, "vertex")

_RISK, _PREDICTION = RiskScore(1.0), recommendation.ProtectedPrediction(1.0)
utilities = declared(recommendation.shared_contacts, 1, served=True)
utilities.values = recommendation.utilities
risk = declared(_RISK.logarithm, _RISK.sensitivity, served=True, error=ROUNDED)
scores = declared(
    _PREDICTION.scores,
    float(_PREDICTION.transformed(np.ones(()))),
    "secret",
    error=ROUNDED,
    secret=_PREDICTION.secret,
)
