"""Make a statistic or a mechanism from what was typed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.core.registry import Group, configure, is_registered, resolve

__all__ = ["Find", "claiming", "make_mechanism", "make_sop", "needs_trust"]

#: What a search is made with where nothing else was asked for: one search round, the sharpest
#: test of a claim per round.
DEFAULTS: dict[str, Any] = {"epsilon": 1.0, "components": 2, "sop": "CN"}


#: What a mechanism may have beside ``run``; a protocol's isinstance() looks for these.
PARTS = ("sample", "law", "enclose", "enclose_again", "proved_bound", "largest_loss", "pairs")

#: How a name is looked up.
Find = Callable[[Group, str], Any]


def make_sop(name: str, find: Find = resolve) -> Any:
    """Return the statistic of proximity a person means, ready to be called."""
    sop = find("sops", name)
    return configure(sop, name, {}) if inspect.isclass(sop) else sop


def make_mechanism(
    name: str, options: Mapping[str, Any], find: Find = resolve
) -> tuple[Any, dict[str, Any]]:
    """Return the mechanism a person means, and how to make it again."""
    factory = find("mechanisms", name)
    given = {key: value for key, value in options.items() if value is not None}
    if inspect.isclass(factory):
        takes = inspect.signature(factory).parameters
        for key, value in DEFAULTS.items():
            if key in takes:
                given.setdefault(key, value)
    made = dict(given)
    if "sop" in made:
        made["sop"] = make_sop(made["sop"], find)
    mechanism = configure(factory, name, made)
    if not callable(getattr(mechanism, "run", None)):
        raise InputError(f"{name}: not a mechanism, it has no run(instance, rng)")
    if getattr(mechanism, "claim", None) is None:
        raise InputError(f"{name}: it claims nothing; give it a claim = PrivacyClaim(epsilon, ...)")
    return mechanism, {"name": name, "parameters": given}


def claiming(mechanism: Any, claim: PrivacyClaim) -> Any:
    """Return the same mechanism with another promise."""

    class Claiming:
        def __init__(self) -> None:
            self.claim, self.claims, self.run = claim, (claim,), mechanism.run
            self.mechanism = mechanism

    for part in PARTS:
        if hasattr(mechanism, part):
            setattr(Claiming, part, staticmethod(getattr(mechanism, part)))
    return Claiming()


def needs_trust(witnesses: Iterable[Mapping[str, Any] | None]) -> bool:
    """Say whether replaying any of these witnesses imports code that is not registered."""
    named = {name for one in witnesses for name in _names(one or {})}
    return any(not is_registered(*name) for name in named)


def _names(witness: Mapping[str, Any]) -> Iterator[tuple[Group, str]]:
    """Yield all names of statistics and mechanisms in a witness."""
    spec = witness.get("mechanism")
    if isinstance(spec, Mapping):
        parameters = spec.get("parameters")
        sop = parameters.get("sop") if isinstance(parameters, Mapping) else None
        if isinstance(spec.get("name"), str):
            yield "mechanisms", spec["name"]
        if isinstance(sop, str):
            yield "sops", sop
    if isinstance(witness.get("specification"), str):
        yield "sops", witness["specification"]
