"""Check what is declared on the author's own network."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pdpaudit.checks.case import Case
from pdpaudit.checks.check import Check
from pdpaudit.checks.examination import Examination
from pdpaudit.checks.measure import slack_at
from pdpaudit.checks.on_network import Move, worst_moves
from pdpaudit.checks.shrink import shrink
from pdpaudit.core.network import Network
from pdpaudit.results.results import CheckResult

__all__ = ["OWN_NETWORK"]

SHRINKABLE = 60  # vertices around a violation that are shrunk one by one
SHOWN = 8  # neighbours named in a sentence


def _run(examination: Examination) -> CheckResult:
    network = examination.options.network
    if network is None:
        return CheckResult("own-network", "skipped", detail="no network was given")
    degree = examination.options.max_degree
    bound = network.n - 1 if degree is None else degree
    worst = worst_moves(
        examination.sop,
        network,
        bound,
        fast=examination.fast,
        steps=max(examination.options.examples // 8, 40),
        seed=examination.options.seed,
        deadline=max(examination.deadline, time.time() + 2.0),
    )
    if worst is None:
        return CheckResult("own-network", "inconclusive", detail="the time was over too soon")
    promise = f"degree {bound}" + (" (n - 1, as none was given)" if degree is None else "")
    moved, changed = worst.moves_most.moved, len(worst.changes_most.changed)
    sensitivity = float(examination.sop.sensitivity(bound))
    impact = float(examination.sop.impact_cardinality(bound))
    # Where both are broken, the sensitivity is told.
    too_far = moved > sensitivity + slack_at(examination.sop, bound)
    too_many = changed > impact and not too_far
    witness = None
    if too_far:
        witness = _witness(examination, network, worst.moves_most, bound, "own-network")
    elif too_many:
        witness = _witness(examination, network, worst.changes_most, bound, "impact-cardinality")
    detail = f"{_sentence(network, worst.moves_most)}; {_count(network, worst.changes_most)}"
    return CheckResult(
        "own-network",
        "violated" if too_far or too_many else "not_rejected",
        declared=impact if too_many else sensitivity,
        observed=float(changed) if too_many else moved,
        scope=f"{worst.looked_at} rewirings on {network.title}, {promise}",
        witness=witness,
        detail=detail + (f", where {impact:g} are declared" if too_many else ""),
    )


def _named(network: Network, vertices: tuple[int, ...]) -> str:
    names = ", ".join(network.name(v) for v in vertices[:SHOWN])
    more = f" and {len(vertices) - SHOWN} more" if len(vertices) > SHOWN else ""
    return f"{{{names}{more}}}"


def _sentence(network: Network, move: Move) -> str:
    left, right, targets = (_named(network, x) for x in (move.left, move.right, move.targets))
    return (
        f"rewiring {network.name(move.vertex)} from {left} to {right} moves "
        f"{network.name(move.at)} from {move.before:.6g} to {move.after:.6g}, with S = {targets}"
    )


def _count(network: Network, move: Move) -> str:
    left, right = _named(network, move.left), _named(network, move.right)
    return (
        f"rewiring {network.name(move.vertex)} from {left} to {right} changes "
        f"{len(move.changed)} vertices"
    )


def _witness(
    examination: Examination, network: Network, move: Move, bound: int, of: str
) -> dict[str, Any] | None:
    """Cut a violation out of its network, if it survives that; otherwise take all of it."""
    centre = {move.vertex, move.at, *move.left[:SHOWN], *move.right[:SHOWN]}
    if of == "impact-cardinality":
        centre.update(move.changed[:SHRINKABLE])
    near = set(centre)
    for v in centre:
        near.update(network.neighbours(v).tolist()[:SHOWN])
    for kept in (sorted(near)[:SHRINKABLE], list(range(network.n))):
        case = _cut(network, move, sorted({*kept, move.vertex, move.at}))
        if examination.breaks_own(case, bound, of):
            if case.n <= SHRINKABLE:
                until = time.time() + 5.0
                case = shrink(case, lambda c: examination.breaks_own(c, bound, of), until)
            witness = examination.pair_witness(case, of, bound)
            return witness if case.n <= 5000 else None
    return None


def _cut(network: Network, move: Move, kept: list[int]) -> Case:
    """Return the pair on some of the vertices only."""
    index = {v: i for i, v in enumerate(kept)}
    inside = network.adjacency[kept][:, kept].nonzero()
    u = index[move.vertex]
    edges = tuple(
        (int(a), int(b)) for a, b in np.transpose(inside) if a < b and u not in (int(a), int(b))
    )

    def renamed(vertices: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(index[v] for v in vertices if v in index)

    return Case(len(kept), edges, u, renamed(move.left), renamed(move.right), renamed(move.targets))


OWN_NETWORK = Check(
    "own-network",
    "the declarations hold on your own network",
    _run,
    ("finite", "deterministic", "graph-unchanged", "order-independent"),
    ("fast-path",),
)
