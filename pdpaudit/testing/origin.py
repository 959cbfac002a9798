"""What to call what a test hands over, and how to make it again from the command line."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

from pdpaudit.checks import name_of
from pdpaudit.core.errors import InputError
from pdpaudit.core.registry import make_mechanism, make_sop

__all__ = ["made_mechanism", "named_sop"]

MISSING = object()


def made_mechanism(given: Any, base: Path) -> tuple[Any, str, dict[str, Any]]:
    """Return a mechanism, what to call it, and how to make it again."""
    if isinstance(given, str):
        mechanism, spec = make_mechanism(given, {})
        return mechanism, given, spec
    factory = given if inspect.isclass(given) else type(given)
    where = _place(factory, base)
    subject = factory.__qualname__ if where is None else where
    if inspect.isclass(given):
        try:
            given = given()
        except TypeError as error:
            raise InputError(
                f"{subject} cannot be made without arguments ({error}); hand over an object"
            ) from None
    if not callable(getattr(given, "run", None)):
        raise InputError(f"{subject}: not a mechanism, it has no run(instance, rng)")
    parameters = None if where is None else _parameters(factory, given)
    spec = {} if parameters is None else {"name": where, "parameters": parameters}
    return given, subject, spec


def named_sop(given: Any, base: Path) -> tuple[str, str | None]:
    """Return what to call a statistic, and its name on the command line if it has one."""
    if isinstance(given, str):
        return given, given
    name = name_of(given)
    inner = getattr(given, "function", given)
    where = None
    if inspect.isclass(inner) or inspect.isfunction(inner):
        where = _place(inner, base, means=given)
    if where is None and not inspect.isclass(given):
        where = _registered(given, name)
        if where is None and _parameters(type(given), given) == {}:
            where = _place(type(given), base)
    return name, where


def _place(named: Any, base: Path, means: Any = None) -> str | None:
    """Return ``path/to/file.py:Name`` or ``module:Name``; None where that means something else."""
    name, module = named.__qualname__, sys.modules.get(named.__module__)
    wanted = named if means is None else means
    if "." in name or module is None or getattr(module, name, None) is not wanted:
        return None
    file = getattr(module, "__file__", None)
    if file is not None:
        path = Path(file).resolve()
        if path.is_relative_to(base.resolve()):
            return f"{path.relative_to(base.resolve())}:{name}"
    return None if module.__name__ == "__main__" else f"{module.__name__}:{name}"


def _parameters(factory: Any, made: Any) -> dict[str, Any] | None:
    """Return the arguments that make an equal object; None where they cannot be told."""
    try:
        names = inspect.signature(factory).parameters
        arguments = {name: getattr(made, name, MISSING) for name in names}
        plain: dict[str, Any] = {}
        for name, value in arguments.items():
            if isinstance(value, str | int | float | bool) or value is None:
                plain[name] = value
                continue
            registered = None if name != "sop" else _registered(value, name_of(value))
            if registered is None:
                return None
            plain[name] = registered
        again = factory(**arguments)
        same = vars(again) == vars(made) if hasattr(made, "__dict__") else again == made
    except Exception:  # whatever the author's own code raises: it just cannot be made again
        return None
    return plain if same is True else None


def _registered(sop: Any, name: str) -> str | None:
    """Return the registered name of a statistic, if that makes an equal one."""
    try:
        known = make_sop(name)
    except InputError:
        return None
    if known is sop or (type(known) is type(sop) and getattr(known, "__dict__", 0) == vars(sop)):
        return name
    return None
