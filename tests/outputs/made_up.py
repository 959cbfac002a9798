"""Outputs of any nesting and mixture, made up."""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

Colour = enum.Enum("Colour", "RED BLUE")
Taste = enum.Enum("Taste", "RED SWEET")


class Pair(NamedTuple):
    x: object
    y: object


@dataclasses.dataclass
class Point:
    x: object
    y: object


class Base:
    __slots__ = ("x",)
    x: object


class Slotted(Base):
    __slots__ = ("y",)
    y: object


def nested(leaves, most=12):
    """Return a strategy for containers of any kind of such leaves, and the leaves."""
    return st.recursive(leaves, _containers, max_leaves=most)


def _containers(inner):
    hashable = inner.map(lambda thing: thing if _hashable(thing) else type(thing).__name__)
    keys = st.one_of(st.integers(-2, 3), st.sampled_from(["a", "b", "", "\ud800"]), hashable)
    return st.one_of(
        st.lists(inner, max_size=4).map(tuple),
        st.lists(inner, max_size=4),
        st.lists(hashable, max_size=4).map(frozenset),
        st.lists(st.tuples(keys, inner), max_size=3).map(dict),
        st.builds(Pair, inner, inner),
        st.builds(Point, inner, inner),
    )


def _hashable(thing):
    try:
        hash(thing)
    except TypeError:
        return False
    return True


WIDE = st.builds(
    lambda sign, power, more: sign * (2**power + more),
    st.sampled_from([-1, 1]),
    st.sampled_from([53, 64, 1023, 1100, 4095, 4096, 5000]),
    st.integers(-2, 2),
)
TEXT = st.text(st.characters(), max_size=4)

NUMBERS = st.one_of(st.integers(-3, 3), st.integers(), WIDE, st.floats(), st.booleans())

LEAVES = st.one_of(
    st.none(),
    NUMBERS,
    TEXT,
    st.from_regex(r"[a-c]?-?[0-9]{1,3}\.?[0-9]? [xy]", fullmatch=True),
    st.binary(max_size=3),
    st.decimals(),
    st.fractions(),
    st.complex_numbers(),
    st.sampled_from([*Colour, *Taste]),
    st.datetimes(),
    st.dates(),
    st.timedeltas(),
    arrays.arrays(
        st.sampled_from([np.dtype(one) for one in ("f8", "?", "<i8", "<U2", "f4")]),
        arrays.array_shapes(max_side=3),
    ),
)

#: Whatever a mechanism may return.
ANYTHING = nested(LEAVES)

#: Few leaves that are easily taken for each other, in few structures: some pairs are alike.
SMALL = nested(
    st.sampled_from(
        [0, 1, 0.0, -0.0, 1.0, math.nan, math.inf, None, False, True, "", "1", b"1", 2**53 + 1, 0j]
    ),
    most=3,
)

#: Rows of real numbers, long and short ones.
ROWS = st.lists(st.floats(), min_size=1, max_size=20).map(tuple)
