"""One output as a record: its structure, and the kind and value of each leaf.

A record holds everything that tells one output from another: ``1``, ``True`` and ``1.0`` have
different kinds, ``(x,)`` and ``(x, None)`` different structures, and None, NaN, both infinities,
both zeros and an exception's type are values like others. It is a function of that output alone.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import math
import numbers
import os
import re
import types
from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from functools import lru_cache
from itertools import count, islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

#: None for a leaf, else what kind of container, its keys (None where they are 0, 1, ...), and the
#: structures of what is in it.
Structure: TypeAlias = "tuple[str, Keys | None, tuple[Structure, ...]] | None"

#: What leads to each part of a container.
Keys: TypeAlias = tuple[str | int, ...]

#: The value of a leaf.
Leaf: TypeAlias = float | str | bytes | None

#: Structure, kinds of the leaves and their values, in order.
Record: TypeAlias = tuple[Structure, tuple[str, ...], tuple[Leaf, ...]]

#: Keys and places that lead to a part of an output.
Path: TypeAlias = tuple[str | int, ...]

#: An object of a JSON file, whose fields are looked at where they are read.
JSON: TypeAlias = Mapping[str, Any]

#: The structure of what is no container.
SCALAR: Structure = None

#: Whole numbers up to this are exact as float64.
WIDE = 2**53

#: Kinds whose values are float64 numbers already, or convert to one exactly.
NUMERIC = frozenset({"float", "-0.0", "inf", "-inf", "int", "bool"})

#: Kinds of other numbers, which float64 does not hold.
EXACT_KINDS = frozenset({"Decimal", "Fraction", "longdouble", "date", "datetime", "timedelta"})

#: Kinds that say how a value is read, so that no other type may have their names.
OURS = NUMERIC | EXACT_KINDS | {"nan", "None", "str", "bytes", "absent"}

#: Deeper nesting, more leaves or longer iterators than these are refused; arrays beyond the last
#: are summarised.
MOST_DEEP, MOST_LEAVES, MOST_ENTRIES = 60, 200_000, 4096

#: Parts of a container up to which each is looked at by itself.
SHORT = 8

#: Entries of a summarised array that are kept.
KEPT = 64

#: Bits of a whole number beyond which it is kept in hexadecimal.
MOST_BITS = 4096

#: What the kind of a run that raised begins with; a space, so that no class has such a name.
RAISES = "raises "

#: What the structure of a run that warned begins with, around that of its output, and the step to
#: what it warned of, which no key gives.
WARNS, WARNINGS = "warns ", "[warnings]"

#: What the steps of keys that are no texts begin with; texts that do are written as records too.
MARKS = ("[", "((", "(None, (")

#: Where an object is, in what Python writes of one that says nothing else.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

#: What can be called, and holds what it is called with.
FUNCTIONS: tuple[type, ...] = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType,
    functools.partial,
)  # fmt: skip


class Unreadable(TypeError):
    """An output that cannot be taken apart."""


def failure(error: BaseException) -> Record:
    """Return the record of a run that raised: an observer sees the exception's type."""
    return (SCALAR, (RAISES + type(error).__name__,), (None,))


def is_failure(record: Record) -> bool:
    """Return whether a record stands for a run that raised."""
    return record[0] is None and record[1][0].startswith(RAISES)


def with_warnings(record: Record, names: str) -> Record:
    """Return the record of a run that gave an output and warned."""
    structure, kinds, values = record
    return record if is_failure(record) else ((WARNS + names, None, (structure,)), kinds, values)


def unwarned(structure: Structure) -> tuple[str, Structure]:
    """Return what was warned of beside an output, and the structure of the output."""
    if structure is None or not structure[0].startswith(WARNS):
        return "", structure
    return structure[0], structure[2][0]


