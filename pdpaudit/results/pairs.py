"""Neighbouring pairs as results name them: two networks, or two inputs of a mechanism's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, get_args

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.core.network import (
    PROTECTED,
    NeighborPair,
    Network,
    Own,
    adjacency_from_edges,
    difference,
)
from pdpaudit.outputs.events import Side
from pdpaudit.outputs.records import JSON
from pdpaudit.outputs.words import list_names
from pdpaudit.results.files import given, whole

#: How a network is read again from what its file was called and the options it was read with.
ReadNetwork = Callable[[JSON, int], Network]

#: A network with more edges is kept out of a witness; it names the file instead.
INLINE_EDGES = 50_000

#: Vertices of a network that is written out: more are no network of so few edges.
MOST_VERTICES = 10_000_000


@dataclass(frozen=True)
class InlineNetwork:
    """A network that is written out."""

    n: int
    seeds: tuple[int, ...]
    max_degree: int | None
    targeted: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, network: Network, without: int) -> InlineNetwork:
        """Return a network in which ``without`` has no edges."""
        coo = network.adjacency.tocoo()
        kept = (coo.row < coo.col) & (coo.row != without) & (coo.col != without)
        edges = zip(coo.row[kept].tolist(), coo.col[kept].tolist(), strict=True)
        targeted = tuple(np.flatnonzero(network.targeted).tolist())
        names = None if network.names is None else tuple(network.names)
        seeds = tuple(network.seeds)
        return cls(network.n, seeds, network.max_degree, targeted, tuple(edges), names)

    def to_json(self) -> JSON:
        """Return the JSON form."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, body: JSON) -> InlineNetwork:
        """Return the network of a JSON form, if it is one."""
        n, names = whole(body["n"]), body.get("names")
        if not 0 < n <= MOST_VERTICES:
            raise ValueError(f"there are no {n} vertices")
        if names is not None and not all(isinstance(name, str) for name in [*names]):
            raise TypeError("a name is no text")
        edges = tuple((whole(one), whole(other)) for one, other in body["edges"])
        targeted = tuple(map(whole, body["targeted"]))
        if not all(0 <= v < n for v in (*targeted, *(end for edge in edges for end in edge))):
            raise ValueError("an edge or the partition names a vertex that does not exist")
        seeds = tuple(map(whole, body["seeds"]))
        names = None if names is None else tuple(names)
        return cls(n, seeds, body.get("max_degree"), targeted, edges, names)

    def build(self, title: str, seed: int, read: ReadNetwork) -> Network:
        """Return the network."""
        edges = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        targeted = np.zeros(self.n, dtype=bool)
        targeted[np.array(self.targeted, dtype=np.int64)] = True
        adjacency = adjacency_from_edges(self.n, edges[:, 0], edges[:, 1])
        return Network(adjacency, targeted, self.seeds, self.names, title, self.max_degree)


@dataclass(frozen=True)
class NamedNetwork:
    """A network in a file, named with the options it was read with.

    The public degree bound is no part of the file.
    """

    n: int
    seeds: tuple[int, ...]
    max_degree: int | None
    file: JSON

    def to_json(self) -> JSON:
        """Return the JSON form."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, body: JSON) -> NamedNetwork:
        """Return the network of a JSON form."""
        if not isinstance(body["file"], Mapping):
            raise TypeError("its file is no object")
        seeds = tuple(map(whole, body["seeds"]))
        return cls(whole(body["n"]), seeds, body.get("max_degree"), body["file"])

    def build(self, title: str, seed: int, read: ReadNetwork) -> Network:
        """Read the network again."""
        network = read(self.file, seed)
        if network.n != self.n or tuple(network.seeds) != self.seeds:
            raise InputError("the network read is not the one the witness was found on")
        return replace(network, title=title, max_degree=self.max_degree)


@dataclass(frozen=True)
class OwnPair:
    """Two inputs of a mechanism's own, or of its domain, by number or both written out."""

    words: str = ""
    number: int | None = None
    sides: tuple[str, str] | None = None

    @property
    def shown(self) -> OwnPair:
        """What is shown of it outside its witness: all."""
        return self

    def to_json(self) -> JSON:
        """Return the JSON form; empty where nothing is known."""
        known = given(number=self.number, sides=self.sides)
        return {"words": self.words, **known} if self.words or known else {}

    @classmethod
    def from_json(cls, body: JSON) -> OwnPair:
        """Return the pair of a JSON form."""
        number, sides = body.get("number"), body.get("sides")
        if sides is not None:
            left, right = map(_text, sides)
            sides = (left, right)
        return cls(_text(body.get("words", "")), None if number is None else whole(number), sides)


