"""What the publications on graphs claim of the mechanisms here, and what their mistakes would."""

from __future__ import annotations

from functools import cache

from pdpaudit.auditing.published_claims import MechanismClaim, Paper, catalogue
from pdpaudit.outputs.records import JSON

from .loss_tables import accuracy_sections, loose_sections, relation_sections
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
    search_sections,
)


@cache
def _sections() -> tuple[JSON, ...]:
    """Return what the dossier has beside the verdicts."""
    claims = [one for one in catalogue(paper="graph") if isinstance(one, MechanismClaim)]
    return (*loose_sections(claims), *relation_sections(), *search_sections(), *accuracy_sections())


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

RECOMMENDATION = "Machanavajjhala, Korolova, Das Sarma 2011"
SMOOTH = "Nissim, Raskhodnikova, Smith 2007"
NODE = "Kasiviswanathan, Nissim, Raskhodnikova, Smith 2013"
DEGREES = "Hay, Li, Miklau, Jensen 2009"
LOCAL = "Imola, Murakami, Chaudhuri 2021"

G1 = SERVED.claim(
    1,
    "ExponentialRecommendation",
    "recommending by common neighbours, exponential mechanism, is ε-edge-DP for ties of others",
    f"{RECOMMENDATION}, exponential mechanism",
)
G2 = SERVED.claim(
    2,
    "NoisyRecommendation",
    "recommending by common neighbours with noise Lap(1/ε) is ε-edge-DP for ties of others",
    f"{RECOMMENDATION}, Laplace mechanism",
)
G3 = SERVED.claim(
    3,
    "TwoRecommendations",
    "recommending two people with the noise for one is ε-edge-DP",
    f"mistake: {RECOMMENDATION}, ε not divided by the length of the list",
)
G4 = EDGE.claim(
    4,
    "NoisyTies",
    "the number of ties with noise for a sensitivity of 1 is ε-edge-DP",
    f"{DEGREES}, introduction of edge privacy",
)
G5 = EDGE.claim(
    5,
    "NoisyTriangles",
    "the number of triangles with noise for a sensitivity of n - 2 is ε-edge-DP",
    f"{SMOOTH}, triangles, global sensitivity",
)
G6 = EDGE.claim(
    6,
    "NoisyTrianglesLocal",
    "the number of triangles with noise for the local sensitivity is ε-edge-DP",
    f"mistake: {SMOOTH}, noise that follows the local sensitivity",
)
G7 = EDGE.claim(
    7,
    "RandomisedTies",
    "each tie reported by one end by randomised response is ε-edge-DP",
    f"{LOCAL}, privacy of relationships",
)
G8 = EDGE.claim(
    8,
    "RandomisedLists",
    "each tie reported by both ends by randomised response is ε-edge-DP",
    f"mistake: {LOCAL}, privacy of list entries taken for that of ties",
)
G9 = EDGE.claim(
    9,
    "NoisyStars",
    "the number of 2-stars with noise for a sensitivity of 2(n - 2) is ε-edge-DP",
    "Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011, k-stars",
)
G10 = EDGE.claim(
    10,
    "NoisyDegrees",
    "the sorted degrees with noise Lap(2/ε) are ε-edge-DP",
    f"{DEGREES}, sensitivity of the sorted degree sequence",
)
G11 = EDGE.claim(
    11,
    "NoisyDegreesHalfNoise",
    "the sorted degrees with noise Lap(1/ε) are ε-edge-DP",
    f"mistake: {DEGREES}, a tie counted at one end",
)
G12 = VERTEX.claim(
    12,
    "FlowTies",
    "the largest flow with noise for a sensitivity of 2d is ε-vertex-DP",
    f"{NODE}, Lipschitz extension of the number of ties",
)
G13 = VERTEX.claim(
    13,
    "TruncatedTies",
    "the ties between vertices of degree at most d with noise for 2d are ε-vertex-DP",
    f"mistake: {NODE}, naive truncation",
)
G14 = ASKED.claim(
    14,
    "RandomisedNotification",
    "an exposure notification by randomised response is ε-edge-DP",
    "Warner 1965, of one answer",
)
G15 = ASKED.claim(
    15,
    "RandomisedMeetings",
    "an exposure notification after randomised response for each meeting is ε-edge-DP",
    "mistake: Warner 1965, of each meeting that took place",
)
G16 = EXCHANGED.claim(
    16,
    "SuppressedTies",
    "suppressing protected ties, and others with probability exp(-ε), is ε-DP both ways",
    "mistake: Doudalis, Kotsogiannis, Haney, Machanavajjhala, Mehrotra 2017, one-sided privacy "
    "taken for differential privacy",
)
G17 = EDGE.claim(
    17,
    "NoisyTrianglesSmooth",
    "the number of triangles with Cauchy noise for the smooth sensitivity is ε-edge-DP",
    f"{SMOOTH}, triangles, smooth sensitivity",
)


# Joint degrees, walks, projections, scores of risk, protected ties, stars and inferred degrees


JOINT = "Wang, Wu 2013"
WALKS = "Epasto, Mirrokni, Perozzi, Tsitsulin, Zhong 2022"
RESTRICTED = "Blocki, Blum, Datta, Sheffet 2013"
SCORE = "Romijnders, Louizos, Asano, Welling 2023"
PROTECTED = "De, Chakrabarti 2019"
STARS = "Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011"