def flatten(output: object) -> Record:
    """Return the record of one output."""
    if type(output) is float:
        leaf = _float(output)
        return (SCALAR, (leaf[0],), (leaf[1],))
    if type(output) is tuple and output:
        size = len(output)
        if {bool}.issuperset(map(type, output)):
            return (_flat("tuple", size), _same("bool", size), output)
        plain = {int}.issuperset(map(type, output))
        if plain and max(max(output), -min(output)).bit_length() <= MOST_BITS:
            return (_flat("tuple", size), _same("int", size), output)
    kind = type(output)
    kinds: list[str] = []
    values: list[Leaf] = []
    try:
        structure = _walk(output, kinds, values, 0)
    except Unreadable as error:
        words = str(error)
        inside = not words.startswith(("something", f"a {kind.__name__}"))
        raise Unreadable(f"a {kind.__name__} in which is {words}" if inside else words) from None
    except RecursionError:
        raise Unreadable(f"a {kind.__name__} nested too deeply to read") from None
    except Exception as error:
        raise Unreadable(
            f"a {kind.__name__} that raises {type(error).__name__} when it is read"
        ) from None
    alike = len(kinds) > SHORT and len(set(kinds)) == 1
    return (structure, _same(kinds[0], len(kinds)) if alike else tuple(kinds), tuple(values))


#: Types of values of which equal ones have equal records, and all are readable; and those of two
#: which Python takes for equal.
PLAIN, ALIKE = frozenset({int, bool, str, bytes, type(None)}), frozenset({int, bool})


def equal_is_same(outputs: Iterable[object]) -> bool:
    """Return whether these can be compared as they are: equal ones have equal records.

    Cheap, and so for values and flat tuples only: of others it is not known.
    """
    kinds: set[type] = set()
    for output in outputs:
        kinds.update(map(type, output if type(output) is tuple else (output,)))
    return kinds <= PLAIN and not kinds >= ALIKE


@lru_cache(maxsize=4096)
def _flat(kind: str, length: int) -> Structure:
    return (kind, None, (SCALAR,) * length)


@lru_cache(maxsize=4096)
def _same(kind: str, length: int) -> tuple[str, ...]:
    return (kind,) * length


def _float(value: float) -> tuple[str, Leaf]:
    if value == 0.0:
        return ("-0.0" if math.copysign(1.0, value) < 0 else "float", value)
    if math.isfinite(value):
        return ("float", value)
    return ("nan", None) if value != value else ("inf" if value > 0 else "-inf", value)


def _walk(output: object, kinds: list[str], values: list[Leaf], depth: int) -> Structure:
    """Append the leaves of a part of an output, and return its structure."""
    leaf = _leaf(output)
    if leaf is not None:
        kinds.append(leaf[0])
        values.append(leaf[1])
        return SCALAR
    if depth > MOST_DEEP:
        raise Unreadable(f"something nested more than {MOST_DEEP} deep")
    kind, keys, parts = _parts(output)
    children: list[Structure] = []
    if isinstance(parts, list | tuple) and len(parts) > SHORT and (same := _alike(parts)):
        kinds += [same] * len(parts)
        values += parts
        children, parts = [SCALAR] * len(parts), ()
    for part in parts:
        children.append(_walk(part, kinds, values, depth + 1))
        if len(values) > MOST_LEAVES:
            break
    if len(values) > MOST_LEAVES:
        raise Unreadable(f"something with more than {MOST_LEAVES:,} entries")
    return (kind, keys, tuple(children))


def _alike(parts: Sequence[Any]) -> str:
    """Return what kind all of some parts are, where that is seen at once; else nothing."""
    types_seen = set(map(type, parts))
    if types_seen == {float}:
        numbers = np.array(parts)
        plain = np.isfinite(numbers) & ~(np.signbit(numbers) & (numbers == 0))
        return "float" if plain.all() else ""
    if types_seen == {int}:
        return "int" if max(max(parts), -min(parts)).bit_length() <= MOST_BITS else ""
    return "bool" if types_seen == {bool} else ""


def _whole(value: int) -> tuple[str, Leaf]:
    # int.__add__ gives a plain int, whatever a subclass makes of it.
    plain = int.__add__(value, 0)
    return ("int", hex(plain) if plain.bit_length() > MOST_BITS else plain)


#: From a type to its leaf, for those that need no more thought.
LEAVES: dict[type, Callable[[Any], tuple[str, Leaf]]] = {
    float: _float,
    int: _whole,
    bool: lambda value: ("bool", value),
    type(None): lambda value: ("None", None),
    str: lambda value: ("str", value),
    bytes: lambda value: ("bytes", value),
}


