"""Find what a result names: registered names, and other people's code only when it is trusted."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import CodeType

from pdpaudit.adapters.elsewhere import made_elsewhere
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.registry import (
    SINGULAR,
    Find,
    Group,
    UserCodeError,
    adapter_of,
    imported_for,
    is_registered,
    make_mechanism,
    resolve,
)
from pdpaudit.outputs import JSON
from pdpaudit.report.plaintext import clip

__all__ = ["finder", "made_again"]

#: Characters of a name that a message shows.
LONGEST = 200


def finder(*, trust: bool) -> Find:
    """Return how names in a result are looked up: nothing is imported for them without trust.

    Whatever is found must look like what it is taken for before anything of it is called.
    """

    def find(group: Group, name: str) -> object:
        if not isinstance(name, str) or "\0" in name:
            raise InputError(f"the result names no {SINGULAR[group]}; write it again")
        shown = clip(name, LONGEST)
        if group == "adapters":
            if not trust:
                raise InputError(
                    f"{shown}: to replay it, a program or a library is started; give `trust` if "
                    "you trust it"
                )
            return None
        if not (trust or is_registered(group, name)):
            raise InputError(
                f"{shown} is not a registered {SINGULAR[group]}: to replay it, code is imported "
                f"and run from {clip(imported_for(group, name), LONGEST)}; give `trust` if you "
                "trust that code"
            )
        found = _imported(group, name)
        lacks = {"mechanisms": no_mechanism, "functions": _no_function}.get(group, _no_statistic)
        missing = lacks(found)
        if missing:
            raise InputError(
                f"{shown} is no {SINGULAR[group]}: {missing}; nothing of it was called"
            )
        return found

    return find


def made_again(spec: JSON, find: Find) -> tuple[object, dict[str, object]]:
    """Return the mechanism of a witness, and how it was made now."""
    name, parameters = spec["name"], spec["parameters"]
    if not isinstance(parameters, Mapping):
        raise TypeError("its parameters are no mapping")
    outside = {"python": spec.get("python"), "command": spec.get("exec")}
    for what in (*outside.values(), name if adapter_of(name) else None):
        if what is not None:
            find("adapters", what)
    if outside != {"python": None, "command": None}:
        return made_elsewhere(None if "exec" in spec else name, parameters, **outside)
    try:
        return make_mechanism(name, parameters, find)
    except UserCodeError as error:
        raise _in_a_line(error) from None


def _in_a_line(error: UserCodeError) -> InputError:
    """Return what somebody's own code failed with, without its traceback."""
    return InputError(f"{clip(str(error), LONGEST)}: {described(error.__cause__ or error)}")


def _imported(group: Group, name: str) -> object:
    try:
        return resolve(group, name)
    except UserCodeError as error:
        raise _in_a_line(error) from None


def _no_function(found: object) -> str:
    return "" if callable(found) else "it cannot be called"


def _no_statistic(found: object) -> str:
    """Say what a statistic lacks, without calling or making it; nothing if it is one."""
    for part in ("__call__", "sensitivity", "impact_cardinality"):
        if part != "__call__" or inspect.isclass(found):
            part_of = inspect.getattr_static(found, part, None)
        else:
            part_of = inspect.getattr_static(type(found), part, None)
        if part_of is None:
            return f"it has no {part}"
    return ""


def no_mechanism(found: object) -> str:
    """Say what a mechanism lacks, without calling or making it; nothing if it is one."""
    run = inspect.getattr_static(found, "run", None)
    if run is None:
        return "it has no run(instance, rng)"
    bound = 2 + (run is inspect.getattr_static(_kind(found), "run", None))
    if isinstance(run, staticmethod):
        run, bound = run.__func__, 2
    try:
        inspect.signature(run).bind(*[None] * bound)
    except TypeError:
        return "its run does not take (instance, rng)"
    except ValueError:
        pass  # not every callable tells
    # One that is audited for a claim of somebody else's has pairs of its own.
    parts = (inspect.getattr_static(found, name, None) for name in ("pairs", "domain"))
    if _claims(found) or any(part is not None for part in parts):
        return ""
    return "it has neither claim nor claims"


def _kind(found: object) -> type:
    return found if inspect.isclass(found) else type(found)


def _claims(found: object) -> bool:
    """Say whether an object has a claim, or a class gives its objects one."""
    names = {"claim", "claims"}
    if any(inspect.getattr_static(found, name, None) is not None for name in names):
        return True
    for kind in _kind(found).__mro__:
        if names & inspect.get_annotations(kind).keys():
            return True
        codes = (getattr(member, "__code__", None) for member in vars(kind).values())
        if any(names & {*code.co_names} for code in codes if isinstance(code, CodeType)):
            return True
    return False
