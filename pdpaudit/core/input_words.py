"""How one input differs from another, in words: ``row 3: age 31 → absent``."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import difflib
import enum
import fractions
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, cast

import numpy as np

from pdpaudit.core.graphs import Graph
from pdpaudit.outputs.records import lasting

if TYPE_CHECKING:
    import networkx as nx

#: Two vertices.
Tie: TypeAlias = tuple[object, object]

#: Characters of a value, differences and kinds of other rows that are shown.
LONGEST, MOST, OTHERS = 60, 4, 3

#: Ties of a graph that are listed.
TIES = 12

#: Entries beside those that differ that are counted one by one, and pairs of entries compared to
#: say which were put in and which left out.
COUNTED, MATCHED = 20_000, 10_000

#: Characters of a number that is shown as it is, and of two texts that begin alike.
DIGITS, LONGEST_TEXT = 8, 80


def difference_words(before: object, after: object) -> str:
    """Say what has to change in one input to make it the other.

    Rows and entries are counted from 1, vertices are called by their names.
    """
    ours, theirs = _plain(before), _plain(after)
    if is_graph(ours) and is_graph(theirs):
        return _graphs(ours, theirs)
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        return _cut(_fields(ours, theirs)) or "no difference"
    if isinstance(ours, list) and isinstance(theirs, list):
        return _lists(ours, theirs, "entry" if isinstance(before, tuple) else "row")
    return _arrow(ours, theirs)


def input_words(value: object) -> str:
    """Return an input in a line: a graph by its ties, a list by its rows."""
    plain = _plain(value)
    if is_graph(plain):
        return _whole(*_graph(plain))
    if isinstance(plain, list):
        rows = [f"({shown(one)})" if isinstance(one, Mapping) else shown(one) for one in plain]
        return shown(f"({', '.join(rows)})")
    return shown(plain)


def _arrow(before: object, after: object) -> str:
    """Say what becomes of a value; numbers that look alike are written out."""
    floats = isinstance(before, float) and isinstance(after, float)
    said = [shown(before), shown(after)]
    if said[0] == said[1] or (floats and f"{before:.6g}" == f"{after:.6g}"):
        said = shortened(*(" ".join(lasting(_repr(one)).split()) for one in (before, after)))
    return " → ".join(said)


def shortened(ours: str, theirs: str) -> list[str]:
    """Return two texts that differ, long ones cut to where they do."""
    pairs = zip(ours, theirs, strict=False)
    shared = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
    begins = max(ours.rfind(" ", 0, shared) + 1, shared - LONGEST_TEXT // 2)
    if max(len(ours), len(theirs)) <= LONGEST_TEXT or begins < LONGEST_TEXT // 2:
        begins = 0
    both = [("… " if begins else "") + text[begins:] for text in (ours, theirs)]
    return [text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…" for text in both]


def shown(value: object) -> str:
    """Return a value in one line; a row as its fields, a text, a date or a number as it is."""
    value = _record(value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, datetime.date | datetime.time | decimal.Decimal | fractions.Fraction):
        return str(value)
    if isinstance(value, Mapping):
        text = ", ".join(f"{shown(key)} {shown(item)}" for key, item in value.items()) or "{}"
    elif isinstance(value, str) and value.isprintable() and value.strip():
        text = value
    else:
        value = value.item() if isinstance(value, np.generic) else value
        # Whole numbers of many digits are not written out, and a long text is cut below.
        if isinstance(value, int) and value.bit_length() > 1024:
            return f"a whole number of {value.bit_length()} bits"
        text = " ".join(lasting(_repr(value)).split())
        text = f"{value:.6g}" if isinstance(value, float) and len(text) > DIGITS else text
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _repr(value: object) -> str:
    """Return how a value is written, whatever its author's code does."""
    try:
        return repr(value)
    except Exception:
        return f"a {type(value).__name__} that raises when it is written"


