"""What of somebody's result is believed: names where they are trusted, numbers once compared."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType

from pdpaudit.adapters.elsewhere import made_elsewhere
from pdpaudit.core import registry
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.specification import Specification
from pdpaudit.report.blocks import clip
from pdpaudit.results.files import is_number

#: Characters of a name that a message shows.
LONGEST = 200


def finder(*, trust: bool) -> registry.Find:
    """Return how names in a result are looked up: nothing is imported for them without trust.

    Whatever is found must look like what it is taken for before anything of it is called.
    """

    def find(group: registry.Group, name: str) -> object:
        if not isinstance(name, str) or "\0" in name:
            raise InputError(f"the result names no {registry.SINGULAR[group]}; write it again")
        shown = clip(name, LONGEST)
        if group == "adapters":
            if not trust:
                raise InputError(
                    f"{shown}: to replay it, a program or a library is started; give `trust` if "
                    "you trust it"
                )
            return None
        if not (trust or registry.is_registered(group, name)):
            place = clip(registry.imported_for(group, name), LONGEST)
            raise InputError(
                f"{shown} is not a registered {registry.SINGULAR[group]}: to replay it, code is "
                f"imported and run from {place}; give `trust` if you trust that code"
            )
        try:
            found = registry.resolve(group, name)
        except registry.UserCodeError as error:
            raise _in_a_line(error) from None
        lacks = {"mechanisms": no_mechanism, "functions": _no_function}.get(group, _no_statistic)
        missing = lacks(found)
        if missing:
            raise InputError(
                f"{shown} is no {registry.SINGULAR[group]}: {missing}; nothing of it was called"
            )
        return found

    return find


@contextmanager
def of_witness(name: str, command: str) -> Iterator[None]:
    """Name the witness that an error is of; any that is none of ours is a damaged field's."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except Exception as error:
        raise InputError(
            f"{name}: its witness is damaged ({described(error)}); {command} again"
        ) from None


def made_again(spec: Specification, find: registry.Find) -> tuple[object, Specification]:
    """Return the mechanism of a witness, and how it was made now."""
    outside = {"python": spec.python, "command": spec.program}
    for what in (*outside.values(), spec.name if registry.adapter_of(spec.name) else None):
        if what is not None:
            find("adapters", what)
    if outside != {"python": None, "command": None}:
        name = None if spec.program is not None else spec.name
        return made_elsewhere(name, spec.parameters, **outside)
    try:
        return registry.make_mechanism(spec.name, spec.parameters, find)
    except registry.UserCodeError as error:
        raise _in_a_line(error) from None


def _in_a_line(error: registry.UserCodeError) -> InputError:
    """Return what somebody's own code failed with, without its traceback."""
    return InputError(f"{clip(str(error), LONGEST)}: {described(error.__cause__ or error)}")


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


# Comparison of what a result shows with what its witness gives now, field by field


#: What is published keeps eight digits, and the last of these may depend on the machine.
RELATIVE = 1e-6

#: Numbers near 0 that are differences of others: losses, curves, rates of attackers.
ROUNDED = {
    *("at_most", "exact", "lower_bound", "hockey_stick", "trade_off", "inference"),
    *("largest_found", "observed"),
}
ABSOLUTE = 1e-7

#: Fields named in a sentence, and characters of a value.
SHOWN, LONGEST_VALUE = 3, 60


def differences(
    now: object, recorded: object, *, complete: bool, place: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield every field of a result that is not what it is now."""
    if isinstance(now, Mapping) and isinstance(recorded, Mapping):
        for key in sorted({*now, *recorded}):
            if key not in recorded:
                if complete:
                    yield f"{'.'.join((*place, key))} is missing"
            elif key not in now:
                yield f"{'.'.join((*place, key))} does not belong there"
            else:
                at = (*place, key)
                yield from differences(now[key], recorded[key], complete=complete, place=at)
    elif isinstance(now, list) and isinstance(recorded, list) and len(now) == len(recorded):
        for i, (one, other) in enumerate(zip(now, recorded, strict=True)):
            yield from differences(one, other, complete=complete, place=(*place, str(i)))
    elif not _same(now, recorded, place):
        yield f"{'.'.join(place)} is {_short(recorded)} on file, {_short(now)} now"


def compared(found: list[str]) -> str:
    """Return differences in a sentence, a few of them."""
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return "; ".join([*found[:SHOWN], *more])


def _same(now: object, recorded: object, place: tuple[str, ...]) -> bool:
    if is_number(now) and is_number(recorded):
        near = ABSOLUTE if ROUNDED & {*place} else 0.0
        return math.isclose(now, recorded, rel_tol=RELATIVE, abs_tol=near)
    return type(now) is type(recorded) and now == recorded


def _short(value: object) -> str:
    return clip(json.dumps(value, ensure_ascii=False), LONGEST_VALUE)
