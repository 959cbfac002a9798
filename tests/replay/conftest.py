"""Results of four kinds, small enough to be replayed hundreds of times."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx

from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.auditing import Config, audit
from pdpaudit.auditing.claim_results import Prover
from pdpaudit.auditing.proof import prove_claim
from pdpaudit.auditing.provenance import source_digest
from pdpaudit.checks import Options, check_sop
from pdpaudit.core.registry import make_mechanism
from pdpaudit.core.statistic import statistic
from pdpaudit.outputs.records import JSON
from pdpaudit.replay import Replay, replay_result, terms_of
from pdpaudit.results.results import Result

Body = dict[str, Any]

SEED = 7


def never(body: Any, seed: int) -> Any:
    raise AssertionError("these networks are written out")


@statistic(sensitivity=0.5, impact_cardinality=99)
def friends_shared(graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
    """Declares half of what it needs."""
    return float(sum(len({*graph[vertex]} & {*graph[target]}) for target in targets))


def find(group: str, name: str) -> Any:
    """Return registered names, and the statistic above, whose replay is trusted here."""
    from pdpaudit.replay import finder

    return friends_shared if name == "friends_shared" else finder(trust=False)(group, name)  # type: ignore[arg-type]


def audited(name: str, parameters: Body, prover: Prover | None = None, **asked: Any) -> Result:
    made, spec = make_mechanism(name, parameters)
    networks = [] if hasattr(made, "pairs") else [planted_network(3, 12)]
    config = Config(SEED, **asked)
    return audit(made, networks, config, subject=name, spec=spec, prover=prover)


def exact() -> Result:
    return audited("PTarget:main-text", {"epsilon": 0.5}, tries=6)


def sampled() -> Result:
    return audited("PTarget:main-text", {"epsilon": 0.5}, samples=4000, tries=6)


def sequential() -> Result:
    return audited("zoo:SVT5", {"epsilon": 1.0}, samples=400, method="sequential")


def proved() -> Result:
    result = audited("PTarget:main-text", {"epsilon": 0.5}, prover=prove_claim, tries=6)
    assert any(claim.method == "enclosure" for claim in result.claims)
    return result


def checked() -> Result:
    checks = check_sop(friends_shared, Options(max_vertices=4, examples=0, jobs=1, seed=SEED))
    specified = tuple(
        replace(check, witness={**check.witness, "specification": "friends_shared"})
        if check.witness
        else check
        for check in checks
    )
    return Result(
        "check", "friends_shared", SEED, 0.0, specified, source=source_digest(friends_shared)
    )


KINDS: dict[str, Callable[[], Result]] = {
    one.__name__: one for one in (checked, sequential, sampled, exact, proved)
}

_made: dict[str, Body] = {}


def result_of(kind: str) -> Body:
    """Return the JSON of a result, as it is read from a file."""
    if kind not in _made:
        _made[kind] = json.loads(json.dumps(KINDS[kind]().to_json()))
    return copy.deepcopy(_made[kind])


def replayed(body: JSON) -> list[Replay]:
    terms = terms_of(body, "result.json", never, find=find)
    return replay_result(body, "result.json", terms)
