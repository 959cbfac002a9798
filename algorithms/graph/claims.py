"""What the publications on graphs claim of the mechanisms here, and what their mistakes would.

Joint degrees and what follows, G18 to G40, are in ``sensitivity_claims``.
"""

from __future__ import annotations

from functools import cache

from pdpaudit.auditing.published_claims import MechanismClaim, Paper, catalogue
from pdpaudit.outputs.records import JSON

from .loss_tables import loose_sections, relation_sections
from .recommendation_accuracy import accuracy_sections
from .search_losses import search_sections
from .small_graphs import (
    ASKED,
    EDGE,
    EXCHANGED,
    SERVED,
    VERTEX,
    VERTICES,
    SmallGraphs,
)


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
    """Return a claim on a mechanism with ε = 1 and other parameters; a mistake is violated."""
    mistake = source.startswith(MISTAKE)
    return MechanismClaim(
        id=f"G{number}",
        statement=statement,
        source=source,
        mechanism=f"graph:{mechanism}",
        parameters={"epsilon": 1.0, **parameters},
        enclosed=False,
        exhaust=exhaust,
        known_violated=violated or mistake,
        mistake=mistake,
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
)
G16 = graph_claim(
    16,
    "SuppressedTies",
    "suppressing protected ties, and others with probability exp(-ε), is ε-DP both ways",
    "mistake: Doudalis, Kotsogiannis, Haney, Machanavajjhala, Mehrotra 2017, one-sided privacy "
    "taken for differential privacy",
    exhaust=EXCHANGED,
)
G17 = graph_claim(
    17,
    "NoisyTrianglesSmooth",
    "the number of triangles with Cauchy noise for the smooth sensitivity is ε-edge-DP",
    f"{SMOOTH}, triangles, smooth sensitivity",
    exhaust=EDGE,
)
