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

from pdpaudit.contracts import Mechanism, PrivacyClaim
from pdpaudit.errors import InputError

__all__ = ["OBSERVABLES", "Observed", "observed"]


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

#: What each is, in words.
WORDS = {
    "queries": "how many people were examined",
    "examined": "which people were examined",
    "truncated": "the list, cut off after a quarter as many examinations as there are people",
    "time": "the seconds a run took",
}


class Observed:
    """A search of which only a by-product is seen; it claims what the search claims.

    Parameters
    ----------
    mechanism : Mechanism
        A search that asks ``instance.oracle``.
    what : str
        A key of :data:`OBSERVABLES`.

    Raises
    ------
    InputError
        If there is no such observable.

    Examples
    --------
    >>> import networkx as nx
    >>> from pdpaudit.network import Network, adjacency_from_networkx
    >>> from pdpaudit.registry import resolve
    >>> adjacency, _ = adjacency_from_networkx(nx.star_graph(4))
    >>> network = Network(adjacency, np.array([True, True, False, False, False]), seeds=(0,))
    >>> search = resolve("mechanisms", "SFS")()
    >>> Observed(search, "queries").run(network.instance(), np.random.default_rng(1))
    4
    """

    def __init__(self, mechanism: Mechanism, what: str) -> None:
        if what not in OBSERVABLES:
            raise InputError(f"--observe {what}: choose one of {', '.join(OBSERVABLES)}")
        self.mechanism, self.what = mechanism, what
        #: Whether the same random stream gives the same output again.
        self.repeatable = what != "time"

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


def observed(mechanism: Mechanism, what: str | None) -> Mechanism:
    """Return a mechanism of which a by-product is seen, or itself where nothing is named.

    Raises
    ------
    InputError
        If there is no such observable.

    Examples
    --------
    >>> observed("anything", None)
    'anything'
    """
    return mechanism if what is None else Observed(mechanism, what)