def _leaf(value: object) -> tuple[str, Leaf] | None:
    """Return kind and value of what is no container, None for one that is."""
    known = LEAVES.get(type(value))
    if known is not None:
        return known(value)
    if isinstance(value, enum.Enum):
        kind = type(value).__name__
        ours = kind in OURS or kind.startswith(RAISES)
        return (f"enum {kind}" if ours else kind, str(value.name))
    if isinstance(value, np.generic):
        return _numpy_scalar(value)
    # A subclass may do what it likes with hash and comparison: its plain value is kept.
    if isinstance(value, str):
        return ("str", str.__str__(value))
    if isinstance(value, int):
        return _whole(value)
    if isinstance(value, float):
        return _float(float.__float__(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return (type(value).__name__, bytes(value))
    if isinstance(value, decimal.Decimal):
        return ("Decimal", str(value))
    if isinstance(value, fractions.Fraction):
        return ("Fraction", _ratio(value.numerator, value.denominator))
    if isinstance(value, (datetime.date, datetime.time)):
        return (type(value).__name__, value.isoformat())
    if isinstance(value, datetime.timedelta):
        return ("timedelta", f"{value.days} {value.seconds} {value.microseconds}")
    if isinstance(value, os.PathLike):  # which keeps what it has computed of itself, too
        return (type(value).__name__, os.fsdecode(value))
    if isinstance(value, (type, range, *FUNCTIONS)) and not _captured(value):
        return (type(value).__name__, str(getattr(value, "__qualname__", value)))
    return None


def _captured(value: object) -> dict[str, object]:
    """Return what a function holds besides its code: whoever is given it can call it."""
    if isinstance(value, functools.partial):
        return {"of": value.func, "arguments": value.args, "keywords": value.keywords}
    owner = getattr(value, "__self__", None)
    if isinstance(value, FUNCTIONS) and not isinstance(owner, type | types.ModuleType | None):
        return {"of": owner}
    if not isinstance(value, types.FunctionType):
        return {}
    code, defaults = value.__code__, value.__defaults__ or ()
    cells = (cell.cell_contents for cell in value.__closure__ or ())
    arguments = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    held = dict(zip(code.co_freevars, cells, strict=True))
    return held | dict(zip(arguments, defaults, strict=True)) | (value.__kwdefaults__ or {})


def _numpy_scalar(value: np.generic) -> tuple[str, Leaf] | None:
    if isinstance(value, np.longdouble):
        if not np.isfinite(value) or value == np.longdouble(float(value)):
            return _float(float(value))
        return ("longdouble", _ratio(*value.as_integer_ratio()))
    if isinstance(value, np.void):
        return None if value.dtype.names else ("bytes", value.tobytes())
    if isinstance(value, np.datetime64 | np.timedelta64):
        return (type(value).__name__, str(value))
    if isinstance(value, np.complexfloating):
        return None
    return _leaf(value.item())


def _ratio(numerator: int, denominator: int) -> str:
    # Python writes no more than some thousand decimal digits.
    wide = max(numerator.bit_length(), denominator.bit_length()) > MOST_BITS
    top, bottom = (hex(part) if wide else str(part) for part in (numerator, denominator))
    return top if denominator == 1 else f"{top}/{bottom}"


Parts: TypeAlias = tuple[str, Keys | None, Iterable[object]]


def _parts(output: object) -> Parts:
    """Return the kind of a container, its keys, and what is in it."""
    kind = type(output)
    if isinstance(output, Awaitable | AsyncIterator):
        if isinstance(output, types.CoroutineType):
            output.close()  # Python would warn of it once it is gone
        raise Unreadable(f"a {kind.__name__}, which nothing awaits")
    if isinstance(output, deque) or (kind in (tuple, list) and isinstance(output, tuple | list)):
        return kind.__name__, None, output
    if isinstance(output, Mapping):
        return kind.__name__, tuple(map(_step, output)), list(output.values())
    if isinstance(output, Set):
        return kind.__name__, None, sorted(output, key=lambda item: sort_key(flatten(item)))
    if isinstance(output, np.ndarray):
        return _array(output)
    if isinstance(output, numbers.Complex):  # real numbers are leaves
        return "complex", ("real", "imag"), (output.real, output.imag)
    if isinstance(output, tuple):
        fields = getattr(output, "_fields", None)
        return kind.__name__, None if fields is None else tuple(fields), tuple(output)
    if isinstance(output, list):
        return kind.__name__, None, list(output)
    if dataclasses.is_dataclass(output):
        names = tuple(field.name for field in dataclasses.fields(output))
        return kind.__name__, names, [getattr(output, name) for name in names]
    if isinstance(output, BaseException):
        return kind.__name__, None, output.args
    if isinstance(output, FUNCTIONS):
        held, name = _captured(output), getattr(output, "__qualname__", "")
        return kind.__name__, ("its name", *held), (name, *held.values())
    if isinstance(output, Iterator):
        read = list(islice(output, MOST_LEAVES + 1))
        if len(read) > MOST_LEAVES:
            raise Unreadable(f"a {kind.__name__} that gives more than {MOST_LEAVES:,} items")
        return kind.__name__, None, read
    return _object(output)


def _object(output: object) -> Parts:
    """Take apart what other libraries return, else any object by its attributes."""
    kind = type(output)  # the libraries are not imported for it
    library = kind.__module__.partition(".")[0]
    if library == "pandas" and hasattr(output, "to_numpy"):
        if not (hasattr(output, "items") and hasattr(output, "index")):
            return kind.__name__, None, list(output.to_numpy())
        keys = [*(_step(key) for key, _ in output.items()), "index"]
        parts = output.to_numpy()
        if kind.__name__ == "DataFrame":
            parts = (column.to_numpy() for _, column in output.items())
        return kind.__name__, tuple(keys), [*parts, output.index.to_numpy()]
    if library == "scipy" and hasattr(output, "tocoo"):
        ends = output.tocoo()
        rows = [(int(i), int(j), x) for i, j, x in zip(*ends.coords, ends.data, strict=True)]
        return kind.__name__, ("shape", "entries"), (tuple(ends.shape), sorted(rows))
    if library == "networkx" and hasattr(output, "nodes") and hasattr(output, "edges"):
        return kind.__name__, ("nodes", "edges"), (set(output.nodes), set(output.edges))
    if hasattr(output, "__array__"):
        return kind.__name__, None, [np.asarray(output)]
    names = _attributes(output)
    if names:
        held = (getattr(output, name) for name in names)
        # An object may keep a method of its own, which holds nothing else.
        return kind.__name__, names, [_unbound(one, output) for one in held]
    if isinstance(output, Iterable):
        return kind.__name__, None, list(islice(output, MOST_LEAVES + 1))
    shown: object = kind.__repr__
    if shown is not object.__repr__:
        return kind.__name__, None, [lasting(repr(output))]
    if not hasattr(output, "__dict__") and not any(
        "__slots__" in vars(one) for one in kind.__mro__
    ):
        raise Unreadable(f"something of which nothing can be seen, of type {kind.__name__}")
    return kind.__name__, None, []


def _unbound(value: object, owner: object) -> object:
    """Return a method of an object as the function it is, anything else as it is."""
    return getattr(value, "__func__", value) if getattr(value, "__self__", None) is owner else value


def lasting(text: str) -> str:
    """Return a text without places in memory, which no two processes share."""
    return ADDRESS.sub("", text)


def _attributes(output: object) -> tuple[str, ...]:
    """Return the names of what an object holds, in slots of its classes or in a dictionary."""
    slots = [cls.__dict__.get("__slots__", ()) for cls in reversed(type(output).__mro__)]
    each = [name for some in slots for name in ([some] if isinstance(some, str) else some)]
    known = [name for name in each if name not in ("__dict__", "__weakref__")]
    names = [name for name in known if hasattr(output, name)]
    return tuple(dict.fromkeys([*names, *getattr(output, "__dict__", ())]))


def _array(output: npt.NDArray[np.generic]) -> Parts:
    kind = f"array {output.dtype.str} {output.shape}"
    if output.dtype.kind == "M" or output.dtype.kind == "m":
        output = output.astype(np.int64)
    flat = output.ravel()
    if output.dtype.char in "gG":  # a list would not keep all digits, and their bytes have gaps
        return kind, None, flat[: MOST_LEAVES + 1]
    if flat.size <= MOST_ENTRIES or output.dtype.kind in "OV":
        return kind, None, flat[: MOST_LEAVES + 1].tolist()
    values = np.asarray(flat, flat.dtype) if flat.dtype.kind in "biuf" else np.arange(0.0)
    digest = hashlib.sha256(np.ascontiguousarray(output).tobytes()).hexdigest()
    with np.errstate(all="ignore"):
        sums = [float(f(values)) if values.size else 0.0 for f in (np.sum, np.min, np.max, np.std)]
    names = ("sum", "least", "greatest", "spread", "digest", *range(KEPT))
    return kind, names, [*sums, digest, *flat[:KEPT].tolist()]


def _step(key: object) -> str:
    """Return a key as a step of a path: a text as it is, a whole number in brackets."""
    if type(key) is str and not key.startswith(MARKS):
        return key
    record = flatten(key)
    structure, kinds, values = record
    if structure is None and kinds[0] == "str" and not str(values[0]).startswith(MARKS):
        return str(values[0])
    if structure is None and kinds[0] == "int" and type(values[0]) is int:
        return f"[{values[0]}]"
    return repr(record)


def sort_key(record: Record) -> tuple[str, tuple[Leaf, ...], str]:
    """Return what records are put in order by: the same whatever came first."""
    structure, kinds, values = record
    numeric = NUMERIC.issuperset(kinds) and str not in map(type, values)
    return repr((structure, kinds)), values if numeric else (), "" if numeric else repr(values)


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where the parts of a structure are."""

    leaves: dict[Path, int]
    containers: dict[Path, tuple[str, int, Keys | None]]


@lru_cache(maxsize=8192)
def layout(structure: Structure) -> Layout:
    """Return where the parts of a structure are."""
    found, number = Layout({}, {}), count()

    def place(part: Structure, path: Path) -> None:
        if part is None:
            found.leaves[path] = next(number)
            return
        kind, keys, children = part
        found.containers[path] = (kind, len(children), keys)
        for key, child in zip(keys or range(len(children)), children, strict=True):
            place(child, (*path, key))

    place(structure, ())
    return found


def number_of(kind: str, value: Leaf) -> float:
    """Return the number a leaf stands for, as near as float64 comes; nan where it is none."""
    if kind in NUMERIC:
        if isinstance(value, int | float):
            return _near(value)
        return -math.inf if str(value).startswith("-") else math.inf
    exact = _exact(kind, value)
    return math.nan if exact is None else _near(exact)


def _near(number: float | fractions.Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def rest_of(kind: str, value: Leaf) -> float:
    """Return what :func:`number_of` leaves out of a number, nan where there is no number."""
    if kind != "int" and kind in NUMERIC:
        return 0.0
    exact = _exact(kind, value)
    if exact is None:
        return math.nan
    near = number_of(kind, value)
    if math.isinf(near):  # a logarithm is as good an order as any
        size = math.log2(abs(exact.numerator)) - math.log2(exact.denominator)
        return math.copysign(size, near)
    return float(exact - fractions.Fraction(near))


def _exact(kind: str, value: Leaf) -> fractions.Fraction | None:
    text = str(value)
    if kind == "int":
        return fractions.Fraction(value if isinstance(value, int) else int(text, 16))
    if kind in ("Decimal", "Fraction", "longdouble"):
        try:
            if kind == "Decimal" and abs(decimal.Decimal(text).adjusted()) > MOST_BITS:
                return None
            if kind == "Decimal":
                return fractions.Fraction(text)
            return fractions.Fraction(*(int(part, 0) for part in text.split("/")))
        except (ValueError, ArithmeticError):
            return None
    if kind in ("date", "datetime", "timedelta"):
        return fractions.Fraction(_seconds(kind, text))
    return None


def _seconds(kind: str, value: str) -> float:
    if kind == "timedelta":
        days, seconds, micro = map(int, value.split())
        return 86400.0 * days + seconds + micro / 1e6
    moment = datetime.datetime.fromisoformat(value)
    start = datetime.datetime(1970, 1, 1, tzinfo=moment.tzinfo)
    return (moment - start).total_seconds()