def _plain(value: object) -> object:
    """Return arrays and data frames as lists, whatever else as it is."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if type(value).__module__.partition(".")[0] in ("pandas", "polars"):
        if hasattr(value, "to_dicts"):
            return value.to_dicts()
        if hasattr(value, "columns") and hasattr(value, "to_dict"):
            return value.to_dict("records")
        return list(cast("Iterable[object]", value))
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return list(value)
    return _record(value)


def _record(value: object) -> object:
    """Return what is made of named fields as these, whatever else as it is.

    A dataclass, a named tuple, an object of attrs or pydantic, and any that Python writes by its
    place in memory alone.
    """
    kind = type(value)
    if isinstance(value, type) or is_graph(value):
        return value
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif hasattr(kind, "__attrs_attrs__"):
        names = [field.name for field in kind.__attrs_attrs__]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        names = [*value._fields]
    elif hasattr(kind, "__pydantic_fields__") or kind.__repr__ is object.__repr__:
        names = [*getattr(value, "__dict__", ())]
    else:
        return value
    return {name: getattr(value, name, None) for name in names} or value


def is_graph(value: object) -> TypeGuard[Graph | nx.Graph]:
    """Say whether a value has vertices and ties."""
    return isinstance(value, Graph) or (hasattr(value, "edges") and hasattr(value, "nodes"))


def _graph(value: Graph | nx.Graph) -> tuple[list[object], set[Tie]]:
    """Return vertices and ties, each written the same way round."""
    if isinstance(value, Graph):
        return list(range(value.vertices)), set(value.ties)
    ordered: list[object] = sorted(value.nodes, key=_order)
    place = {vertex: i for i, vertex in enumerate(ordered)}
    ties = (sorted(tie, key=place.__getitem__) for tie in value.edges())
    return ordered, {(one, other) for one, other in ties}


def _order(vertex: object) -> tuple[bool, int, str]:
    number = isinstance(vertex, int)
    return not number, vertex if isinstance(vertex, int) else 0, repr(vertex)


def _graphs(before: Graph | nx.Graph, after: Graph | nx.Graph) -> str:
    (vertices, ties), (later, remaining) = _graph(before), _graph(after)
    gone, come = {*vertices} - {*later}, {*later} - {*vertices}
    changes = [f"vertex {shown(one)} → absent" for one in vertices if one in gone]
    changes += [f"vertex {shown(one)} absent → present" for one in later if one in come]
    moved = [(tie, "present → absent") for tie in ties - remaining if gone.isdisjoint(tie)]
    moved += [(tie, "absent → present") for tie in remaining - ties if come.isdisjoint(tie)]
    ordered = sorted(moved, key=lambda item: [_order(end) for end in item[0]])
    changes += [f"tie {_tie(tie)} {how}" for tie, how in ordered]
    most = max((vertices, ties), (later, remaining), key=lambda one: (len(one[0]), len(one[1])))
    return f"{_cut(changes) or 'no difference'} ({_whole(*most)})"


def _whole(vertices: Sequence[object], ties: set[Tie]) -> str:
    listed = sorted(ties, key=lambda tie: [_order(end) for end in tie])
    written = ", ".join(map(_tie, listed[:TIES])) + (" ..." if len(listed) > TIES else "")
    what = "1 vertex" if len(vertices) == 1 else f"{len(vertices)} vertices"
    return f"{what} with {written or 'no ties'}"


def _tie(tie: Tie) -> str:
    return f"{shown(tie[0])}-{shown(tie[1])}"


def _lists(before: Sequence[object], after: Sequence[object], noun: str) -> str:
    if len({*map(type, before), *map(type, after)}) == 1:  # of other types each is what it is
        before, after = [[_record(one) for one in side] for side in (before, after)]
    ours, theirs = [list(map(_repr, side)) for side in (before, after)]
    if len(ours) == len(theirs):
        changed = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
        if len(changed) > 1 and max(map(len, map(_repr, (before, after)))) <= LONGEST:
            return " → ".join(f"({', '.join(map(shown, side))})" for side in (before, after))
        changes = [f"{noun} {i + 1}: {_step(before[i], after[i])}" for i in changed]
        moved = {*changed}
        others = [one for i, one in enumerate(before) if i not in moved]
        return f"{_cut(changes) or 'no difference'}{_beside(others)}"
    changes, others = [], []
    for kind, start, end, begin, stop in _steps(ours, theirs):
        if kind == "equal":
            others += before[start:end]
            continue
        changes += [f"{noun} {i + 1}: {shown(before[i])} → absent" for i in range(start, end)]
        changes += [f"{noun} {j + 1}: absent → {shown(after[j])}" for j in range(begin, stop)]
    return f"{_cut(changes)}{_beside(others)}"


def _steps(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield what is equal and what is not, as :mod:`difflib` does, in the time of one pass.

    What long lists begin and end with alike is not compared with anything else.
    """
    n, m, least = len(ours), len(theirs), min(len(ours), len(theirs))
    same = (i for i in range(least) if ours[i] != theirs[i])
    head = next(same, least)
    same = (i for i in range(least - head) if ours[n - 1 - i] != theirs[m - 1 - i])
    tail = next(same, least - head)
    yield "equal", 0, head, 0, head
    parts = ours[head : n - tail], theirs[head : m - tail]
    if len(parts[0]) * len(parts[1]) > MATCHED:
        yield "replace", head, n - tail, head, m - tail
    else:
        for kind, *ends in difflib.SequenceMatcher(None, *parts, autojunk=False).get_opcodes():
            start, end, begin, stop = (head + at for at in ends)
            yield kind, start, end, begin, stop
    yield "equal", n - tail, n, m - tail, m


def _step(before: object, after: object) -> str:
    before, after = _record(before), _record(after)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return _cut(_fields(before, after))
    return _arrow(before, after)


def _fields(before: Mapping[object, object], after: Mapping[object, object]) -> list[str]:
    missing = object()
    changes = []
    for key in {**before, **after}:
        ours, theirs = before.get(key, missing), after.get(key, missing)
        if ours is missing or theirs is missing:
            said = ["absent" if one is missing else shown(one) for one in (ours, theirs)]
            changes.append(f"{shown(key)} {' → '.join(said)}")
        elif _repr(_plain(ours)) != _repr(_plain(theirs)):
            changes.append(f"{shown(key)} {_change(ours, theirs)}")
    return changes


def _change(ours: object, theirs: object) -> str:
    """Say what becomes of a field: of one that holds others, what becomes of these."""
    inner = _plain(ours), _plain(theirs)
    if type(ours) is type(theirs) and isinstance(inner[0], Mapping | list):
        return f"({difference_words(ours, theirs)})"
    return _arrow(ours, theirs)


def _beside(others: Iterable[object]) -> str:
    """Say what else there is, alike rows together."""
    others = list(others)
    if len(others) > COUNTED:
        return f" (beside {len(others):,} others)"
    alike = Counter(map(shown, others))
    kinds = [f"{times} times {text}" if times > 1 else text for text, times in alike.most_common()]
    more = sum(alike.values()) - sum(times for _, times in alike.most_common(OTHERS))
    said = "; ".join(kinds[:OTHERS]) + (f"; {more} more" if more else "")
    return f" (beside {said})" if said else ""


def _cut(changes: Sequence[str]) -> str:
    more = len(changes) - MOST
    return ", ".join(changes[:MOST]) + (f" and {more} more" if more > 0 else "")
