"""What publications claim of sensitivities on graphs, and what their mistakes would.

Joint degrees, walks, projections, scores of risk, protected ties, stars and inferred degrees: G18
to G40 of the paper ``graph``; the others are in ``claims``.
"""

from __future__ import annotations

from .claims import DEGREES, graph_claim
from .small_graphs import EDGE, HIDDEN, NUMBERED, OTHERS, REWIRED, SOURCE

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
