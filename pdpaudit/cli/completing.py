"""What a shell offers for a half-typed word; nothing heavy is imported for it."""

from __future__ import annotations

import re
from collections.abc import Callable

from pdpaudit.core.errors import InputError
from pdpaudit.core.registry import Group, registered

__all__ = [
    "BACKENDS",
    "CHECKS",
    "METHODS",
    "NOISES",
    "OBSERVABLES",
    "REGIMES",
    "RELATIONS",
    "among",
    "by_number",
    "claims_offered",
    "names_of",
]

# Written down here, as the modules that define them take a second to import; tests compare them.
BACKENDS = ("loky", "multiprocessing", "dask")
METHODS = ("exact", "clopper-pearson", "betting", "sequential")
NOISES = ("laplace", "gumbel", "exponential")
OBSERVABLES = ("queries", "examined", "truncated", "time", "representation", "all")
RELATIONS = (
    "protected",
    "protected-edge",
    "edge",
    "vertex",
    "rewired",
    "add-remove",
    "replace",
    "one",
    "every",
    "L1",
    "L2",
    "explicit",
    "all",
)
REGIMES = ("dominant", "several", "fragmented")
CHECKS = (
    "finite",
    "deterministic",
    "graph-unchanged",
    "global-random-state",
    "order-independent",
    "label-independent",
    "fast-path",
    "targeted-sensitivity",
    "impact-cardinality",
    "tightness",
    "own-network",
)

Completer = Callable[[str], list[str]]


def among(words: tuple[str, ...]) -> Completer:
    """Return what completes to one of these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def names_of(group: Group) -> Completer:
    """Return what completes to a registered name."""

    def complete(incomplete: str) -> list[str]:
        try:
            names = [one.name for one in registered(group)]
        except InputError:  # a shell has no place for complaints
            return []
        return [name for name in by_number(names) if name.startswith(incomplete)]

    return complete


def claims_offered(incomplete: str) -> list[str]:
    """Return what completes to a published claim, whosever; the paper has an option of its own."""
    return [
        name.rpartition(":")[2]
        for name in names_of("claims")("")
        if name.rpartition(":")[2].startswith(incomplete)
    ]


def by_number(names: list[str]) -> list[str]:
    """Sort names as a person counts."""

    def key(name: str) -> list[tuple[int, int, str]]:
        parts = re.findall(r"\d+|\D+", name.lower())
        return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]

    return sorted(names, key=key)
