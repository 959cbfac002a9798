"""What a deployment lets out beside the list of people found: each an output to be audited.

The guarantee of Kearns, Roth, Wu and Yaroslavtsev, "Privacy for the Protected (Only)", covers the
ordered list of targeted people that a search returns. How many people it examined, which ones, how
long it took, and where a hard limit on examinations cut it off are other outputs of the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import ParameterError
from pdpaudit.core.protocols import Law, LawUnavailable
from pdpaudit.core.specification import Specification
from pdpaudit.core.subject import Part, Subject


def _queries(instance: Any, _: float) -> Hashable:
    return len(instance.oracle.log)


def _examined(instance: Any, _: float) -> Hashable:
    return tuple(sorted(int(vertex) for vertex in instance.oracle.log))


def _seconds(_: object, seconds: float) -> Hashable:
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


#: Words for events on them.
WORDING = {
    "queries": {"number": "the number of people examined"},
    "examined": {"done": "examined"},
    "truncated": {},
    "time": {"number": "the seconds a run took"},
}

#: Runs that must give the same, and draw nothing, for an output to count as certain.
CERTAIN = 4


class Observed(Subject):
    """A search of which only a by-product is seen; it claims what the search claims.

    Parameters
    ----------
    mechanism : Mechanism
        A search that asks ``instance.oracle``, or a class that makes one.
    what : str
        A key of :data:`OBSERVABLES`.

    Raises
    ------
    InputError
        If there is no such observable.

    Examples
    --------
    >>> import networkx as nx
    >>> from pdpaudit.core.network import Network, adjacency_from_networkx
    >>> from pdpaudit.core.registry import resolve
    >>> adjacency, _ = adjacency_from_networkx(nx.star_graph(4))
    >>> network = Network(adjacency, np.array([True, True, False, False, False]), seeds=(0,))
    >>> search = resolve("mechanisms", "SFS")
    >>> Observed(search, "queries").run(network.instance(), np.random.default_rng(1))
    4
    """

    default_samples = SAMPLES

    def __init__(self, mechanism: object, what: str) -> None:
        if what not in OBSERVABLES:
            known = ", ".join((*OBSERVABLES, REPRESENTATION))
            raise ParameterError("observe", what, f"choose one of {known}; or {ALL}, by itself")
        super().__init__(Subject.of(mechanism))
        self.what = what

    @property
    def repeatable(self) -> bool:
        """Whether the same random stream gives the same by-product again: time never does."""
        return self.what != "time"

    @property
    def wording(self) -> Mapping[str, str]:
        """Words for events on the by-product."""
        return WORDING[self.what]

    @property
    def claims(self) -> tuple[PrivacyClaim, ...]:
        """All promises of the search, tested on the by-product."""
        words = f"made for the list only; here on {WORDS[self.what]}"
        return tuple(
            replace(claim, source="; ".join(filter(None, (claim.source, words))))
            for claim in self.mechanism.claims
        )

    def specification(self, inner: Specification | None) -> Specification | None:
        """Return how to make it again."""
        return inner and replace(inner, observe=self.what)

    def part(self, name: Part) -> Callable[..., object] | None:
        """Return the part asked for: what the search says of its list is not said of this."""
        if name == "law":
            return self._law
        return super().part(name) if name == "pairs" else None

    def run(self, instance: object, rng: np.random.Generator) -> Hashable:
        """Run the search and return the by-product; the cost of one run."""
        began = time.perf_counter()
        self.mechanism.run(instance, rng)
        return OBSERVABLES[self.what](instance, time.perf_counter() - began)

    def _law(self, instance: object) -> Law:
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


#: What stands for the exact form of the numbers that a mechanism returns.
REPRESENTATION = "representation"


class ExactForm(Subject):
    """A mechanism whose outputs are seen to the last bit; it claims what it claims.

    Examples
    --------
    >>> from pdpaudit.core.registry import resolve
    >>> ExactForm(resolve("mechanisms", "zoo:Laplace")(epsilon=1.0)).representation
    True
    """

    representation = True

    def __init__(self, mechanism: object) -> None:
        super().__init__(Subject.of(mechanism))
        self.default_samples = self.mechanism.default_samples

    def specification(self, inner: Specification | None) -> Specification | None:
        """Return how to make it again."""
        return inner and replace(inner, observe=REPRESENTATION)

    def part(self, name: Part) -> Callable[..., object] | None:
        """Return the part asked for; a law of real numbers says nothing of their form."""
        return None if name in ("law", "beginning") else super().part(name)


def observed(mechanism: object, what: str | None) -> Subject:
    """Return a mechanism of which a by-product is seen, or itself where nothing is named."""
    if what == REPRESENTATION:
        return ExactForm(mechanism)
    return Subject.of(mechanism) if what is None else Observed(mechanism, what)