@dataclass(frozen=True)
class NetworkPair:
    """A neighbouring pair: a network without the vertex's edges, and both its neighbourhoods.

    ``lost`` and ``gained`` are names, towards the side that ``words`` lead to; what is shown of a
    witness's pair is all but its ``base``.
    """

    network: str
    family: str
    vertex: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    own: Own | None = None
    relation: str = PROTECTED
    vertex_name: str = ""
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    words: str = ""
    base: InlineNetwork | NamedNetwork | None = None

    @classmethod
    def of(cls, pair: NeighborPair, to: Side, file: Mapping[str, object] | None) -> NetworkPair:
        """Return a pair with its words, which lead to the side ``to``.

        ``file`` says how to read a network too large to be written out.
        """
        network, name = pair.network, pair.network.name
        base: InlineNetwork | NamedNetwork
        if network.edges > INLINE_EDGES and file is not None:
            base = NamedNetwork(network.n, tuple(network.seeds), network.max_degree, file)
        else:
            base = InlineNetwork.of(network, pair.vertex)
        sides = pair.left_neighbours, pair.right_neighbours
        left, right = (tuple(np.sort(np.asarray(side)).tolist()) for side in sides)
        before, after = ({*left}, {*right}) if to == "right" else ({*right}, {*left})
        lost, gained = (tuple(map(name, sorted(v))) for v in (before - after, after - before))
        known = network.title, pair.family, pair.vertex, left, right, pair.own_side, pair.relation
        return cls(*known, name(pair.vertex), lost, gained, rewiring_words(pair, to), base)

    @property
    def shown(self) -> NetworkPair:
        """What is shown of it outside its witness."""
        return replace(self, base=None)

    def to_json(self) -> JSON:
        """Return the JSON form."""
        relation = None if self.relation == PROTECTED else self.relation
        base = self.base and self.base.to_json()
        return given(**{**vars(self), "relation": relation, "base": base})

    @classmethod
    def from_json(cls, body: JSON) -> NetworkPair:
        """Return the pair of a JSON form."""
        own, base = body.get("own"), body.get("base")
        if own not in get_args(Own) and own is not None:
            raise ValueError(f"no side of a pair is {own!r}")
        source: type[InlineNetwork | NamedNetwork]
        source = NamedNetwork if base is not None and "file" in base else InlineNetwork
        left, right = (tuple(map(whole, body[side])) for side in ("left", "right"))
        vertex = whole(body["vertex"])
        lost, gained = (tuple(map(_text, body.get(key, ()))) for key in ("lost", "gained"))
        network, family = _text(body["network"]), _text(body.get("family", ""))
        relation, words = _text(body.get("relation", PROTECTED)), _text(body.get("words", ""))
        name = _text(body.get("vertex_name", str(vertex)))
        built = None if base is None else source.from_json(base)
        known = network, family, vertex, left, right, own, relation
        return cls(*known, name, lost, gained, words, built)

    def build(self, seed: int, read: ReadNetwork) -> NeighborPair:
        """Return the pair, once it is seen to be one by the definition."""
        if self.base is None:
            raise ValueError("its network is not written out")
        network = self.base.build(self.network, seed, read)
        left, right = (np.array(side, dtype=np.int64) for side in (self.left, self.right))
        words = (self.family, self.own, self.relation)
        built = NeighborPair(network, self.vertex, left, right, *words)
        reason = difference(built.left, built.right, built.vertex, self.relation)
        if reason is not None:
            raise ValueError(reason)
        return built


Pair: TypeAlias = OwnPair | NetworkPair


def pair_from_json(body: JSON) -> Pair:
    """Return the pair of a JSON form, of networks where it names a vertex."""
    return NetworkPair.from_json(body) if "vertex" in body else OwnPair.from_json(body)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def rewiring_words(pair: NeighborPair, to: Side) -> str:
    """Say what is rewired, towards the side named."""
    name = pair.network.name
    sides = [sorted(side.tolist()) for side in (pair.left_neighbours, pair.right_neighbours)]
    before, after = sides if to == "right" else reversed(sides)
    said = [list_names(map(name, side)) for side in (before, after)]
    own = pair.own_side
    if own == "neither":
        said[1] += " (neither as in the file)"
    elif own is not None:
        said[own == to] += " (as in the file)"
    return f"rewiring {name(pair.vertex)} from {said[0]} to {said[1]}"
