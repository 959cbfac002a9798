"""Check the declared sensitivity on the author's own network."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pdpaudit.conformance.case import Case
from pdpaudit.conformance.check import Check
from pdpaudit.conformance.examination import Examination
from pdpaudit.conformance.on_network import Move, worst_move
from pdpaudit.conformance.shrink import shrink
from pdpaudit.conformance.tolerance import exceeds
from pdpaudit.network import Network
from pdpaudit.results import CheckResult

__all__ = ["OWN_NETWORK"]

SHRINKABLE = 60  # vertices around a violation that are shrunk one by one
SHOWN = 8  # neighbours named in a sentence


def _run(examination: Examination) -> CheckResult:
    network = examination.options.network
    if network is None:
        return CheckResult("own-network", "skipped", detail="no network was given")
    degree = examination.options.max_degree
    bound = network.n - 1 if degree is None else degree
    declared = float(examination.sop.sensitivity(bound))
    move = worst_move(
        examination.sop,
        network,
        bound,
        fast=examination.fast,
        steps=max(examination.options.examples // 8, 40),
        seed=examination.options.seed,
        deadline=max(examination.deadline, time.time() + 2.0),
    )
    promise = f"degree {bound}" + (" (n - 1, as none was given)" if degree is None else "")
    if move is None:
        return CheckResult("own-network", "inconclusive", detail="the time was over too soon")
    scope = f"{move.looked_at} rewirings on {network.title}, {promise}"
    broken = exceeds(move.moved, declared)
    return CheckResult(
        "own-network",
        "violated" if broken else "not_rejected",
        declared=declared,
        observed=move.moved,
        scope=scope,
        witness=_witness(examination, network, move, bound) if broken else None,
        detail=_sentence(network, move),
    )


def _sentence(network: Network, move: Move) -> str:
    def named(vertices: tuple[int, ...]) -> str:
        names = ", ".join(network.name(v) for v in vertices[:SHOWN])
        more = f" and {len(vertices) - SHOWN} more" if len(vertices) > SHOWN else ""
        return f"{{{names}{more}}}"

    return (
        f"rewiring {network.name(move.vertex)} from {named(move.left)} to {named(move.right)} "
        f"moves {network.name(move.at)} from {move.before:.6g} to {move.after:.6g}, "
        f"with S = {named(move.targets)}"
    )


def _witness(
    examination: Examination, network: Network, move: Move, bound: int
) -> dict[str, Any] | None:
    """Cut a violation out of its network, if it survives that; otherwise take all of it."""
    centre = {move.vertex, move.at, *move.left[:SHOWN], *move.right[:SHOWN]}
    near = set(centre)
    for v in centre:
        near.update(network.neighbours(v).tolist()[:SHOWN])
    for kept in (sorted(near)[:SHRINKABLE], list(range(network.n))):
        case = _cut(network, move, sorted({*kept, move.vertex, move.at}))
        if examination.breaks_own(case, bound):
            if case.n <= SHRINKABLE:
                until = time.time() + 5.0
                case = shrink(case, lambda c: examination.breaks_own(c, bound), until)
            witness = examination.pair_witness(case, "own-network", bound)
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
    "the declared sensitivity holds on your own network",
    _run,
    ("finite", "deterministic", "graph-unchanged", "order-independent"),
)
