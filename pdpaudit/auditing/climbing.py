"""What discovery learns of a pair, and the way uphill from the worst."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pdpaudit.auditing.arms import Arm, moves_of
from pdpaudit.core.privacy_loss import ExactLoss
from pdpaudit.core.protocols import Law
from pdpaudit.outputs import Draws, Event

__all__ = ["Found", "Halves", "by_score", "climb", "empty_halves"]

#: Discovery samples: left and right, each in two halves.
Halves = tuple[tuple[Draws, Draws], tuple[Draws, Draws]]

#: Rounds without gain after which climbing ends.
PATIENCE = 2


def empty_halves() -> Halves:
    """Return discovery samples with nothing in them yet."""
    return (Draws(), Draws()), (Draws(), Draws())


@dataclass
class Found:
    """An arm with what discovery learned about it."""

    arm: Arm
    score: float = -math.inf
    losses: dict[float, ExactLoss] = field(default_factory=dict)
    laws: tuple[Law, Law] | None = field(default=None, repr=False)
    halves: Halves = field(default_factory=empty_halves)
    events: list[Event] = field(default_factory=list)
    tested: list[tuple[int, int]] = field(default_factory=list)
    tests: int = 0
    ladders: list[tuple[Event, ...]] = field(default_factory=list)
    wanted: int = 0
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
