"""Make a statistic or a mechanism from what was typed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pdpaudit.errors import InputError
from pdpaudit.registry import configure, resolve

__all__ = ["make_mechanism", "make_sop"]

#: What a search is made with where nothing else was asked for: one search round, the sharpest
#: test of a claim per round.
DEFAULTS: dict[str, Any] = {"epsilon": 1.0, "components": 2, "sop": "CN"}


def make_sop(name: str) -> Any:
    """Return the statistic of proximity a person means, ready to be called."""
    sop = resolve("sops", name)
    return configure(sop, name, {}) if inspect.isclass(sop) else sop


def make_mechanism(name: str, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the mechanism a person means, and how to make it again.

    Parameters
    ----------
    name : str
        As typed.
    options : mapping
        Parameters by name; None where not given. ``sop`` is a name.

    Raises
    ------
    InputError
        If it cannot be found or made, or does not follow the contract.
    """
    factory = resolve("mechanisms", name)
    given = {key: value for key, value in options.items() if value is not None}
    if inspect.isclass(factory):
        takes = inspect.signature(factory).parameters
        for key, value in DEFAULTS.items():
            if key in takes:
                given.setdefault(key, value)
    made = dict(given)
    if "sop" in made:
        made["sop"] = make_sop(made["sop"])
    mechanism = configure(factory, name, made)
    if not callable(getattr(mechanism, "run", None)):
        raise InputError(f"{name}: not a mechanism, it has no run(instance, rng)")
    if getattr(mechanism, "claim", None) is None:
        raise InputError(f"{name}: it claims nothing; give it a claim = PrivacyClaim(epsilon, ...)")
    return mechanism, {"name": name, "parameters": given}
