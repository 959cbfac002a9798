"""What each sound mechanism loses of one person's contacts, beside what it loses of one tie."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple, Protocol

from pdpaudit.core.graphs import (
    Graph,
    GraphPair,
    edge_pairs,
    labelled_graphs,
    rewired_pairs,
    small_graphs,
)
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import Law
from pdpaudit.outputs.records import JSON
from pdpaudit.report.blocks import Table
from pdpaudit.report.published import section

from .degree_sequence import NoisyDegrees
from .degree_truncation import FlowTies
from .exposure_notification import RandomisedNotification
from .randomised_response import RandomisedTies
from .recommendation import ExponentialRecommendation, NoisyRecommendation
from .subgraph_counts import NoisyStars, NoisyTies, NoisyTriangles, NoisyTrianglesSmooth

__all__ = ["COMPARED", "Compared", "largest_loss", "relation_sections"]

#: People in the graphs of the table.
_VERTICES = 4


class Lawful(Protocol):
    """A mechanism on graphs with an exact law."""

    def law(self, instance: Graph) -> Law:
        """Return the exact law."""
        ...


class Compared(NamedTuple):
    """A mechanism, whether it serves vertex 0, and its loss among n people, worked out by hand.

    A protected person goes from no contacts to all others, who know each other.
    """

    make: Callable[[float], Lawful]
    serves: bool
    claimed: str
    formula: str
    loss: Callable[[int], float]


#: What is compared; the loss is at ε = 1, and at most that for the rounded degrees.
COMPARED = (
    Compared(NoisyTies, False, "edge", "(n - 1)·ε", lambda n: n - 1),
    Compared(NoisyTriangles, False, "edge", "(n - 1)·ε/2", lambda n: (n - 1) / 2),
    Compared(NoisyTrianglesSmooth, False, "edge", "(n - 1)·ε at most", lambda n: n - 1),
    Compared(NoisyStars, False, "edge", "3(n - 1)·ε/4", lambda n: 3 * (n - 1) / 4),
    Compared(NoisyDegrees, False, "edge", "(n - 1)·ε at most", lambda n: n - 1),
    Compared(RandomisedTies, False, "edge", "(n - 1)·ε", lambda n: n - 1),
    Compared(ExponentialRecommendation, True, "edge, of others", "∞", lambda n: math.inf),
    Compared(NoisyRecommendation, True, "edge, of others", "∞", lambda n: math.inf),
    Compared(RandomisedNotification, True, "edge", "ε", lambda n: 1.0),
    Compared(FlowTies, False, "vertex", "ε at most", lambda n: 1.0),
)


def largest_loss(mechanism: Lawful, pairs: Iterable[GraphPair]) -> float:
    """Return the largest loss over pairs, infinite where an output is possible on one side only."""
    largest = 0.0
    for pair in pairs:
        left, right = mechanism.law(pair.left), mechanism.law(pair.right)
        if left.probabilities.keys() != right.probabilities.keys():
            return math.inf
        largest = max(largest, exact_loss(left, right, listed=False).epsilon)
    return largest


def losses(one: Compared, vertices: int) -> tuple[float, float]:
    """Return the loss of a tie, and of one person's contacts, on all graphs of n vertices."""
    mechanism, served = one.make(1.0), 0 if one.serves else None
    graphs = list((labelled_graphs if one.serves else _each)(vertices))
    if isinstance(mechanism, ExponentialRecommendation | NoisyRecommendation):
        # A person tied to everybody is recommended nobody.
        everybody = {(0, other) for other in range(1, vertices)}
        kept = [graph for graph in graphs if not everybody <= set(graph.ties)]
        ties = edge_pairs(kept, spared=0)
        rewired = (
            pair for pair in rewired_pairs(kept, spared=0) if not everybody <= set(pair.right.ties)
        )
        return largest_loss(mechanism, ties), largest_loss(mechanism, rewired)
    contacts = rewired_pairs(graphs, spared=served)
    return largest_loss(mechanism, edge_pairs(graphs)), largest_loss(mechanism, contacts)


def _each(vertices: int) -> Iterable[Graph]:
    return small_graphs(vertices, vertices)


@cache
def relation_sections() -> tuple[JSON, ...]:
    """Return the table as a section of the dossier."""
    rows = []
    for one in COMPARED:
        tie, contacts = losses(one, _VERTICES)
        name = getattr(one.make, "__name__", "")
        rows.append((name, one.claimed, _shown(tie), _shown(contacts), one.formula))
    columns = ("mechanism", "claims ε of", "one tie", "one person's contacts", "among n people")
    text = (
        f"Losses at ε = 1 on all graphs of {_VERTICES} vertices, by exact laws: of one tie, and of "
        "one protected person's contacts, all of which may change while everybody stays. Who is "
        "served or asks is not the protected person. The last column is worked out by hand. The "
        "loss of a recommendation is infinite, as a contact of who is served is no candidate."
    )
    table = Table("Loss under two relations", columns, tuple(rows))
    return (section("One tie, or one person's contacts", text=[text], tables=[table]),)


def _shown(loss: float) -> str:
    return "∞" if math.isinf(loss) else f"{loss:.4f}"
