"""What ``replay`` runs again: a pair, an event, a certificate, where two runs first differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from pdpaudit.core.errors import InputError
from pdpaudit.core.neighbors import PROTECTED, NeighborPair, Own, difference
from pdpaudit.core.network import Network, adjacency_from_edges
from pdpaudit.outputs.records import JSON
from pdpaudit.results.fields import Fields

__all__ = [
    "AuditWitness",
    "Certificate",
    "Difference",
    "FirstDifference",
    "InlineNetwork",
    "Interval",
    "Kind",
    "NamedNetwork",
    "PairWitness",
    "ReadNetwork",
    "interval",
    "whole",
]

#: How a network is read again from what its file was called and the options it was read with.
ReadNetwork = Callable[[JSON, int], Network]

#: A network with more edges is kept out of a witness; it names the file instead.
INLINE_EDGES = 50_000

#: Vertices of a network that is written out: more are no network of so few edges.
MOST_VERTICES = 10_000_000

#: Significant digits of an interval's ends.
DIGITS = 15

#: What of two runs differs first: which statement comes next, a draw, an oracle call, a value or
#: the output.
Kind = Literal["line", "draw", "oracle", "value", "output"]

#: Runs that are compared at most.
MOST_RUNS = 10_000

Interval = tuple[Fraction, Fraction]


def whole(value: object) -> int:
    """Return a whole number of a result; anything else is no number of a vertex."""
    if type(value) is not int:
        raise TypeError(f"{value!r} is no whole number")
    return value


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

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "n": self.n,
            "seeds": list(self.seeds),
            "max_degree": self.max_degree,
            "targeted": list(self.targeted),
            "edges": [list(edge) for edge in self.edges],
            "names": None if self.names is None else list(self.names),
        }

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

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        shared = {"n": self.n, "seeds": list(self.seeds), "max_degree": self.max_degree}
        return {**shared, "file": self.file}

    @classmethod
    def from_json(cls, body: JSON) -> NamedNetwork:
        """Return the network of a JSON form."""
        return cls(body["n"], tuple(body["seeds"]), body.get("max_degree"), body["file"])

    def build(self, title: str, seed: int, read: ReadNetwork) -> Network:
        """Read the network again."""
        network = read(self.file, seed)
        if network.n != self.n or tuple(network.seeds) != self.seeds:
            raise InputError("the network read is not the one the witness was found on")
        return replace(network, title=title, max_degree=self.max_degree)


@dataclass(frozen=True)
class PairWitness:
    """A neighbouring pair: a network without the vertex's edges, and both its neighbourhoods."""

    network: str
    family: str
    vertex: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    base: InlineNetwork | NamedNetwork
    own: Own | None = None
    relation: str = PROTECTED

    @classmethod
    def of(cls, pair: NeighborPair, file: Mapping[str, object] | None) -> PairWitness:
        """Return a pair; ``file`` says how to read a network too large to be written out."""
        network = pair.network
        base: InlineNetwork | NamedNetwork
        if network.edges > INLINE_EDGES and file is not None:
            base = NamedNetwork(network.n, tuple(network.seeds), network.max_degree, file)
        else:
            base = InlineNetwork.of(network, pair.vertex)
        left, right = (
            tuple(np.sort(np.asarray(side)).tolist())
            for side in (pair.left_neighbours, pair.right_neighbours)
        )
        sides = (pair.vertex, left, right)
        return cls(network.title, pair.family, *sides, base, pair.own_side, pair.relation)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "network": self.network,
            "family": self.family,
            "vertex": self.vertex,
            "left": list(self.left),
            "right": list(self.right),
            **({} if self.own is None else {"own": self.own}),
            **({} if self.relation == PROTECTED else {"relation": self.relation}),
            "base": self.base.to_json(),
        }

    @classmethod
    def from_json(cls, body: JSON) -> PairWitness:
        """Return the pair of a JSON form."""
        base = body["base"]
        source: type[InlineNetwork | NamedNetwork]
        source = NamedNetwork if "file" in base else InlineNetwork
        left, right = (tuple(map(whole, body[side])) for side in ("left", "right"))
        vertex, family = whole(body["vertex"]), body.get("family", "")
        own = body.get("own")
        if own not in get_args(Own) and own is not None:
            raise ValueError(f"no side of a pair is {own!r}")
        relation = body.get("relation", PROTECTED)
        sides = (vertex, left, right)
        return cls(body["network"], family, *sides, source.from_json(base), own, relation)

    def build(self, seed: int, read: ReadNetwork) -> NeighborPair:
        """Return the pair, once it is seen to be one by the definition."""
        network = self.base.build(self.network, seed, read)
        left, right = (np.array(side, dtype=np.int64) for side in (self.left, self.right))
        words = (self.family, self.own, self.relation)
        built = NeighborPair(network, self.vertex, left, right, *words)
        reason = difference(built.left, built.right, built.vertex, self.relation)
        if reason is not None:
            raise ValueError(reason)
        return built


