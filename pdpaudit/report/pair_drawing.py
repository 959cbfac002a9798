"""A neighbouring pair as a drawing: one vertex in the middle, everyone who matters around it.

Places depend on the order of the vertices alone, so the drawing of a pair never changes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

from pdpaudit.core.errors import InputError
from pdpaudit.outputs import Event, Membership
from pdpaudit.report import charts as c
from pdpaudit.report.blocks import Picture, clip, number, visible
from pdpaudit.results.pairs import InlineNetwork, NetworkPair, Pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Role = Literal["lost", "kept", "gained", "other"]

#: Vertices drawn around the one that is rewired; beyond, each group is cut and counted.
MOST = 36

#: Vertices of a network drawn whole, and of one that a check found; of more nothing is drawn.
WHOLE, MOST_VERTICES = 24, 10_000

#: Vertices an event may name for them to be pointed out.
MOST_POINTED = 12

#: Names that a caption lists, and characters of a name beside its vertex.
MOST_NAMES, LABEL = 12, 12

#: How contacts are drawn, by what becomes of them: words, colour, width and dashes.
CONTACTS: dict[Role, tuple[str, str, float, c.Dash]] = {
    "other": ("other contacts", c.FAINT, 1.0, "-"),
    "kept": ("contact kept", c.SOFT, 1.4, "-"),
    "lost": ("contact lost", c.VERMILLION, 1.4, (0, (3.5, 2.5))),
    "gained": ("contact gained", c.GREEN, 2.2, "-"),
}

#: Colour, marker and size of the signs of a vertex, the outermost first.
POINTED, START, CENTRE = "named by the event", "where the search starts", "rewired, protected"
SIGNS = {
    POINTED: ("o", c.PAPER, c.ORANGE, 15.0),
    START: ("o", c.PAPER, c.BLUE, 12.0),
    "targeted": ("o", c.BLUE, c.BLUE, 8.0),
    "protected": ("s", c.PAPER, c.SOFT, 7.5),
    CENTRE: ("D", c.PAPER, c.BLACK, 9.0),
}


@dataclass(frozen=True)
class PairDrawing:
    """Who is rewired how, in what network; of one that is only named the edges are not ``known``.

    ``members`` says that those targeted are a set S.
    """

    n: int
    centre: int | None
    before: frozenset[int]
    after: frozenset[int]
    edges: tuple[tuple[int, int], ...]
    targeted: frozenset[int]
    names: Mapping[int, str] = field(default_factory=dict)
    values: Mapping[int, str] = field(default_factory=dict)
    seeds: frozenset[int] = frozenset()
    pointed: tuple[int, ...] = ()
    known: bool = True
    members: bool = False

    @property
    def groups(self) -> dict[Role, list[int]]:
        """Who is lost, kept and gained."""
        kept = self.before & self.after
        lost, gained = self.before - kept, self.after - kept
        return {"lost": sorted(lost), "kept": sorted(kept), "gained": sorted(gained)}

    @cached_property
    def ring(self) -> list[tuple[Role, int | None, str]]:
        """Who is drawn around the centre, each with a role and a label; no vertex is a gap."""
        important, everyone = self.seeds.union(self.pointed), len(self.before | self.after)
        ring: list[tuple[Role, int | None, str]] = []
        for role, members in self.groups.items():
            most = MOST if everyone <= MOST else max(2, (MOST - 4) * len(members) // everyone)
            chosen = sorted(sorted(members, key=lambda v: v not in important)[:most])
            left = len(members) - len(chosen)
            ring += [(role, v, self.label(v)) for v in chosen]
            ring += [(role, None, f"+{left} more" if left else "")] if members else []
        room = MOST - sum(v is not None for _, v, _ in ring)
        ring += [("other", v, self.label(v)) for v in self._others()[: max(0, room)]]
        return [*ring, ("other", None, "")]

    def _others(self) -> list[int]:
        """Return whom else to draw: everybody in a small network, else who matters and joins them.

        A score counts contacts, so after those pointed out come the vertices with most edges to
        the ones already drawn.
        """
        named = self.before | self.after | {self.centre}
        first = range(self.n) if self.n <= WHOLE else [*self.pointed, *sorted(self.seeds)]
        core = named.union(first)
        ends = [*self.edges, *((b, a) for a, b in self.edges)]
        links = Counter(there for here, there in ends if here in core and there not in core)
        joining = sorted((v for v in links if links[v] > 1), key=lambda v: (-links[v], v))
        return [v for v in dict.fromkeys([*first, *joining]) if v not in named]

    @property
    def drawn(self) -> list[int]:
        """The vertices drawn, the one that is rewired last."""
        around = [v for _, v, _ in self.ring if v is not None]
        return around if self.centre is None else [*around, self.centre]

    def name(self, vertex: int) -> str:
        """Return what a vertex is called."""
        return self.names.get(vertex, str(vertex))

    def label(self, vertex: int) -> str:
        """Return what stands beside a vertex: its name, and its values where they are known."""
        value = self.values.get(vertex)
        words = self.name(vertex) if value is None else f"{self.name(vertex)}: {value}"
        line = " ".join(visible(words).split())
        return line if len(line) <= LABEL else f"{line[: LABEL - 1]}…"

    def signs(self, vertex: int) -> set[str]:
        """Return the signs of a vertex."""
        kind = "targeted" if vertex in self.targeted else "protected"
        kind = CENTRE if vertex == self.centre else kind
        return {kind, *[POINTED] * (vertex in self.pointed), *[START] * (vertex in self.seeds)}

    def picture(self, anchor: str) -> Picture:
        """Return the drawing with what it shows in words."""
        names = [tuple(map(self.name, some)) for some in self.groups.values()]
        title, caption = "Drawing of the network", ""
        if self.centre is not None:
            lost, kept, gained = map(_listed, names)
            centre = self.name(self.centre)
            names.append((centre,))
            caption = f"{centre} loses {lost}; gains {gained}; keeps {kept}."
            title = f"Drawing of the pair: what {clip(visible(centre))} loses and gains"
        note = "Beside a vertex: its score, before → after. " if self.values else ""
        if not self.known:
            note += "The network itself is not in the file: only those rewired are drawn."
        elif len(self.drawn) < self.n:
            note += f"Drawn is the neighbourhood that matters, of {self.n} vertices."
        draw = partial(c.page_chart, (4.6, 4.9), title, partial(_draw, self), kind="pair")
        return Picture(f"{anchor}-pair", draw, caption, tuple(chain(*names)), note)


def draw_pair(pair: Pair, event: Event | None) -> PairDrawing | None:
    """Draw the pair of a claim, towards the side where its event is likelier; None if it is none.

    Where the network is only named, those are known by name who come or go.
    """
    if not isinstance(pair, NetworkPair) or pair.base is None:
        return None
    before, after = frozenset(pair.left), frozenset(pair.right)
    names = {pair.vertex: pair.vertex_name}
    edges: tuple[tuple[int, int], ...] = ()
    targeted: tuple[int, ...] = ()
    if isinstance(pair.base, InlineNetwork):
        edges, targeted = pair.base.edges, pair.base.targeted
        names |= dict(enumerate(pair.base.names or ()))
    else:
        for vertices, known in ((before - after, pair.lost), (after - before, pair.gained)):
            names |= zip(sorted(vertices), known, strict=False)
    if event is not None and event.side == "left":
        before, after = after, before
    pointed: tuple[int, ...] = ()
    if isinstance(event, Membership) and event.feature != "length":
        pointed = _vertices(event.to_json()["values"])
    return PairDrawing(
        pair.base.n, pair.vertex, before, after, edges, frozenset(targeted), names, {},
        frozenset(pair.base.seeds), pointed, isinstance(pair.base, InlineNetwork),
    )  # fmt: skip


def draw_witness(body: Mapping[str, object]) -> PairDrawing | None:
    """Draw the counterexample of a check: a pair of networks, or one on which it failed."""
    from pdpaudit.checks.graphs import PairWitness, read_witness  # the checks take a second

    try:
        found = read_witness(body)
    except InputError:
        return None
    if not 0 < found.n <= MOST_VERTICES:
        return None
    targets = frozenset(found.targets)
    if not isinstance(found, PairWitness):
        return PairDrawing(
            found.n, None, frozenset(), frozenset(), found.edges, targets, members=True
        )
    scores = zip(found.values["left"], found.values["right"], strict=False)
    values = {
        v: number(a) if a == b else f"{number(a)} → {number(b)}" for v, (a, b) in enumerate(scores)
    }
    return PairDrawing(
        found.n, found.vertex, frozenset(found.left), frozenset(found.right), found.edges, targets,
        values=values, members=True,
    )  # fmt: skip


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (", ".join(names[:MOST_NAMES]) or "nobody") + more


def _vertices(values: object) -> tuple[int, ...]:
    """Return the vertices an event names, when they are few enough to be pointed out."""
    found: dict[int, None] = {}
    waiting = [values]
    while waiting and len(found) <= MOST_POINTED:
        value = waiting.pop()
        if isinstance(value, list | tuple):
            waiting += reversed(value)
        elif type(value) is int:
            found[value] = None
    return tuple(found) if len(found) <= MOST_POINTED else ()


def _draw(pair: PairDrawing, figure: Figure) -> None:
    """Draw the ring with the lost ones to the left, or the gained ones, if alone, to the right."""
    import numpy as np

    figure.set_layout_engine("none")  # twice as fast
    ax, ring = figure.add_axes((0.0, 0.12, 1.0, 0.88)), pair.ring
    ax.set_axis_off()
    ax.set(aspect="equal", xlim=(-2, 2), ylim=(-1.95, 1.95))
    first = sum(role == ring[0][0] for role, *_ in ring) - 1
    facing = 0.0 if ring[0][0] == "gained" else math.pi
    angles = [facing + (i - (first - 1) / 2) * 2 * math.pi / len(ring) for i in range(len(ring))]
    around = [angle for angle, (_, v, _) in zip(angles, ring, strict=True) if v is not None]
    places = np.array([*((math.cos(a), math.sin(a)) for a in around), (0.0, 0.0)])
    index = {v: i for i, v in enumerate(pair.drawn)}
    key: c.Key = []
    for role, (words, color, width, dash) in CONTACTS.items():
        ends = [(len(around), index[v]) for r, v, _ in ring if r == role and v is not None]
        if role == "other":
            ends = [(index[a], index[b]) for a, b in pair.edges if a in index and b in index]
        if ends:
            key.append((c.draw_edges(ax, places, ends, color, width, dash), words))
    shown = {"targeted": "in S", "protected": "not in S"} if pair.members else {}
    for sign, (marker, fill, rim, size) in SIGNS.items():
        chosen = [index[v] for v in pair.drawn if sign in pair.signs(v)]
        if chosen:
            (marks,) = ax.plot(*places[chosen].T, marker, mfc=fill, mec=rim, ms=size)
            key.append((marks, shown.get(sign, sign)))
    for angle, (_, v, label) in zip(angles, ring, strict=True):
        _label(ax, angle, label, turned=len(around) > 12, muted=v is None)
    if pair.centre is not None:
        ax.text(0, -0.16, pair.label(pair.centre), ha="center", va="top", weight="bold")
    look = {"frameon": False, "fontsize": 8, "columnspacing": 0.8, "handlelength": 1.5}
    c.write_key(figure.legend, key, loc="lower center", ncols=3, **look)


def _label(ax: Axes, angle: float, label: str, *, turned: bool, muted: bool) -> None:
    x, y = math.cos(angle), math.sin(angle)
    side = "right" if x < 0 else "left"
    turn = math.degrees(angle) + (180 if x < 0 else 0) if turned else 0
    far = 1.14
    if not turned and abs(x) < 0.35:
        side, far = "center", 1.2
    ax.text(
        far * x, far * y, label, ha=side, va="center", rotation=turn, rotation_mode="anchor",
        fontsize=8.5, color=c.SOFT if muted else c.BLACK,
    )  # fmt: skip
