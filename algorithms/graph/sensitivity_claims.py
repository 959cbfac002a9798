"""What publications claim of sensitivities on graphs, and what their mistakes would.

Joint degrees, walks, projections, scores of risk, protected ties, stars and inferred degrees: G18
to G40 of the paper ``graph``; the others are in ``claims``.
"""

from __future__ import annotations

from dataclasses import replace

from .claims import DEGREES, _claim

__all__ = [f"G{number}" for number in range(18, 41)]

JOINT = "Wang, Wu 2013"
WALKS = "Epasto, Mirrokni, Perozzi, Tsitsulin, Zhong 2022"
RESTRICTED = "Blocki, Blum, Datta, Sheffet 2013"
SCORE = "Romijnders, Louizos, Asano, Welling 2023"
PROTECTED = "De, Chakrabarti 2019"
STARS = "Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011"

#: Stars larger than the pairs of ties of G9.
_THREE = {"epsilon": 1.0, "k": 3}

G18 = _claim(
    18,
    "NoisyJointDegrees",
    "the ties by the degrees of their ends with noise for a sensitivity of 4n - 7 are ε-edge-DP",
    f"{JOINT}, 2K-graph model, global sensitivity",
)
G19 = _claim(
    19,
    "NoisyJointDegreesLocal",
    "the ties by the degrees of their ends with noise for 4d + 1, d the largest degree, are "
    "ε-edge-DP",
    "Sala, Zhao, Wilson, Zheng, Zhao 2011, sensitivity of the dK-2 series read off the graph",
    violated=True,
)
G20 = _claim(
    20,
    "NoisyJointDegreesSmooth",
    "the ties by the degrees of their ends with Laplace noise for a smooth bound are "
    "(ε, 1e-6)-edge-DP",
    f"{JOINT}, 2K-graph model, smooth sensitivity",
)
G21 = _claim(
    21,
    "NoisyPageRank",
    "personalised PageRank with noise for a sensitivity of 2(1 - p)/p, p to stop, is ε-edge-DP",
    f"{WALKS}, baseline",
)
G22 = _claim(
    22,
    "NoisyPageRankByDegree",
    "personalised PageRank with noise for 2(1 - p)/(p(d + 1)), d the degree, is ε-edge-DP",
    f"mistake: {WALKS}, a sensitivity that is read off the degree",
    violated=True,
)
G23 = _claim(
    23,
    "CappedPageRank",
    "personalised PageRank capped at each tie with noise for what is aimed at is ε-edge-DP",
    f"{WALKS}, PushFlowCap",
)
G24 = _claim(
    24,
    "CappedPageRankOpen",
    "personalised PageRank capped but at the person served with the same noise is ε-edge-DP",
    f"mistake: {WALKS}, privacy of others' ties taken for that of all",
    violated=True,
)
G25 = _claim(
    25,
    "ProjectedTriangles",
    "the triangles among everybody's first k ties with noise for 3(k - 1) are ε-edge-DP",
    f"{RESTRICTED}, projection for edge adjacency",
)
G26 = _claim(
    26,
    "ProjectedTrianglesUnscaled",
    "the triangles among everybody's first k ties with noise for k - 1 are ε-edge-DP",
    f"mistake: {RESTRICTED}, restricted sensitivity taken for that after the projection",
    violated=True,
)
G27 = _claim(
    27,
    "AssumedTriangles",
    "the triangles with noise for k - 1 are ε-edge-DP",
    f"mistake: {RESTRICTED}, degrees assumed to be at most k and not made so",
    violated=True,
)
G28 = _claim(
    28,
    "ProjectedTies",
    "the ties left by a linear program with Cauchy noise for a smooth bound are ε-DP for one "
    "person's ties",
    f"{RESTRICTED}, projection for vertex adjacency",
)
G29 = _claim(
    29,
    "ProjectedTiesUnsmoothed",
    "the ties left by a linear program with noise for 2k are ε-DP for one person's ties",
    f"mistake: {RESTRICTED}, restricted sensitivity taken for that after the projection",
    violated=True,
)
G30 = _claim(
    30,
    "RiskScore",
    "a risk score with log-normal noise for clipped messages has a Rényi divergence of ε at order "
    "2, for ties of others",
    f"{SCORE}, log-normal mechanism",
)
G31 = _claim(
    31,
    "RiskScoreLinear",
    "a risk score with log-normal noise for the sensitivity of a factor has a Rényi divergence of "
    "ε at order 2",
    f"mistake: {SCORE}, sensitivity not taken of the logarithm",
    violated=True,
)
G32 = _claim(
    32,
    "RiskScoreUnclipped",
    "a risk score with log-normal noise for messages clipped below only has a Rényi divergence of "
    "ε at order 2",
    f"mistake: {SCORE}, one of two bounds not enforced",
    violated=True,
)
G33 = _claim(
    33,
    "ProtectedPrediction",
    "predicting a tie by powers of shared contacts is ε-DP for a candidate's ties to protected "
    "contacts",
    f"{PROTECTED}, monotone transformation and exponential mechanism",
)
G34 = _claim(
    34,
    "ProtectedPredictionOneTie",
    "predicting a tie with noise for one protected tie is ε-DP for a candidate's ties to "
    "protected contacts",
    f"mistake: {PROTECTED}, sensitivity of another relation",
    violated=True,
)
G35 = _claim(
    35,
    "ProtectedPredictionSquared",
    "predicting a tie by squares of shared contacts is ε-DP for a candidate's ties to protected "
    "contacts",
    f"mistake: {PROTECTED}, a transformation that gets steeper",
    violated=True,
)
G36 = replace(
    _claim(
        36,
        "NoisyStars",
        "the number of 3-stars with noise for a sensitivity of 2 C(n - 2, 2) is ε-edge-DP",
        f"{STARS}, k-stars",
    ),
    parameters=_THREE,
)
G37 = replace(
    _claim(
        37,
        "NoisyStarsOneEnd",
        "the number of 3-stars with noise for a sensitivity of C(n - 2, 2) is ε-edge-DP",
        f"mistake: {STARS}, stars counted at one end of a tie",
        violated=True,
    ),
    parameters=_THREE,
)
G38 = replace(
    _claim(
        38,
        "NoisyStarsSmooth",
        "the number of 3-stars with Cauchy noise for the smooth sensitivity is ε-edge-DP",
        f"{STARS}, k-stars, smooth sensitivity",
    ),
    parameters=_THREE,
)
G39 = _claim(
    39,
    "AscendingDegrees",
    "the nearest ascending numbers to sorted degrees with noise Lap(2/ε) are ε-edge-DP",
    f"{DEGREES}, constrained inference",
)
G40 = _claim(
    40,
    "AscendingDegreesExactTotal",
    "the nearest ascending numbers to noisy degrees that add up as the degrees do are ε-edge-DP",
    f"mistake: {DEGREES}, a constraint read off the data",
    violated=True,
)
