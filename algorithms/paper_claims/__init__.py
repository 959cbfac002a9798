"""The claims of Kearns, Roth, Wu and Yaroslavtsev, "Privacy for the Protected (Only)".

What the paper claims, and what to audit for it; no verdict is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pdpaudit.auditing.published_claims import BoundClaim, MechanismClaim, Paper
from pdpaudit.auditing.small_networks import try_small_networks
from pdpaudit.core.network import Network, adjacency_from_edges

APPENDIX = "Kearns et al., Technical Appendix"
MAIN = "Kearns et al., main text"


def crowd() -> Iterator[Network]:
    """Yield one network with many targets to find: where a form with δ is put to the test.

    The empty answer loses a share of ε with each target that one vertex can move, while the form
    with δ allows about √ln(1/δ), and the answer's own probability falls by a factor with each: so
    many targets separate them. A large ε makes that factor near 1, and with it δ of a size one
    might choose; many protected vertices keep the noise of the threshold from hiding it all.
    """
    targets, protected = 30, 8000
    n = 1 + targets + protected
    none = np.empty(0, dtype=np.int64)
    yield Network(
        adjacency_from_edges(n, none, none),
        np.arange(n) <= targets,
        seeds=(0,),
        title=f"planted: {targets} targets to find among {protected} protected",
        max_degree=targets + 1,
    )


PAPER = Paper(
    title="The paper's privacy claims, audited",
    text='The claims of Kearns, Roth, Wu and Yaroslavtsev, "Privacy for the Protected (Only)".',
    composed=True,
)

C1 = MechanismClaim(
    id="C1",
    statement="SFS is 0-protected differentially private",
    source=f"{APPENDIX}, lemma on SFS",
    mechanism="SFS",
    exhaust=partial(try_small_networks, vertices=5),
)
C2 = MechanismClaim(
    id="C2",
    known_violated=True,
    statement="SearchCom is ε-protected differentially private",
    source=f"{APPENDIX}, lemma on SearchCom",
    mechanism="SearchCom",
    parameters={"epsilon": 1.0, "sop": "CN"},
)
C3 = MechanismClaim(
    id="C3",
    known_violated=True,
    statement="PTarget is (k-1)ε-protected differentially private",
    source=f"{APPENDIX}, theorem on PTarget, pure form",
    mechanism="PTarget",
    parameters={"epsilon": 1.0, "sop": "CN", "components": 2},
)
C4 = MechanismClaim(
    id="C4",
    known_violated=True,
    statement="PTarget is (2√(2(k-1)ln(1/δ))·ε, δ)-protected differentially private",
    source=f"{APPENDIX}, theorem on PTarget, form with δ",
    mechanism="PTarget",
    parameters={"epsilon": 20.0, "sop": "CN", "components": 2, "delta": 0.02, "stop": 800},
    number=2,
    networks=crowd,
    # The rarer answer has probability 1e-53, where the check of a proof cannot follow.
    enclosed=False,
)
C5 = MechanismClaim(
    id="C5",
    known_violated=True,
    statement="PTarget with noise Lap(Δ/ε) is (k-1)ε-protected differentially private",
    source=f"{MAIN}, theorem on PTarget",
    mechanism="PTarget:main-text",
    parameters={"epsilon": 1.0, "sop": "CN", "components": 2},
)
C6 = MechanismClaim(
    id="C6",
    known_violated=True,
    statement="Report Noisy Max with noise Lap(γ/ε), releasing the noisy value too, is 2ε-DP",
    source=f"{APPENDIX}, lemma on Report Noisy Max",
    mechanism="pdpaudit.algorithms.paper_claims.noisy_max:NoisyMaxWithValue",
    parameters={"epsilon": 1.0, "functions": 5},
)


def _bound(
    number: int,
    statement: str,
    formula: str,
    bound: Callable[[int, int], float],
    *members: tuple[str, int],
    source: str = f"{MAIN}, statistics of proximity",
) -> BoundClaim:
    return BoundClaim(
        id=f"C{number}",
        statement=statement,
        source=source,
        members=members,
        bound=bound,
        formula=formula,
    )


C7 = _bound(7, "Δ(Flow_k) ≤ d", "d", lambda k, degree: degree, ("Flow_2", 6), ("Flow_3", 5))
C8 = _bound(
    8,
    "Δ(Path_k) ≤ (k-1)·d^(k-1)",
    "(k-1)·d^(k-1)",
    lambda k, degree: (k - 1) * degree ** (k - 1),
    *(("Path_2", 6), ("Path_3", 6), ("Path_4", 6)),
)
C9 = _bound(9, "Δ(Triangle) ≤ d", "d", lambda k, degree: degree, ("Triangle", 6))
C10 = _bound(10, "Δ(CN) ≤ 1", "1", lambda k, degree: 1, ("CN", 6))
C11 = _bound(
    11, "Δ(Path_1) = 0", "0", lambda k, degree: 0, ("Path_1", 6), source=f"{APPENDIX}, lemma on SFS"
)
C12 = MechanismClaim(
    id="C12",
    known_violated=True,
    statement="with noise Lap(20) and CN the experiments' search is (k-1)/20-protected DP",
    source=f"{MAIN}, experiments",
    mechanism="PTarget:main-text",
    parameters={"epsilon": 0.05, "sop": "CN", "components": 2},
)
C13 = MechanismClaim(
    id="C13",
    statement="querying everyone is 0-protected differentially private",
    source=f"{MAIN}, remark",
    mechanism="QueryEveryone",
    exhaust=partial(try_small_networks, vertices=5),
)
