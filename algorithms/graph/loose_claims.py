"""How much noise is wasted where a mechanism loses less than it claims, on all small graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

from scipy.optimize import brentq

from pdpaudit.auditing.published_claims import MechanismClaim
from pdpaudit.core.graphs import GraphPair
from pdpaudit.core.registry import make_mechanism
from pdpaudit.outputs.records import JSON
from pdpaudit.report.blocks import Table
from pdpaudit.report.sources import section

from .small_graphs import VERTICES, Lawful, Losses, SmallGraphs

__all__ = ["loose_sections", "losses_by_size", "tight_epsilon"]

#: A claim is loose if it exceeds the loss by more than this.
TIGHT = 1e-6

#: ε up to which one is looked for at which a mechanism loses what it claims at 1.
MOST = 64.0


def _losses(mechanism: Lawful) -> Losses:
    """Return losses in the unit of what the mechanism claims."""
    return Losses(mechanism, getattr(mechanism, "claim", None))


def losses_by_size(mechanism: Lawful, pairs: Sequence[GraphPair]) -> dict[int, float]:
    """Return the largest loss among each number of people, of the larger side."""
    losses, largest = _losses(mechanism), dict[int, float]()
    for pair in pairs:
        largest[pair.left.vertices] = max(largest.get(pair.left.vertices, 0.0), losses.of(pair))
    return largest


def tight_epsilon(make: Callable[[float], Lawful], pairs: Sequence[GraphPair]) -> float:
    """Return the ε with which a mechanism loses 1 on these pairs; it loses less at ε = 1."""

    def excess(epsilon: float) -> float:
        return _losses(make(epsilon)).largest(pairs) - 1.0

    return float(brentq(excess, 1.0, MOST, rtol=1e-7))


def loose_sections(claims: Sequence[MechanismClaim]) -> tuple[JSON, ...]:
    """Return what is wasted by each claim that nothing violates, as a section of the dossier."""
    sizes, rows, tight = range(2, VERTICES + 1), [], []
    for claim in claims:
        if not isinstance(claim.exhaust, SmallGraphs) or claim.known_violated:
            continue
        mechanism = _made(claim, 1.0)
        pairs = list(claim.exhaust.pairs(claim.exhaust.most))
        losses = losses_by_size(mechanism, pairs)
        largest = max(losses.values())
        if largest > 1 - TIGHT:
            tight.append(claim.id)
            continue
        least = tight_epsilon(partial(_made, claim), pairs)
        by_size = (f"{losses[n]:.4f}" if n in losses else "" for n in sizes)
        name = f"{claim.id}: {claim.mechanism.partition(':')[2]}"
        rows.append((name, *by_size, f"{1 / largest:.3f}", f"{least:.4f}"))
    text = [
        "The largest loss at ε = 1 among each number of people, over all pairs of the claim's "
        "relation that are looked at, in the unit of the claim. Where it stays below 1, the claim "
        "is that many times too careful, and the same mechanism made with the ε of the last column "
        "loses 1 on these pairs. On larger graphs a recommendation's loss (G1, G2) comes near its "
        "ε as candidates and shared contacts are added, so that nothing is wasted there in the "
        "end; why G21, G25 and G33 are loose on all graphs is shown in their modules.",
        f"Attained, so that no noise is wasted: {', '.join(tight)}.",
    ]
    columns = ("claim", *(f"{n} people" for n in sizes), "times too careful", "ε that loses 1")
    table = Table("Claims that small graphs do not attain", columns, tuple(rows), numeric=True)
    return (section("Noise that is wasted", text=text, tables=[table]),)


def _made(claim: MechanismClaim, epsilon: float) -> Lawful:
    made, _ = make_mechanism(claim.mechanism, {**claim.parameters, "epsilon": epsilon})
    return cast("Lawful", made)
