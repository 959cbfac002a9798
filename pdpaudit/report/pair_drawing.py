"""A neighbouring pair as a drawing: one vertex in the middle, everyone who matters around it.

Places depend on the order of the vertices alone, so the drawing of a pair never changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeGuard

from pdpaudit.report.plaintext import clip, number, visible
from pdpaudit.results.fields import is_number

__all__ = ["Line", "PairPicture", "Spot", "draw_pair", "draw_witness"]

Role = Literal["lost", "kept", "gained", "other"]
ROLES: tuple[Role, ...] = ("lost", "kept", "gained", "other")

#: Vertices drawn around the one that is rewired; beyond, each group is cut and counted.
MOST = 36

#: Vertices of a network drawn whole.
WHOLE = 24

#: Vertices an event may name for them to be pointed out.
MOST_POINTED = 12

#: Vertices of a network that a check found; more are none.
MOST_VERTICES = 10_000

SIZE = 400.0
RADIUS = 112.0
LABEL = 12  # characters


@dataclass(frozen=True)
class Spot:
    """A vertex as drawn."""

    x: float
    y: float
    label: str
    name: str
    targeted: bool
    seed: bool
    in_event: bool
    role: str
    turn: float
    anchor: str
    label_x: float
    label_y: float
    more: bool = False


@dataclass(frozen=True)
class Line:
    """An edge as drawn; ``role`` is lost, kept, gained, or other for one away from the centre."""

    x1: float
    y1: float
    x2: float
    y2: float
    role: Role


@dataclass(frozen=True)
class PairPicture:
    """A drawing of one pair."""

    spots: tuple[Spot, ...]
    lines: tuple[Line, ...]
    lost: tuple[str, ...]
    kept: tuple[str, ...]
    gained: tuple[str, ...]
    centre: str
    whole: bool
    n: int | None
    members: bool = False

    @property
    def roles(self) -> set[str]:
        """Kinds of edges and vertices drawn, for the legend."""
        return (
            {line.role for line in self.lines}
            | {
                "targeted" if spot.targeted else "protected"
                for spot in self.spots
                if not spot.more and spot.role != "centre"
            }
            | {"seed" for spot in self.spots if spot.seed}
            | {"event" for spot in self.spots if spot.in_event}
        )


@dataclass(frozen=True)
class _Graph:
    """What is known of the network around a pair."""

    n: int | None
    edges: tuple[tuple[int, int], ...]
    targeted: frozenset[int]
    seeds: frozenset[int]
    names: Mapping[int, str]
    values: Mapping[int, str] = field(default_factory=dict)

    def label(self, vertex: int) -> str:
        """Return what is written beside a vertex: its name, or its name and values."""
        name, value = self.name(vertex), self.values.get(vertex)
        return name if value is None else f"{name}: {value}"

    def name(self, vertex: int) -> str:
        return self.names.get(vertex, str(vertex))


def draw_pair(
    pair: Mapping[str, object], base: Mapping[str, object] | None, event: Mapping[str, object]
) -> PairPicture | None:
    """Draw the pair of a claim, towards the side where its event is likelier."""
    vertex, left, right = _rewired(pair)
    if vertex is None:
        return None
    graph = _graph(pair, base or {}, vertex, left, right)
    before, after = (left, right) if event.get("side") != "left" else (right, left)
    pointed = _vertices(event.get("values")) if event.get("feature") != "length" else []
    return _draw(graph, vertex, before, after, pointed)


def draw_witness(witness: Mapping[str, object]) -> PairPicture | None:
    """Draw the counterexample of a check: a pair of networks, or one on which it failed."""
    n, targets = witness.get("n"), _ints(witness.get("targets"))
    if not _whole(n) or not 0 < n <= MOST_VERTICES or targets is None:
        return None
    vertex, left, right = _rewired(witness)
    scores = {} if vertex is None else _scores(witness.get("values"), n)
    edges, none = _edges(witness.get("edges")), frozenset[int]()
    graph = _Graph(n, edges, frozenset(targets), none, {}, scores)
    return _draw(graph, vertex, left, right, [], members=True)


def _rewired(pair: Mapping[str, object]) -> tuple[int | None, list[int], list[int]]:
    """Return who is rewired, from and to whom; None where the file does not say."""
    vertex, left, right = pair.get("vertex"), _ints(pair.get("left")), _ints(pair.get("right"))
    if not _whole(vertex) or left is None or right is None:
        return None, [], []
    return vertex, left, right


def _scores(values: object, n: int) -> dict[int, str]:
    """Return the scores of vertices, before and after."""
    if not isinstance(values, Mapping):
        return {}
    left, right = values.get("left"), values.get("right")
    if not (isinstance(left, list) and isinstance(right, list) and len(left) == len(right) == n):
        return {}
    return {
        v: number(a) if a == b else f"{number(a)} → {number(b)}"
        for v, (a, b) in enumerate(zip(left, right, strict=True))
        if is_number(a) and is_number(b)
    }


def _draw(
    graph: _Graph,
    centre: int | None,
    before: Sequence[int],
    after: Sequence[int],
    pointed: Sequence[int],
    *,
    members: bool = False,
) -> PairPicture:
    old, new = set(before), set(after)
    groups: dict[Role, list[int]] = {
        "lost": sorted(old - new),
        "kept": sorted(old & new),
        "gained": sorted(new - old),
        "other": [],
    }
    named = {v for group in groups.values() for v in group} | {centre}
    groups["other"] = [v for v in _others(graph, named, pointed) if v not in named]
    shown, hidden = _cut(groups, set(pointed) | graph.seeds)
    ring = [(role, v) for role in ROLES for v in [*shown[role], *([None] if hidden[role] else [])]]
    places = _ring(ring, shown)
    spots = []
    where: dict[int, tuple[float, float]] = {}
    for (role, v), angle in zip(ring, places, strict=True):
        x, y = _at(angle, RADIUS)
        label = f"+{hidden[role]} more" if v is None else graph.label(v)
        if v is not None:
            where[v] = (x, y)
        spots.append(_spot(graph, v, role, angle, label, len(ring), set(pointed)))
    lines = [
        Line(*where[a], *where[b], "other") for a, b in graph.edges if a in where and b in where
    ]
    middle = SIZE / 2
    if centre is not None:
        for role in ROLES[:3]:
            lines += [Line(middle, middle, *where[v], role) for v in shown[role]]
        name = graph.label(centre)
        spots.append(
            Spot(
                middle, middle, clip_label(name), clip(name, 200), False, False,
                centre in pointed, "centre", 0.0, "middle", middle, middle + 24,
            )
        )  # fmt: skip
    drawn = len(where) + (centre is not None)
    return PairPicture(
        spots=tuple(spots),
        lines=tuple(lines),
        lost=tuple(map(graph.name, groups["lost"])),
        kept=tuple(map(graph.name, groups["kept"])),
        gained=tuple(map(graph.name, groups["gained"])),
        centre="" if centre is None else graph.name(centre),
        whole=drawn == graph.n,
        n=graph.n,
        members=members,
    )


def clip_label(name: str) -> str:
    """Return a name short enough to stand beside a vertex."""
    line = " ".join(visible(name).split())
    return line if len(line) <= LABEL else line[: LABEL - 1] + "…"


def _others(graph: _Graph, named: set[int | None], pointed: Sequence[int]) -> list[int]:
    """Return whom else to draw: everybody in a small network, else who matters and who joins them.

    A score counts contacts, so after those pointed out come the vertices with most edges to the
    ones already drawn.
    """
    if graph.n is not None and graph.n <= WHOLE:
        return list(range(graph.n))
    first = list(dict.fromkeys([*pointed, *sorted(graph.seeds)]))
    links: dict[int, int] = {}
    core = named | set(first)
    for a, b in graph.edges:
        for here, there in ((a, b), (b, a)):
            if here in core and there not in core:
                links[there] = links.get(there, 0) + 1
    joining = sorted((v for v in links if links[v] > 1), key=lambda v: (-links[v], v))
    return first + joining


def _cut(
    groups: Mapping[Role, Sequence[int]], important: set[int]
) -> tuple[dict[Role, list[int]], dict[Role, int]]:
    """Return whom to draw of each group, and how many neighbours are left out."""
    room = MOST
    shown: dict[Role, list[int]] = {}
    order: tuple[Role, ...] = ("gained", "lost", "kept", "other")
    everyone = sum(len(groups[role]) for role in order[:3]) <= MOST
    for share, role in zip((3, 2, 1.5, 1), order, strict=True):
        most = room if everyone else max(2, int(room / share))
        ranked = sorted(groups[role], key=lambda v: v not in important)
        shown[role] = ranked[:most]
        if role != "other":
            shown[role] = sorted(shown[role])
        room -= len(shown[role])
    hidden: dict[Role, int] = {
        role: 0 if role == "other" else len(groups[role]) - len(shown[role]) for role in ROLES
    }
    return shown, hidden


def _ring(
    ring: Sequence[tuple[Role, int | None]], shown: Mapping[Role, Sequence[int]]
) -> list[float]:
    """Return angles around the centre: groups apart from each other, the lost ones to the left."""
    if not ring:
        return []
    groups = len({role for role, _ in ring})
    gap = 0.6 if groups > 1 else 0.0
    step = 2 * math.pi / (len(ring) + gap * groups)
    angles: list[float] = []
    angle, last = 0.0, ring[0][0]
    for role, _ in ring:
        if role != last:
            angle, last = angle + gap * step, role
        angles.append(angle)
        angle += step
    first = [a for a, (role, _) in zip(angles, ring, strict=True) if role == ring[0][0]]
    middle = (first[0] + first[-1]) / 2
    # The first group is centred to the left; a group of gained ones alone to the right.
    facing = 0.0 if ring[0][0] == "gained" else math.pi
    return [a - middle + facing for a in angles]


def _spot(
    graph: _Graph,
    vertex: int | None,
    role: Role,
    angle: float,
    name: str,
    count: int,
    pointed: set[int],
) -> Spot:
    x, y = _at(angle, RADIUS)
    label_x, label_y = _at(angle, RADIUS + 12)
    leftward = math.cos(angle) < -1e-9
    turn = 0.0
    if count > 10:
        turn = math.degrees(angle) + (180.0 if leftward else 0.0)
        turn = round((turn + 180.0) % 360.0 - 180.0, 1)
    anchor = "end" if leftward else "start"
    if not turn and abs(math.cos(angle)) < 0.35:
        anchor, label_y = "middle", label_y + (6 if math.sin(angle) > 0 else -4)
    return Spot(
        x=x,
        y=y,
        label=clip_label(name),
        name=clip(name, 200),
        targeted=vertex in graph.targeted,
        seed=vertex in graph.seeds,
        in_event=vertex in pointed,
        role=role,
        turn=turn,
        anchor=anchor,
        label_x=label_x,
        label_y=round(label_y + 4, 1),
        more=vertex is None,
    )


def _at(angle: float, radius: float) -> tuple[float, float]:
    middle = SIZE / 2
    x, y = middle + radius * math.cos(angle), middle + radius * math.sin(angle)
    return round(x, 1) + 0.0, round(y, 1) + 0.0


def _graph(
    pair: Mapping[str, object],
    base: Mapping[str, object],
    vertex: int,
    left: Sequence[int],
    right: Sequence[int],
) -> _Graph:
    """Return what a result tells of the network, by names alone if it must be."""
    n = base.get("n")
    names: dict[int, str] = {}
    listed = base.get("names")
    if isinstance(listed, Sequence) and not isinstance(listed, str):
        names = dict(enumerate(map(str, listed)))
    else:
        # Without the network, the names of those who come or go are found with the pair.
        for key, vertices in (
            ("lost", sorted(set(left) - set(right))),
            ("gained", sorted(set(right) - set(left))),
        ):
            found = pair.get(key)
            if isinstance(found, Sequence) and len(found) == len(vertices):
                names.update(zip(vertices, map(str, found), strict=True))
    name = pair.get("vertex_name")
    if isinstance(name, str):
        names[vertex] = name
    return _Graph(
        n if _whole(n) else None,
        _edges(base.get("edges")),
        frozenset(_ints(base.get("targeted")) or ()),
        frozenset(_ints(base.get("seeds")) or ()),
        names,
    )


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _ints(value: object) -> list[int] | None:
    if not isinstance(value, Iterable) or isinstance(value, str | Mapping):
        return None
    items = list(value)
    return items if all(map(_whole, items)) else None


def _edges(value: object) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, Iterable) or isinstance(value, str | Mapping):
        return ()
    ends = (_ints(edge) for edge in value)
    return tuple((edge[0], edge[1]) for edge in ends if edge is not None and len(edge) == 2)


def _vertices(values: object) -> list[int]:
    """Return the vertices an event names, when they are few enough to be pointed out."""
    found: dict[int, None] = {}
    waiting = [values]
    while waiting and len(found) <= MOST_POINTED:
        value = waiting.pop()
        if isinstance(value, list | tuple):
            waiting += reversed(value)
        elif _whole(value):
            found[value] = None
    return list(found) if len(found) <= MOST_POINTED else []
