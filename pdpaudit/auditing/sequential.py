"""Confirm while sampling: look each time the sample has grown, and stop when sure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pdpaudit.auditing.config import Config
from pdpaudit.auditing.power import FOUND
from pdpaudit.core.protocols import Mechanism, PrivacyClaim
from pdpaudit.inference.sequential import (
    Known,
    Wager,
    look_sizes,
    refuted_by,
    smallest_refuted,
)
from pdpaudit.outputs import Side
from pdpaudit.sampling import Hits, Misbehaviour, Progress, Store, hits

__all__ = ["Looks", "draw_in_looks", "draw_sides", "first_count", "planned_looks", "power_of_looks"]

#: Probability with which the loss asked for must be seen.
POWER = 0.95


@dataclass(frozen=True)
class Looks:
    """When to look."""

    sizes: list[int]
    enough: bool

    def words(self, drawn: int, config: Config, *, violated: bool) -> str:
        """Say why sampling stopped after so many draws a side."""
        most = f"{config.size:,} runs a side"
        if violated:
            return f"Stopped after {drawn:,} of at most {most}: the violation was certain."
        if self.enough:
            return (
                f"Stopped after {drawn:,} of at most {most}: a loss of {config.detect:g} would "
                "have been found by then in 19 of 20 planted leaks."
            )
        asked = (
            "" if config.detect is None else f", nor would a loss of {config.detect:g} surely have"
        )
        return f"Drew all {most}: no violation was seen{asked}."


def planned_looks(
    config: Config,
    claim: PrivacyClaim,
    alpha: float,
    planted: Iterable[tuple[float, float] | None],
    known: Known,
) -> Looks:
    """Return when to look: until the loss asked for would have been seen, or all is drawn."""
    sizes, wanted = look_sizes(config.size), config.detect
    if wanted is None or wanted <= claim.epsilon:
        return Looks(sizes, enough=False)
    shares = [
        np.zeros(len(sizes))
        if rates is None
        else refuted_by(sizes, *rates, alpha, claim.epsilon, claim.delta, known.runs)
        for rates in planted
    ]
    seen = np.flatnonzero(np.mean(shares, axis=0) >= FOUND) if shares else np.empty(0)
    enough = int(seen[0]) if len(seen) else len(sizes)
    return Looks(sizes[: enough + 1], enough=enough < len(sizes))


def power_of_looks(
    looks: Looks, claim: PrivacyClaim, alpha: float, bases: Iterable[float], known: Known
) -> float:
    """Return the smallest loss that these looks would have seen with probability 0.95."""
    return min(
        smallest_refuted(
            looks.sizes, q, alpha, min(claim.epsilon, 1e308), claim.delta, known.runs, POWER
        )
        for q in bases
    )


def first_count(counted: Hits) -> int:
    """Return how many runs fell into the first of the events counted."""
    return int(np.atleast_1d(counted.inside)[0])


def draw_sides(
    mechanism: Mechanism,
    inputs: Mapping[Side, Any],
    size: int,
    event: Any,
    *,
    seed: int,
    key: tuple[str | int, ...],
    look: tuple[int, ...] = (),
    counted: Mapping[Side, Hits],
    **how: Any,
) -> None:
    """Count ``size`` runs on each side into ``counted``; ``how`` as for :func:`hits`."""
    for side, instance in inputs.items():
        stream, total = (*key, side, *look), counted[side]
        try:
            hits(mechanism, instance, size, event, seed=seed, key=stream, total=total, **how)
        except Misbehaviour as error:
            raise Misbehaviour(f"on the {side}: {error}") from None


def draw_in_looks(
    mechanism: Mechanism,
    inputs: Mapping[Side, Any],
    event: Any,
    side: Side,
    wager: Wager,
    sizes: Iterable[int],
    *,
    seed: int,
    number: int,
    counted: Mapping[Side, Hits],
    jobs: int = 1,
    progress: Progress | None = None,
    store: Store | None = None,
    single: bool = False,
) -> Wager:
    """Draw on both sides from look to look until the violation is certain or no look is left.

    Each look draws from streams of its own and is counted whole, so that what is seen does not
    depend on the workers, nor on how many more looks were planned.
    """
    other: Side = "right" if side == "left" else "left"
    for look, size in enumerate(sizes):
        before = {one: first_count(counted[one]) for one in counted}
        step = size - wager.n
        draw_sides(
            mechanism,
            inputs,
            step,
            event,
            seed=seed,
            key=("confirm", number),
            look=(look,),
            counted=counted,
            jobs=jobs,
            progress=progress,
            store=store,
            single=single,
        )
        new = {one: first_count(counted[one]) - before[one] for one in counted}
        wager = wager.update(new[side], new[other], step)
        if wager.violated:
            break
    return wager
