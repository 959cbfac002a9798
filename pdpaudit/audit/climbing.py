"""What discovery learns of a pair, and the way uphill from the worst."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from pdpaudit.audit.arms import Arm, moves_of
from pdpaudit.losses import ExactLoss

__all__ = ["Found", "by_score", "climb"]

#: Rounds without gain after which climbing ends.
PATIENCE = 2


@dataclass
class Found:
    """An arm with what discovery learned about it.

    Attributes
    ----------
    arm : Arm
        The pair.
    score : float
        Exact loss, or the lower bound its best event is expected to give.
    losses : dict of float to ExactLoss
        By δ, where the law is known.
    halves : tuple, optional
        Discovery counts: left and right, two halves each.
    runs : int
        Runs spent on both sides together.
    """

    arm: Arm
    score: float = -math.inf
    losses: dict[float, ExactLoss] = field(default_factory=dict)
    halves: tuple[tuple[Counter[Hashable], ...], tuple[Counter[Hashable], ...]] = field(
        default_factory=lambda: ((Counter(), Counter()), (Counter(), Counter()))
    )
    runs: int = 0


def climb(
    best: Found,
    found: list[Found],
    measure: Callable[[Arm], Found],
    moves: int,
    seed: int,
) -> list[Found]:
    """Follow local moves uphill; return everything measured."""
    patience = PATIENCE
    for step in range(moves):
        if best.arm.pair is None or math.isinf(best.score) or not patience:
            break
        tried = [measure(arm) for arm in moves_of(best.arm.pair, seed, step)]
        if not tried:
            break
        found = found + tried
        top = max(tried, key=lambda one: one.score)
        if top.score > best.score * (1 + 1e-6):
            best, patience = top, PATIENCE
        else:
            patience -= 1
    return found


def by_score(found: Iterable[Found]) -> list[Found]:
    """Return what was found, worst leak first."""
    return sorted(found, key=lambda one: -one.score)
