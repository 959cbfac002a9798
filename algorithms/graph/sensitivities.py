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
from .randomised_response import RiskScore

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


def noise_of(mechanism: Any, function: str) -> Any:
    """Return a function of a mechanism with what its noise is for, by the largest degree."""
    return declared(
        getattr(mechanism, function),
        lambda degree: float(mechanism.sensitivity(Graph(degree + 1, ()))),
    )


ties = noise_of(subgraph_counts.NoisyTies(1.0), "count")
triangles = noise_of(subgraph_counts.NoisyTriangles(1.0), "count")
two_stars = noise_of(subgraph_counts.NoisyStars(1.0), "count")
three_stars = noise_of(subgraph_counts.NoisyStars(1.0, 3), "count")
sorted_degrees = declared(degrees.NoisyDegrees(1.0).degrees, 2)
joint_degrees = noise_of(degrees.NoisyJointDegrees(1.0), "counts")
pagerank = noise_of(personalised_pagerank.NoisyPageRank(1.0), "ranks")
capped_pagerank = noise_of(personalised_pagerank.CappedPageRank(1.0), "ranks")

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
