"""What the publications on graphs claim of the mechanisms here, and what their mistakes would.

Beside that: what each sound mechanism loses of one tie, and of all of one person's contacts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from pdpaudit.auditing.published_claims import MechanismClaim, Paper, catalogue
from pdpaudit.core.graphs import (
    Graph,
    coloured_graphs,
    edge_pairs,
    labelled_graphs,
    rewired_pairs,
    small_graphs,
)
from pdpaudit.outputs.records import JSON
from pdpaudit.report.blocks import Table
from pdpaudit.report.sources import section

from .degree_sequence import AscendingDegrees, NoisyDegrees
from .degree_truncation import FlowTies
from .exposure_notification import RandomisedNotification
from .joint_degree import NoisyJointDegrees, NoisyJointDegreesSmooth
from .link_prediction import ProtectedPrediction
from .loose_claims import loose_sections
from .personalised_pagerank import CappedPageRank, NoisyPageRank
from .randomised_response import RandomisedTies
from .recommendation import ExponentialRecommendation, NoisyRecommendation
from .recommendation_accuracy import accuracy_sections
from .relations import ASKED, EDGE, EXCHANGED, SERVED, VERTEX, asking, scored, serving
from .restricted_sensitivity import ProjectedTies, ProjectedTriangles
from .risk_score import RiskScore
from .search_losses import search_sections
from .small_graphs import VERTICES, Lawful, Losses, SmallGraphs
from .subgraph_counts import (
    NoisyStars,
    NoisyStarsSmooth,
    NoisyTies,
    NoisyTriangles,
    NoisyTrianglesSmooth,
)

__all__ = ["COMPARED", "PAPER", "Compared", "losses", *(f"G{number}" for number in range(1, 18))]


class Compared(NamedTuple):
    """A mechanism, and its loss among n people, worked out by hand.

    A protected person goes from no contacts to all others, who know each other. ``roles`` are those
    of mechanisms that serve vertex 0, whose contacts are not changed. Graphs have at most ``most``
    vertices; they are all labelled ones where numbers matter.
    """

    make: Callable[[float], Lawful]
    claimed: str
    formula: str
    loss: Callable[[int], float]
    roles: Callable[[int], Sequence[int]] | None = None
    most: int = VERTICES
    numbered: bool = False

    def graphs(self, vertices: int) -> Iterable[Graph]:
        """Return one graph of each class, or all."""
        if self.numbered:
            return labelled_graphs(vertices)
        if self.roles is None:
            return small_graphs(vertices, vertices)
        return coloured_graphs(self.roles(vertices))


_PEOPLE = ("(n - 1)·ε at most", lambda n: n - 1)  # one tie after the other
_ALL = ("∞", lambda n: math.inf)

#: What is compared; the loss is at ε = 1, and at most that for the rounded degrees.
COMPARED = (
    Compared(NoisyTies, "edge", "(n - 1)·ε", lambda n: n - 1),
    Compared(NoisyTriangles, "edge", "(n - 1)·ε/2", lambda n: (n - 1) / 2),
    Compared(NoisyTrianglesSmooth, "edge", *_PEOPLE),
    Compared(ProjectedTriangles, "edge", *_PEOPLE, most=4, numbered=True),
    Compared(NoisyStars, "edge", "3(n - 1)·ε/4", lambda n: 3 * (n - 1) / 4),
    Compared(NoisyStarsSmooth, "edge", *_PEOPLE),
    Compared(NoisyDegrees, "edge", *_PEOPLE),
    Compared(AscendingDegrees, "edge", *_PEOPLE, most=4),
    Compared(NoisyJointDegrees, "edge", *_PEOPLE),
    Compared(NoisyJointDegreesSmooth, "edge, with δ = 1e-6", *_PEOPLE, most=3),
    Compared(RandomisedTies, "edge", "(n - 1)·ε", lambda n: n - 1),
    # Whoever is served is there at least with the probability p that a walk stops at once.
    Compared(NoisyPageRank, "edge", "p·ε at most, p = 0.15", lambda n: 0.15, serving),
    Compared(CappedPageRank, "edge", *_PEOPLE, serving),
    Compared(ExponentialRecommendation, "edge, of others", *_ALL, asking),
    Compared(NoisyRecommendation, "edge, of others", *_ALL, asking),
    Compared(ProtectedPrediction, "a candidate's ties to contacts", *_ALL, serving),
    Compared(RandomisedNotification, "edge", "ε", lambda n: 1.0, asking),
    # Of normal noise the divergence grows by the square of how far the logarithm moves: each other
    # contact's message moves it by what the noise is for, the person's own, gone, by 1.146 times.
    Compared(
        RiskScore,
        "edge, of others, order 2",
        "(n - 0.854)²·ε at most",
        lambda n: (n - 2 + math.log(0.52) / math.log(0.52 / 0.92)) ** 2,
        scored,
    ),
    Compared(FlowTies, "vertex", "ε at most", lambda n: 1.0),
    Compared(ProjectedTies, "one person's ties", "ε at most", lambda n: 1.0, most=5),
)


def losses(one: Compared, vertices: int) -> tuple[float, float]:
    """Return the loss of a tie, and of one person's contacts, on all graphs of n vertices.

    It is in the unit of what the mechanism claims.
    """
    mechanism, served = one.make(1.0), None if one.roles is None else 0
    known = Losses(mechanism, getattr(mechanism, "claim", None))
    graphs = list(one.graphs(vertices))
    if one.loss(vertices) == math.inf:
        # A person tied to everybody is recommended nobody.
        everybody = {(0, other) for other in range(1, vertices)}
        kept = [graph for graph in graphs if not everybody <= set(graph.ties)]
        rewired = (
            pair for pair in rewired_pairs(kept, spared=0) if not everybody <= set(pair.right.ties)
        )
        return known.largest(edge_pairs(kept, spared=0)), known.largest(rewired)
    others = served if "of others" in one.claimed else None
    return (
        known.largest(edge_pairs(graphs, spared=others)),
        known.largest(rewired_pairs(graphs, spared=served)),
    )


def relation_sections() -> tuple[JSON, ...]:
    """Return the table as a section of the dossier."""
    rows = []
    for one in COMPARED:
        tie, contacts = losses(one, one.most)
        name = getattr(one.make, "__name__", "")
        shown = (str(one.most), _shown(tie), _shown(contacts))
        rows.append((name, one.claimed, *shown, one.formula))
    contacts_of = "one person's contacts"
    columns = ("mechanism", "claims ε of", "vertices", "one tie", contacts_of, "among n people")
    text = (
        "Losses at ε = 1 on all graphs of the stated size, by exact laws: of one tie, and of one "
        "protected person's contacts, all of which may change while everybody stays. Who is "
        "served or asks is not the protected person. The last column is worked out by hand. The "
        "loss of a recommendation is infinite, as a contact of who is served is no candidate. A δ "
        "is the same for one tie and for several. 3-stars are left out, which are as 2-stars."
    )
    table = Table("Loss under two relations", columns, tuple(rows))
    return (section("One tie, or one person's contacts", text=[text], tables=[table]),)


def _shown(loss: float) -> str:
    return "∞" if math.isinf(loss) else f"{loss:.4f}"


@cache
def _sections() -> tuple[JSON, ...]:
    """Return what the dossier has beside the verdicts."""
    claims = [one for one in catalogue(paper="graph") if isinstance(one, MechanismClaim)]
    return (
        *loose_sections(claims),
        *relation_sections(),
        *search_sections(),
        *accuracy_sections(),
    )


PAPER = Paper(
    title="Published graph mechanisms, audited",
    text=(
        "What publications claim of mechanisms on graphs, and beside it the claims of common "
        "mistakes, each with ε = 1 between neighbours: a tie more or less (edge), a person with "
        "all ties more or less (vertex), or what the claim names. Every mechanism has an exact "
        f"output law. The pairs are all those of graphs of up to {VERTICES} vertices, where a law "
        "allows it, one for each class under renumbering, and a few of larger graphs: what is "
        "certified is certified of these, and what is true of all graphs is at least what these "
        "lose."
    ),
    sections=_sections,
)


#: Begins the source of a claim that no publication makes.
MISTAKE = "mistake: "


def graph_claim(
    number: int,
    mechanism: str,
    statement: str,
    source: str,
    *,
    exhaust: SmallGraphs,
    violated: bool = False,
    **parameters: float,
) -> MechanismClaim:
    """Return a claim on a mechanism with ε = 1 and other parameters."""
    return MechanismClaim(
        id=f"G{number}",
        statement=statement,
        source=source,
        mechanism=f"graph:{mechanism}",
        parameters={"epsilon": 1.0, **parameters},
        enclosed=False,
        exhaust=exhaust,
        known_violated=violated,
        mistake=source.startswith(MISTAKE),
    )


RECOMMENDATION = "Machanavajjhala, Korolova, Das Sarma 2011"
SMOOTH = "Nissim, Raskhodnikova, Smith 2007"
NODE = "Kasiviswanathan, Nissim, Raskhodnikova, Smith 2013"
DEGREES = "Hay, Li, Miklau, Jensen 2009"
LOCAL = "Imola, Murakami, Chaudhuri 2021"

G1 = graph_claim(
    1,
    "ExponentialRecommendation",
    "recommending by common neighbours, exponential mechanism, is ε-edge-DP for ties of others",
    f"{RECOMMENDATION}, exponential mechanism",
    exhaust=SERVED,
)
G2 = graph_claim(
    2,
    "NoisyRecommendation",
    "recommending by common neighbours with noise Lap(1/ε) is ε-edge-DP for ties of others",
    f"{RECOMMENDATION}, Laplace mechanism",
    exhaust=SERVED,
)
G3 = graph_claim(
    3,
    "TwoRecommendations",
    "recommending two people with the noise for one is ε-edge-DP",
    f"mistake: {RECOMMENDATION}, ε not divided by the length of the list",
    exhaust=SERVED,
    violated=True,
)
G4 = graph_claim(
    4,
    "NoisyTies",
    "the number of ties with noise for a sensitivity of 1 is ε-edge-DP",
    f"{DEGREES}, introduction of edge privacy",
    exhaust=EDGE,
)
G5 = graph_claim(
    5,
    "NoisyTriangles",
    "the number of triangles with noise for a sensitivity of n - 2 is ε-edge-DP",
    f"{SMOOTH}, triangles, global sensitivity",
    exhaust=EDGE,
)
G6 = graph_claim(
    6,
    "NoisyTrianglesLocal",
    "the number of triangles with noise for the local sensitivity is ε-edge-DP",
    f"mistake: {SMOOTH}, noise that follows the local sensitivity",
    exhaust=EDGE,
    violated=True,
)
G7 = graph_claim(
    7,
    "RandomisedTies",
    "each tie reported by one end by randomised response is ε-edge-DP",
    f"{LOCAL}, privacy of relationships",
    exhaust=EDGE,
)
G8 = graph_claim(
    8,
    "RandomisedLists",
    "each tie reported by both ends by randomised response is ε-edge-DP",
    f"mistake: {LOCAL}, privacy of list entries taken for that of ties",
    exhaust=EDGE,
    violated=True,
)
G9 = graph_claim(
    9,
    "NoisyStars",
    "the number of 2-stars with noise for a sensitivity of 2(n - 2) is ε-edge-DP",
    "Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011, k-stars",
    exhaust=EDGE,
)
G10 = graph_claim(
    10,
    "NoisyDegrees",
    "the sorted degrees with noise Lap(2/ε) are ε-edge-DP",
    f"{DEGREES}, sensitivity of the sorted degree sequence",
    exhaust=EDGE,
)
G11 = graph_claim(
    11,
    "NoisyDegreesHalfNoise",
    "the sorted degrees with noise Lap(1/ε) are ε-edge-DP",
    f"mistake: {DEGREES}, a tie counted at one end",
    exhaust=EDGE,
    violated=True,
)
G12 = graph_claim(
    12,
    "FlowTies",
    "the largest flow with noise for a sensitivity of 2d is ε-vertex-DP",
    f"{NODE}, Lipschitz extension of the number of ties",
    exhaust=VERTEX,
)
G13 = graph_claim(
    13,
    "TruncatedTies",
    "the ties between vertices of degree at most d with noise for 2d are ε-vertex-DP",
    f"mistake: {NODE}, naive truncation",
    exhaust=VERTEX,
    violated=True,
)
G14 = graph_claim(
    14,
    "RandomisedNotification",
    "an exposure notification by randomised response is ε-edge-DP",
    "Warner 1965, of one answer",
    exhaust=ASKED,
)
G15 = graph_claim(
    15,
    "RandomisedMeetings",
    "an exposure notification after randomised response for each meeting is ε-edge-DP",
    "mistake: Warner 1965, of each meeting that took place",
    exhaust=ASKED,
    violated=True,
)
G16 = graph_claim(
    16,
    "SuppressedTies",
    "suppressing protected ties, and others with probability exp(-ε), is ε-DP both ways",
    "mistake: Doudalis, Kotsogiannis, Haney, Machanavajjhala, Mehrotra 2017, one-sided privacy "
    "taken for differential privacy",
    exhaust=EXCHANGED,
    violated=True,
)
G17 = graph_claim(
    17,
    "NoisyTrianglesSmooth",
    "the number of triangles with Cauchy noise for the smooth sensitivity is ε-edge-DP",
    f"{SMOOTH}, triangles, smooth sensitivity",
    exhaust=EDGE,
)
