"""What a deployment lets out beside the list of people found: each an output to be audited.

The guarantee of Kearns, Roth, Wu and Yaroslavtsev, "Privacy for the Protected (Only)", covers the
ordered list of targeted people that a search returns. How many people it examined, which ones, how
long it took, and where a hard limit on examinations cut it off are other outputs of the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, LawUnavailable, Mechanism, PrivacyClaim

__all__ = ["ALL", "OBSERVABLES", "SAMPLES", "WORDS", "Observed", "observed"]


def _queries(instance: Any, _: float) -> Hashable:
    return len(instance.oracle.log)


def _examined(instance: Any, _: float) -> Hashable:
    return tuple(sorted(int(vertex) for vertex in instance.oracle.log))


def _seconds(_: Any, seconds: float) -> Hashable:
    return seconds


def _truncated(instance: Any, _: float) -> Hashable:
    log, oracle = instance.oracle.log, instance.oracle
    limit = max(1, instance.adjacency.shape[0] // 4)
    # Asking about a vertex again is free and changes nothing.
    return tuple(int(vertex) for vertex in log[:limit] if oracle(vertex))


#: What may be looked at, from the instance a run has used and the seconds it took.
OBSERVABLES: dict[str, Callable[[Any, float], Hashable]] = {
    "queries": _queries,
    "examined": _examined,
    "truncated": _truncated,
    "time": _seconds,
}

#: What stands for all of them, and the list beside, on a command line.
ALL = "all"

#: Fresh samples a side where no number is asked for: each is a whole run of the search.
SAMPLES = 10_000

#: What each is, in words.
WORDS = {
    "queries": "how many people were examined",
    "examined": "which people were examined",
    "truncated": "the list, cut off after a quarter as many examinations as there are people",
    "time": "the seconds a run took",
}


#: How events on them are told.
WORDING = {
    "queries": {"number": "the number of people examined"},
    "examined": {"done": "examined"},
    "truncated": {},
    "time": {"number": "the seconds a run took"},
}

#: Runs that must give the same, and draw nothing, for an output to count as certain.
CERTAIN = 4


class Observed:
    """A search of which only a by-product is seen; it claims what the search claims."""

    def __init__(self, mechanism: Mechanism, what: str) -> None:
        if what not in OBSERVABLES:
            known = ", ".join(OBSERVABLES)
            raise InputError(f"--observe {what}: choose one of {known}; or {ALL}, by itself")
        self.mechanism, self.what = mechanism, what
        #: Whether the same random stream gives the same output again.
        self.repeatable = what != "time"
        #: How events are told, for :func:`pdpaudit.auditing.claim_results.event_words`.
        self.wording = WORDING[what]

    @property
    def claim(self) -> PrivacyClaim:
        """The first promise of the search, held against the by-product."""
        return self.claims[0]

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """All promises of the search, held against the by-product."""
        several = getattr(self.mechanism, "claims", None)
        promised = (self.mechanism.claim,) if several is None else several
        words = f"made for the list only; here on {WORDS[self.what]}"
        return tuple(
            PrivacyClaim(claim.epsilon, claim.delta, f"{claim.source}; {words}")
            for claim in promised
        )

    def run(self, instance: Any, rng: np.random.Generator) -> Hashable:
        """Run the search and return the by-product; the cost of one run."""
        began = time.perf_counter()
        self.mechanism.run(instance, rng)
        return OBSERVABLES[self.what](instance, time.perf_counter() - began)

    def law(self, instance: Any) -> Law:
        """Return the one by-product of a search that draws nothing; the cost of a few runs."""
        if not self.repeatable:
            raise LawUnavailable("what differs from run to run has no law that could be computed")
        seen = set()
        for seed in range(CERTAIN):
            rng = np.random.default_rng(seed)
            before = rng.bit_generator.state
            fresh = getattr(instance, "fresh", None)
            seen.add(self.run(instance if fresh is None else fresh(), rng))
            spawned = getattr(rng.bit_generator.seed_seq, "n_children_spawned", 0)
            if len(seen) > 1 or spawned or rng.bit_generator.state != before:
                raise LawUnavailable("the search is random, and what it does beside is sampled")
        return Law(dict.fromkeys(seen, 1.0))


def observed(mechanism: Mechanism, what: str | None) -> Mechanism:
    """Return a mechanism of which a by-product is seen, or itself where nothing is named."""
    return mechanism if what is None else Observed(mechanism, what)