G18 = EDGE.claim(
    18,
    "NoisyJointDegrees",
    "the ties by the degrees of their ends with noise for a sensitivity of 4n - 7 are ε-edge-DP",
    f"{JOINT}, 2K-graph model, global sensitivity",
)
G19 = EDGE.claim(
    19,
    "NoisyJointDegreesLocal",
    "the ties by the degrees of their ends with noise for 4d + 1, d the largest degree, are "
    "ε-edge-DP",
    "Sala, Zhao, Wilson, Zheng, Zhao 2011, sensitivity of the dK-2 series read off the graph",
    violated=True,
)
G20 = EDGE.up_to(3).claim(
    20,
    "NoisyJointDegreesSmooth",
    "the ties by the degrees of their ends with Laplace noise for a smooth bound are "
    "(ε, 1e-6)-edge-DP",
    f"{JOINT}, 2K-graph model, smooth sensitivity",
)
G21 = SOURCE.claim(
    21,
    "NoisyPageRank",
    "personalised PageRank with noise for a sensitivity of 2(1 - p)/p, p to stop, is ε-edge-DP",
    f"{WALKS}, baseline",
)
G22 = SOURCE.claim(
    22,
    "NoisyPageRankByDegree",
    "personalised PageRank with noise for 2(1 - p)/(p(d + 1)), d the degree, is ε-edge-DP",
    f"mistake: {WALKS}, a sensitivity that is read off the degree",
)
G23 = SOURCE.claim(
    23,
    "CappedPageRank",
    "personalised PageRank capped at each tie with noise for what is aimed at is ε-edge-DP",
    f"{WALKS}, PushFlowCap",
)
G24 = SOURCE.claim(
    24,
    "CappedPageRankOpen",
    "personalised PageRank capped but at the person served with the same noise is ε-edge-DP",
    f"mistake: {WALKS}, privacy of others' ties taken for that of all",
)
G25 = NUMBERED.claim(
    25,
    "ProjectedTriangles",
    "the triangles among everybody's first k ties with noise for 3(k - 1) are ε-edge-DP",
    f"{RESTRICTED}, projection for edge adjacency",
)
G26 = NUMBERED.claim(
    26,
    "ProjectedTrianglesUnscaled",
    "the triangles among everybody's first k ties with noise for k - 1 are ε-edge-DP",
    f"mistake: {RESTRICTED}, restricted sensitivity taken for that after the projection",
)
G27 = EDGE.claim(
    27,
    "AssumedTriangles",
    "the triangles with noise for k - 1 are ε-edge-DP",
    f"mistake: {RESTRICTED}, degrees assumed to be at most k and not made so",
)
G28 = REWIRED.up_to(5).claim(
    28,
    "ProjectedTies",
    "the ties left by a linear program with Cauchy noise for a smooth bound are ε-DP for one "
    "person's ties",
    f"{RESTRICTED}, projection for vertex adjacency",
)
G29 = REWIRED.up_to(5).claim(
    29,
    "ProjectedTiesUnsmoothed",
    "the ties left by a linear program with noise for 2k are ε-DP for one person's ties",
    f"mistake: {RESTRICTED}, restricted sensitivity taken for that after the projection",
)
G30 = OTHERS.claim(
    30,
    "RiskScore",
    "a risk score with log-normal noise for clipped messages has a Rényi divergence of ε at order "
    "2, for ties of others",
    f"{SCORE}, log-normal mechanism",
)
G31 = OTHERS.claim(
    31,
    "RiskScoreLinear",
    "a risk score with log-normal noise for the sensitivity of a factor has a Rényi divergence of "
    "ε at order 2",
    f"mistake: {SCORE}, sensitivity not taken of the logarithm",
)
G32 = OTHERS.claim(
    32,
    "RiskScoreUnclipped",
    "a risk score with log-normal noise for messages clipped below only has a Rényi divergence of "
    "ε at order 2",
    f"mistake: {SCORE}, one of two bounds not enforced",
)
G33 = HIDDEN.claim(
    33,
    "ProtectedPrediction",
    "predicting a tie by powers of shared contacts is ε-DP for a candidate's ties to protected "
    "contacts",
    f"{PROTECTED}, monotone transformation and exponential mechanism",
)
G34 = HIDDEN.claim(
    34,
    "ProtectedPredictionOneTie",
    "predicting a tie with noise for one protected tie is ε-DP for a candidate's ties to "
    "protected contacts",
    f"mistake: {PROTECTED}, sensitivity of another relation",
)
G35 = HIDDEN.claim(
    35,
    "ProtectedPredictionSquared",
    "predicting a tie by squares of shared contacts is ε-DP for a candidate's ties to protected "
    "contacts",
    f"mistake: {PROTECTED}, a transformation that gets steeper",
)
G36 = EDGE.claim(
    36,
    "NoisyStars",
    "the number of 3-stars with noise for a sensitivity of 2 C(n - 2, 2) is ε-edge-DP",
    f"{STARS}, k-stars",
    k=3,
)
G37 = EDGE.claim(
    37,
    "NoisyStarsOneEnd",
    "the number of 3-stars with noise for a sensitivity of C(n - 2, 2) is ε-edge-DP",
    f"mistake: {STARS}, stars counted at one end of a tie",
    k=3,
)
G38 = EDGE.claim(
    38,
    "NoisyStarsSmooth",
    "the number of 3-stars with Cauchy noise for the smooth sensitivity is ε-edge-DP",
    f"{STARS}, k-stars, smooth sensitivity",
    k=3,
)
G39 = EDGE.up_to(5).claim(
    39,
    "AscendingDegrees",
    "the nearest ascending numbers to sorted degrees with noise Lap(2/ε) are ε-edge-DP",
    f"{DEGREES}, constrained inference",
)
G40 = EDGE.up_to(4).claim(
    40,
    "AscendingDegreesExactTotal",
    "the nearest ascending numbers to noisy degrees that add up as the degrees do are ε-edge-DP",
    f"mistake: {DEGREES}, a constraint read off the data",
)
