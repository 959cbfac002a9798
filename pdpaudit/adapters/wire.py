"""Values as JSON, for another interpreter: no pickle, and nothing but the standard library.

Plain values stand for themselves; anything else is an object with one tag. What has no plain form
(a dataclass, a data frame) is taken apart, and made again as an object with the same type's name
and the same attributes, which is all that an output shows.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import enum
import fractions
import sys
from typing import TYPE_CHECKING, Any, TypedDict, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = ["Stream", "decode", "encode"]


class Stream(TypedDict):
    """All that makes a generator again, and what the global ones are seeded with."""

    state: dict[str, Any]
    entropy: int | list[int]
    spawn_key: list[int]
    globals: list[int]


#: Types that JSON has, and types that are read from a text; a float may be infinite or nan.
PLAIN = (type(None), bool, float, str)
WRITTEN: dict[str, Any] = {
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "int": lambda text: int(text, 16),
    "bytes": base64.b64decode,
    "bytearray": lambda text: bytearray(base64.b64decode(text)),
}

#: Whole numbers of more bits are written in hexadecimal: Python limits decimal digits.
WIDE = 4096

#: Items read from what has no length.
MOST = 200_001


def encode(value: object) -> object:
    """Return a value as what :mod:`json` writes."""
    kind = type(value)
    if kind in PLAIN or (type(value) is int and value.bit_length() <= WIDE):
        return value
    if type(value) is list:
        return [encode(item) for item in value]
    if type(value) is tuple:
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [kind.__name__, [[encode(k), encode(v)] for k, v in value.items()]]}
    if isinstance(value, (set, frozenset)):
        return {"set": [kind.__name__, [encode(item) for item in value]]}
    if hasattr(value, "dtype") and hasattr(value, "tobytes") and hasattr(value, "tolist"):
        return _array(cast("npt.NDArray[np.generic]", value))
    return _leaf(value) or _object(value)


def _array(value: npt.NDArray[np.generic] | np.generic) -> object:
    """Return an array or scalar of numpy."""
    form, scalar = value.dtype.kind, not hasattr(value, "__setitem__")
    if scalar and form in "biufSU" and value.dtype.char not in "gG":
        return encode(value.item())
    if form in "OV":
        return {"objects": [list(value.shape), [encode(item) for item in value.ravel().tolist()]]}
    raw = base64.b64encode(value.tobytes()).decode("ascii")
    return {"array": [value.dtype.str, None if scalar else list(value.shape), raw]}


def _leaf(value: object) -> object:
    """Return what has a text of its own; None for anything else."""
    kind = type(value).__name__
    if isinstance(value, enum.Enum):
        return {"enum": [kind, value.name]}
    if isinstance(value, (bytes, bytearray)):
        return {"text": [kind, base64.b64encode(value).decode("ascii")]}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, datetime.timedelta):
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, (datetime.date, datetime.time)):
        return {"text": [kind, value.isoformat()]}
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        return {"text": [kind, str(value)]}
    # A subclass is what its plain value is.
    if isinstance(value, int):
        return {"text": ["int", hex(int(value))]}
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    return None


def _object(value: object) -> object:
    """Take an object apart: a tuple of names, a data frame, attributes, items, else its text."""
    kind = type(value).__name__
    if isinstance(value, BaseException):
        return {"error": [kind, [encode(item) for item in value.args]]}
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return {"fields": [kind, list(fields), [encode(item) for item in value]]}
    if isinstance(value, (list, tuple)):
        return {"items": [kind, [encode(item) for item in value]]}
    if hasattr(value, "to_numpy"):  # a data frame, or a column of one
        table: Any = value
        names = [str(key) for key in table] if hasattr(value, "columns") else ["values"]
        parts = [table[name] for name in table] if hasattr(value, "columns") else [value]
        held = [encode(part.to_numpy()) for part in parts]
        return {"object": [kind, names, held]}
    slots = [getattr(one, "__slots__", ()) for one in reversed(type(value).__mro__)]
    names = [name for some in slots for name in ([some] if isinstance(some, str) else some)]
    names = [name for name in [*names, *getattr(value, "__dict__", ())] if hasattr(value, name)]
    if names:
        names = list(dict.fromkeys(names))
        return {"object": [kind, names, [encode(getattr(value, name)) for name in names]]}
    if hasattr(value, "__iter__"):
        given = cast("Iterable[object]", value)
        items = [encode(item) for _, item in zip(range(MOST), given)]  # noqa: B905 - Python 3.8
        return {"items": [kind, items]}
    shown: object = type(value).__repr__
    return {"shown": [kind, "" if shown is object.__repr__ else repr(value)]}


def decode(coded: object) -> object:
    """Return the value that was written."""
    if isinstance(coded, list):
        return [decode(item) for item in coded]
    if not isinstance(coded, dict):
        return coded
    if len(coded) != 1:
        raise ValueError("a value has one tag")
    ((tag, body),) = coded.items()
    if tag not in READERS:
        raise ValueError("unknown tag " + tag)
    return READERS[tag](*body)


def _numpy(dtype: str, shape: Sequence[int] | None, raw: str) -> object:
    array: Any = sys.modules.get("numpy") or __import__("numpy")
    found = array.frombuffer(base64.b64decode(raw), dtype)
    return found[0] if shape is None else found.reshape(shape).copy()


def _objects(shape: Sequence[int], items: Sequence[object]) -> object:
    array: Any = sys.modules.get("numpy") or __import__("numpy")
    found = array.empty(len(items), dtype=object)
    found[:] = [decode(item) for item in items]
    return found.reshape(shape)


def _made(kind: str, names: Sequence[str], values: Sequence[object]) -> object:
    made = type(kind, (), {})()
    made.__dict__.update(zip(names, map(decode, values)))  # noqa: B905 - Python 3.8
    return made


def _fields(kind: str, names: Sequence[str], values: Sequence[object]) -> object:
    cls: Any = type(kind, (tuple,), {"_fields": tuple(names)})
    return cls(map(decode, values))


READERS: dict[str, Callable[..., object]] = {
    "tuple": lambda *items: tuple(map(decode, items)),
    "dict": lambda kind, items: _named(dict, kind)([(decode(k), decode(v)) for k, v in items]),
    "set": lambda kind, items: (set if kind == "set" else frozenset)(map(decode, items)),
    "array": _numpy,
    "objects": _objects,
    "text": lambda kind, text: WRITTEN[kind](text),
    "complex": complex,
    "timedelta": datetime.timedelta,
    "enum": lambda kind, name: getattr(enum.Enum(kind, [name]), name),
    "error": lambda kind, items: type(kind, (Exception,), {})(*map(decode, items)),
    "fields": _fields,
    "items": lambda kind, items: _named(list, kind)(map(decode, items)),
    "object": _made,
    "shown": lambda kind, text: type(kind, (), {"__repr__": lambda _: text})(),
}


def _named(base: type, kind: str) -> Callable[..., object]:
    return base if kind == base.__name__ else type(kind, (base,), {})
