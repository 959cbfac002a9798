"""What the publications on graphs claim of the mechanisms here, and what their mistakes would."""

from __future__ import annotations

from functools import cache

from pdpaudit.auditing.published_claims import MechanismClaim, Paper, catalogue
from pdpaudit.outputs.records import JSON

from .loss_tables import accuracy_sections, loose_sections, relation_sections
from .search_losses import search_sections
from .small_graphs import (
    ASKED,
    EDGE,
    EXCHANGED,
    HIDDEN,
    NUMBERED,
    OTHERS,
    REWIRED,
    SERVED,
    SOURCE,
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


# Joint degrees, walks, projections, scores of risk, protected ties, stars and inferred degrees


JOINT = "Wang, Wu 2013"
WALKS = "Epasto, Mirrokni, Perozzi, Tsitsulin, Zhong 2022"
RESTRICTED = "Blocki, Blum, Datta, Sheffet 2013"
SCORE = "Romijnders, Louizos, Asano, Welling 2023"
PROTECTED = "De, Chakrabarti 2019"
STARS = "Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011"

G18 = graph_claim(
    18,
    "NoisyJointDegrees",
    "the ties by the degrees of their ends with noise for a sensitivity of 4n - 7 are ε-edge-DP",
    f"{JOINT}, 2K-graph model, global sensitivity",
    exhaust=EDGE,
)
G19 = graph_claim(
    19,
    "NoisyJointDegreesLocal",
    "the ties by the degrees of their ends with noise for 4d + 1, d the largest degree, are "
    "ε-edge-DP",
    "Sala, Zhao, Wilson, Zheng, Zhao 2011, sensitivity of the dK-2 series read off the graph",
    exhaust=EDGE,
    violated=True,
)
G20 = graph_claim(
    20,
    "NoisyJointDegreesSmooth",
    "the ties by the degrees of their ends with Laplace noise for a smooth bound are "
    "(ε, 1e-6)-edge-DP",
    f"{JOINT}, 2K-graph model, smooth sensitivity",
    exhaust=EDGE.up_to(3),
)
G21 = graph_claim(
    21,
    "NoisyPageRank",
    "personalised PageRank with noise for a sensitivity of 2(1 - p)/p, p to stop, is ε-edge-DP",
    f"{WALKS}, baseline",
    exhaust=SOURCE,
)
G22 = graph_claim(
    22,
    "NoisyPageRankByDegree",
    "personalised PageRank with noise for 2(1 - p)/(p(d + 1)), d the degree, is ε-edge-DP",
    f"mistake: {WALKS}, a sensitivity that is read off the degree",
    exhaust=SOURCE,
)
G23 = graph_claim(
    23,
    "CappedPageRank",
    "personalised PageRank capped at each tie with noise for what is aimed at is ε-edge-DP",
    f"{WALKS}, PushFlowCap",
    exhaust=SOURCE,
)
G24 = graph_claim(
    24,
    "CappedPageRankOpen",
    "personalised PageRank capped but at the person served with the same noise is ε-edge-DP",
    f"mistake: {WALKS}, privacy of others' ties taken for that of all",
    exhaust=SOURCE,
)
G25 = graph_claim(
    25,
    "ProjectedTriangles",
    "the triangles among everybody's first k ties with noise for 3(k - 1) are ε-edge-DP",
    f"{RESTRICTED}, projection for edge adjacency",
    exhaust=NUMBERED,
)
G26 = graph_claim(
    26,
    "ProjectedTrianglesUnscaled",
    "the triangles among everybody's first k ties with noise for k - 1 are ε-edge-DP",
    f"mistake: {RESTRICTED}, restricted sensitivity taken for that after the projection",
    exhaust=NUMBERED,
)
G27 = graph_claim(
    27,
    "AssumedTriangles",
    "the triangles with noise for k - 1 are ε-edge-DP",
    f"mistake: {RESTRICTED}, degrees assumed to be at most k and not made so",
    exhaust=EDGE,
)
G28 = graph_claim(
    28,
    "ProjectedTies",
    "the ties left by a linear program with Cauchy noise for a smooth bound are ε-DP for one "
    "person's ties",
    f"{RESTRICTED}, projection for vertex adjacency",
    exhaust=REWIRED.up_to(5),
)
G29 = graph_claim(
    29,
    "ProjectedTiesUnsmoothed",
    "the ties left by a linear program with noise for 2k are ε-DP for one person's ties",
    f"mistake: {RESTRICTED}, restricted sensitivity taken for that after the projection",
    exhaust=REWIRED.up_to(5),
)
G30 = graph_claim(
    30,
    "RiskScore",
    "a risk score with log-normal noise for clipped messages has a Rényi divergence of ε at order "
    "2, for ties of others",
    f"{SCORE}, log-normal mechanism",
    exhaust=OTHERS,
)
G31 = graph_claim(
    31,
    "RiskScoreLinear",
    "a risk score with log-normal noise for the sensitivity of a factor has a Rényi divergence of "
    "ε at order 2",
    f"mistake: {SCORE}, sensitivity not taken of the logarithm",
    exhaust=OTHERS,
)
G32 = graph_claim(
    32,
    "RiskScoreUnclipped",
    "a risk score with log-normal noise for messages clipped below only has a Rényi divergence of "
    "ε at order 2",
    f"mistake: {SCORE}, one of two bounds not enforced",
    exhaust=OTHERS,
)
G33 = graph_claim(
    33,
    "ProtectedPrediction",
    "predicting a tie by powers of shared contacts is ε-DP for a candidate's ties to protected "
    "contacts",
    f"{PROTECTED}, monotone transformation and exponential mechanism",
    exhaust=HIDDEN,
)
G34 = graph_claim(
    34,
    "ProtectedPredictionOneTie",
    "predicting a tie with noise for one protected tie is ε-DP for a candidate's ties to "
    "protected contacts",
    f"mistake: {PROTECTED}, sensitivity of another relation",
    exhaust=HIDDEN,
)
G35 = graph_claim(
    35,
    "ProtectedPredictionSquared",
    "predicting a tie by squares of shared contacts is ε-DP for a candidate's ties to protected "
    "contacts",
    f"mistake: {PROTECTED}, a transformation that gets steeper",
    exhaust=HIDDEN,
)
G36 = graph_claim(
    36,
    "NoisyStars",
    "the number of 3-stars with noise for a sensitivity of 2 C(n - 2, 2) is ε-edge-DP",
    f"{STARS}, k-stars",
    exhaust=EDGE,
    k=3,
)
G37 = graph_claim(
    37,
    "NoisyStarsOneEnd",
    "the number of 3-stars with noise for a sensitivity of C(n - 2, 2) is ε-edge-DP",
    f"mistake: {STARS}, stars counted at one end of a tie",
    exhaust=EDGE,
    k=3,
)
G38 = graph_claim(
    38,
    "NoisyStarsSmooth",
    "the number of 3-stars with Cauchy noise for the smooth sensitivity is ε-edge-DP",
    f"{STARS}, k-stars, smooth sensitivity",
    exhaust=EDGE,
    k=3,
)
G39 = graph_claim(
    39,
    "AscendingDegrees",
    "the nearest ascending numbers to sorted degrees with noise Lap(2/ε) are ε-edge-DP",
    f"{DEGREES}, constrained inference",
    exhaust=EDGE.up_to(5),
)
G40 = graph_claim(
    40,
    "AscendingDegreesExactTotal",
    "the nearest ascending numbers to noisy degrees that add up as the degrees do are ε-edge-DP",
    f"mistake: {DEGREES}, a constraint read off the data",
    exhaust=EDGE.up_to(4),
)