@dataclass(frozen=True)
class Certificate:
    """What is proved of one pair and one event, in intervals."""

    outputs: frozenset[Hashable]
    probability: Interval
    probability_other: Interval
    loss: Interval
    excess: Interval

    @property
    def proves(self) -> bool:
        """Whether the whole excess lies above 0: then the claim is false."""
        return self.excess[0] > 0

    def intervals(self) -> dict[str, list[str]]:
        """Return the ends of the intervals as decimal strings, rounded outward."""
        keys = ("probability", "probability_other", "loss", "excess")
        return {key: list(interval(getattr(self, key))) for key in keys}

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        outputs = sorted((_listed(output) for output in self.outputs), key=repr)
        return {"outputs": outputs, **self.intervals()}

    @classmethod
    def from_json(cls, body: JSON) -> Certificate:
        """Return the certificate of a JSON form."""
        return cls(
            frozenset(_hashable(output) for output in body["outputs"]),
            _ends(body["probability"]),
            _ends(body["probability_other"]),
            _ends(body["loss"]),
            _ends(body["excess"]),
        )


def interval(ends: Interval, digits: int = DIGITS) -> tuple[str, str]:
    """Return decimal strings between which the interval lies, as narrow as the digits allow."""
    low, high = ends
    return (
        str(_rounded(low, Context(prec=digits, rounding=ROUND_FLOOR))),
        str(_rounded(high, Context(prec=digits, rounding=ROUND_CEILING))),
    )


def _rounded(value: Fraction, context: Context) -> Decimal:
    # Both integers are exact as Decimals, and a division is rounded once, as the context says.
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _ends(pair: Sequence[str]) -> Interval:
    low, high = (Fraction(Decimal(end)) for end in pair)
    if low > high:
        raise ValueError(f"{pair} is no interval")
    return low, high


def _listed(output: Hashable) -> object:
    return [_listed(item) for item in output] if isinstance(output, tuple) else output


def _hashable(value: object) -> Hashable:
    return tuple(_hashable(item) for item in value) if isinstance(value, list) else value


@dataclass(frozen=True)
class AuditWitness:
    """All that the verdict on a claim follows from: mechanism, pair, event, streams and samples."""

    mechanism: JSON
    claim: int
    pair: JSON
    event: JSON
    method: str
    seed: int
    samples: int
    alpha: float | None = None
    ends: tuple[float, float] | None = None
    confidence: float | None = None
    single: bool | None = None
    detectable: float | None = None
    ladder: Sequence[JSON] | None = None
    looks: Sequence[int] | None = None
    enough: bool | None = None
    known: Sequence[int] | None = None
    detect: float | None = None
    weighed: JSON | None = None
    unseeded: bool | None = None

    def to_json(self) -> dict[str, object]:
        """Return the JSON form; what is not known of this kind of verdict is left out."""
        body = {key: getattr(self, key) for key in self.__dataclass_fields__}
        kept = {key: value for key, value in body.items() if value is not None or key == "alpha"}
        return {"kind": "audit", **kept}

    @classmethod
    def from_json(cls, body: Mapping[str, object], file: str) -> AuditWitness:
        """Return the witness of a JSON form, every field looked at."""
        fields = Fields(body, file, "witness.")
        ends = fields.numbers("ends", 2) if "ends" in body else None
        return cls(
            mechanism=fields.mapping("mechanism"),
            claim=fields.whole("claim"),
            pair=fields.mapping("pair"),
            event=fields.mapping("event"),
            method=fields.text("method"),
            seed=fields.whole("seed"),
            samples=fields.whole("samples"),
            alpha=fields.number("alpha"),
            ends=None if ends is None else (ends[0], ends[1]),
            confidence=fields.number("confidence"),
            single=True if body.get("single") is True else None,
            detectable=fields.number("detectable"),
            ladder=[one.body for one in fields.records("ladder")] if "ladder" in body else None,
            looks=[whole(size) for size in fields.listed("looks")] if "looks" in body else None,
            enough=True if body.get("enough") is True else None,
            known=[whole(count) for count in fields.listed("known")] if "known" in body else None,
            detect=fields.number("detect"),
            weighed=fields.mapping("weighed") or None,
            unseeded=True if body.get("unseeded") is True else None,
        )


@dataclass(frozen=True)
class Difference:
    """A statement where runs differ, in how many of them; ``ours`` is where the event is likelier.

    ``code`` is the statement's first line, ``ours`` and ``theirs`` are texts of what differs.
    """

    kind: Kind
    file: str
    line: int
    code: str
    runs: int
    ours: str = ""
    theirs: str = ""

    @classmethod
    def from_json(cls, fields: Fields) -> Difference:
        """Return the difference of a JSON form, every field looked at."""
        kind = fields.text("kind")
        if kind not in get_args(Kind):
            raise fields.fail("kind", f"one of {', '.join(get_args(Kind))}")
        texts = {key: fields.text(key) for key in ("file", "code", "ours", "theirs")}
        return cls(kind=kind, line=fields.count("line"), runs=fields.count("runs"), **texts)  # type: ignore[arg-type]


@dataclass(frozen=True)
class FirstDifference:
    """The places where runs differ, first the one that explains most; none where nothing does."""

    runs: int
    places: tuple[Difference, ...] = ()

    @classmethod
    def from_json(cls, fields: Fields) -> FirstDifference:
        """Return the object of a JSON form, every field looked at."""
        runs = fields.count("runs")
        if not 0 < runs <= MOST_RUNS:
            raise fields.fail("runs", f"a count of at most {MOST_RUNS:,}")
        return cls(runs, tuple(map(Difference.from_json, fields.records("places"))))
