"""Claims that are not (ε, δ): which events are counted for them, and what the counts show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.inference.claim_bounds import Band, claim_bound
from pdpaudit.outputs import Draws, Event, Membership, Range, Score, Several
from pdpaudit.results.witnesses import NestedBets
from pdpaudit.sampling import Hits

#: Quantile of each count that a loss is still found at, so that 19 of 20 are.
UNLUCKY = 0.025


@dataclass(frozen=True)
class Weighed:
    """Nested events, by their places in a list of events, and how their bins are weighed."""

    places: tuple[int, ...]
    band: Band

    def recorded(self) -> NestedBets:
        """Return what a witness holds of it."""
        return NestedBets(self.places, self.band)

    @classmethod
    def of(cls, bets: NestedBets) -> Weighed:
        """Return what a witness holds."""
        return cls(bets.places, Band(**vars(bets.bets)))

    def bound(
        self, claim: PrivacyClaim, counted: tuple[Hits, Hits], runs: int, alpha: float
    ) -> float:
        """Return the lower bound on the claim's parameter from fresh runs on both sides."""
        ours, theirs = (np.atleast_1d(one.inside)[list(self.places)].tolist() for one in counted)
        return self.band.bound(claim, (ours, theirs), runs, alpha)


def nested(events: Sequence[Event]) -> tuple[int, ...]:
    """Return the places of events each of which holds the one before; none where fewer than two."""
    chain: list[int] = []
    for place in sorted(range(len(events)), key=lambda i: (_size(events[i]), i)):
        if not chain or _holds(events[place], events[chain[-1]]):
            chain.append(place)
    return tuple(chain) if len(chain) > 1 else ()


def weighed(
    claim: PrivacyClaim,
    events: Sequence[Event],
    ours: tuple[Draws, Draws],
    theirs: tuple[Draws, Draws],
    confirming: tuple[int, float],
) -> tuple[Weighed, float] | None:
    """Return how nested ones among the events are weighed, and the bound to expect of that."""
    # The first, which was chosen by itself, may lie across the others.
    chains = [nested(events), tuple(place + 1 for place in nested(events[1:]))]
    places = max(chains, key=len)
    if not places:
        return None
    several = Several(tuple(events[place] for place in places))
    inside, other = (
        sum((several.count(half) for half in halves), np.zeros(len(places), dtype=np.int64))
        for halves in (ours, theirs)
    )
    runs = (sum(map(len, ours)), sum(map(len, theirs)))
    planned = Band.plan(claim, (inside.tolist(), other.tolist()), runs, confirming)
    return None if planned is None else (Weighed(places, planned[0]), planned[1])


def least_detectable(claim: PrivacyClaim, base: float, size: int, alpha: float) -> float:
    """Return the smallest parameter that an event of this rate would have shown above the claim."""
    shares = base + (1 - base) * np.geomspace(1e-6, 1.0, 200)
    hits = np.array([special.bdtrik(UNLUCKY, size, min(p, 1 - 1e-12)) for p in shares])
    most = float(np.ceil(special.bdtrik(1 - UNLUCKY, size, base)))
    shown = claim_bound(claim, np.floor(np.maximum(hits, 0)), np.full(200, most), size, alpha)
    found = shares[shown > claim.value]
    return float(claim.smallest(found[0], base)) if len(found) else float("inf")


def _size(event: Event) -> float:
    """Return what grows with an event among those that differ in their threshold only."""
    match event:
        case Membership():
            return len(event.values)
        case Score():
            return -event.threshold
        case Range():
            return event.high if np.isinf(event.low) else -event.low


def _holds(event: Event, inner: Event) -> bool:
    match event, inner:
        case Membership(), Membership():
            return event.column == inner.column and event.values > inner.values
        case Score(), Score():
            return event.terms == inner.terms and event.threshold < inner.threshold
        case Range(), Range():
            same = event.column == inner.column and event != inner
            return same and event.low <= inner.low and event.high >= inner.high
    return False
