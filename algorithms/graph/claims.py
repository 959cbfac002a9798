"""What the publications on graphs claim of the mechanisms here, and what their mistakes would.

Beside that: what each sound mechanism loses of one tie, and of all of one person's contacts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple, Protocol

from pdpaudit.auditing.published_claims import MechanismClaim, Paper
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
from pdpaudit.report.sources import section

from .degree_sequence import NoisyDegrees
from .degree_truncation import FlowTies
from .exposure_notification import RandomisedNotification
from .randomised_response import RandomisedTies
from .recommendation import ExponentialRecommendation, NoisyRecommendation
from .subgraph_counts import NoisyStars, NoisyTies, NoisyTriangles, NoisyTrianglesSmooth

__all__ = ["COMPARED", "PAPER", "Compared", "losses", *(f"G{number}" for number in range(1, 18))]

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


PAPER = Paper(
    title="Published graph mechanisms, audited",
    text=(
        "What publications claim of mechanisms on graphs, and beside it the claim of a common "
        "mistake, each with ε = 1 under the relation named: a tie more or less (edge), a person "
        "with all ties more or less (vertex), or, for G16, a protected tie exchanged for another. "
        "Every mechanism has an exact output law; the pairs are all pairs of graphs of up to 4 "
        "vertices, or up to 3 for G8, and those of a few larger graphs. What is true is at least "
        "what these pairs lose."
    ),
    sections=relation_sections,
)


def _claim(
    number: int, mechanism: str, statement: str, source: str, *, violated: bool = False
) -> MechanismClaim:
    return MechanismClaim(
        id=f"G{number}",
        statement=statement,
        source=source,
        mechanism=f"graph:{mechanism}",
        parameters={"epsilon": 1.0},
        enclosed=False,
        known_violated=violated,
    )


RECOMMENDATION = "Machanavajjhala, Korolova, Das Sarma 2011"
SMOOTH = "Nissim, Raskhodnikova, Smith 2007"
NODE = "Kasiviswanathan, Nissim, Raskhodnikova, Smith 2013"
DEGREES = "Hay, Li, Miklau, Jensen 2009"
LOCAL = "Imola, Murakami, Chaudhuri 2021"

G1 = _claim(
    1,
    "ExponentialRecommendation",
    "recommending by common neighbours, exponential mechanism, is ε-edge-DP for ties of others",
    f"{RECOMMENDATION}, exponential mechanism",
)
G2 = _claim(
    2,
    "NoisyRecommendation",
    "recommending by common neighbours with noise Lap(1/ε) is ε-edge-DP for ties of others",
    f"{RECOMMENDATION}, Laplace mechanism",
)
G3 = _claim(
    3,
    "TwoRecommendations",
    "recommending two people with the noise for one is ε-edge-DP",
    f"mistake: {RECOMMENDATION}, ε not divided by the length of the list",
    violated=True,
)
G4 = _claim(
    4,
    "NoisyTies",
    "the number of ties with noise for a sensitivity of 1 is ε-edge-DP",
    f"{DEGREES}, introduction of edge privacy",
)
G5 = _claim(
    5,
    "NoisyTriangles",
    "the number of triangles with noise for a sensitivity of n - 2 is ε-edge-DP",
    f"{SMOOTH}, triangles, global sensitivity",
)
G6 = _claim(
    6,
    "NoisyTrianglesLocal",
    "the number of triangles with noise for the local sensitivity is ε-edge-DP",
    f"mistake: {SMOOTH}, noise that follows the local sensitivity",
    violated=True,
)
G7 = _claim(
    7,
    "RandomisedTies",
    "each tie reported by one end by randomised response is ε-edge-DP",
    f"{LOCAL}, privacy of relationships",
)
G8 = _claim(
    8,
    "RandomisedLists",
    "each tie reported by both ends by randomised response is ε-edge-DP",
    f"mistake: {LOCAL}, privacy of list entries taken for that of ties",
    violated=True,
)
G9 = _claim(
    9,
    "NoisyStars",
    "the number of 2-stars with noise for a sensitivity of 2(n - 2) is ε-edge-DP",
    "Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011, k-stars",
)
G10 = _claim(
    10,
    "NoisyDegrees",
    "the sorted degrees with noise Lap(2/ε) are ε-edge-DP",
    f"{DEGREES}, sensitivity of the sorted degree sequence",
)
G11 = _claim(
    11,
    "NoisyDegreesHalfNoise",
    "the sorted degrees with noise Lap(1/ε) are ε-edge-DP",
    f"mistake: {DEGREES}, a tie counted at one end",
    violated=True,
)
G12 = _claim(
    12,
    "FlowTies",
    "the largest flow with noise for a sensitivity of 2d is ε-vertex-DP",
    f"{NODE}, Lipschitz extension of the number of ties",
)
G13 = _claim(
    13,
    "TruncatedTies",
    "the ties between vertices of degree at most d with noise for 2d are ε-vertex-DP",
    f"mistake: {NODE}, naive truncation",
    violated=True,
)
G14 = _claim(
    14,
    "RandomisedNotification",
    "an exposure notification by randomised response is ε-edge-DP",
    "Warner 1965, of one answer",
)
G15 = _claim(
    15,
    "RandomisedMeetings",
    "an exposure notification after randomised response for each meeting is ε-edge-DP",
    "mistake: Warner 1965, of each meeting that took place",
    violated=True,
)
G16 = _claim(
    16,
    "SuppressedTies",
    "suppressing protected ties, and others with probability exp(-ε), is ε-DP both ways",
    "mistake: Doudalis, Kotsogiannis, Haney, Machanavajjhala, Mehrotra 2017, one-sided privacy "
    "taken for differential privacy",
    violated=True,
)
G17 = _claim(
    17,
    "NoisyTrianglesSmooth",
    "the number of triangles with Cauchy noise for the smooth sensitivity is ε-edge-DP",
    f"{SMOOTH}, triangles, smooth sensitivity",
)
