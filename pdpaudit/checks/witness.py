"""Counterexamples: a graph, or a pair of graphs, and a set S, as JSON and as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from pdpaudit.core.errors import InputError
from pdpaudit.results.files import Fields

if TYPE_CHECKING:
    from pdpaudit.checks.evaluation import CheckFailed

FORMAT = "pdpaudit-statistic-witness/1"

#: What is left out of the JSON form where it is optional, and the lists that are.
EMPTY: tuple[object, ...] = ("", ())
OPTIONAL = ("names", "node_order", "edge_order")

PAIR_PROPERTIES = ("targeted-sensitivity", "impact-cardinality", "own-network")

Vertices = tuple[int, ...]
Edges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class Witness:
    """What both kinds of counterexample hold: the property that fails, a graph and a set S."""

    property: str
    statistic: str = ""
    n: int
    edges: Edges
    targets: Vertices
    specification: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the JSON form; what is optional and empty is left out."""
        body: dict[str, object] = {"format": FORMAT}
        for each in fields(self):
            value = getattr(self, each.name)
            if value or each.default not in EMPTY:
                body[each.name] = _plain(value)
        return body


@dataclass(frozen=True, kw_only=True)
class PairWitness(Witness):
    """Two networks that differ in the edges of one vertex and break a declared bound."""

    vertex: int
    left: Vertices
    right: Vertices
    max_degree: int
    at: int = 0
    declared: float = math.nan
    observed: float = math.nan
    values: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GraphWitness(Witness):
    """One graph on which a statistic does not behave."""

    vertex: int | None = None
    message: str = ""
    traceback: str = ""
    names: Vertices = ()
    node_order: Vertices = ()
    edge_order: Edges = ()

    @classmethod
    def of(cls, failure: CheckFailed, statistic: str) -> GraphWitness:
        """Return the counterexample of a failed check."""
        return cls(
            property=failure.check,
            statistic=statistic,
            **failure.sample._asdict(),
            vertex=failure.vertex,
            message=failure.message,
            traceback=failure.traceback,
            names=failure.names,
            node_order=failure.node_order,
            edge_order=failure.edge_order,
        )


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


class _Read(Fields):
    """The fields of a counterexample: whatever is called a vertex is one of its graph."""

    def real(self, key: str) -> float:
        """Return a number, NaN where none is known."""
        found = self.number(key)
        return math.nan if found is None else found

    def sides(self, key: str) -> dict[str, tuple[float, ...]]:
        """Return the values on both sides."""
        return {side: self.inner(key).numbers(side) for side in ("left", "right")}

    def vertex(self, key: str) -> int:
        """Return a vertex."""
        if not 0 <= self.whole(key) < self.count("n"):
            raise self.fail(key, "a vertex")
        return self.whole(key)

    def vertices(self, key: str) -> Vertices:
        """Return vertices; none where an optional field is left out."""
        return self._vertices(key, self._rows(key))

    def edges(self, key: str) -> Edges:
        """Return edges; none where an optional field is left out."""
        rows = self._rows(key)
        pairs = [self._vertices(key, row) for row in rows if isinstance(row, list)]
        if len(pairs) < len(rows) or not all(len(pair) == 2 for pair in pairs):
            raise self.fail(key, "a list of pairs of vertices")
        return tuple((a, b) for a, b in pairs)

    def _rows(self, key: str) -> list[object]:
        if key not in self.body and key not in OPTIONAL:
            raise self.fail(key, "a list")
        return self.listed(key)

    def _vertices(self, key: str, found: Sequence[object]) -> Vertices:
        n = self.count("n")
        known = tuple(v for v in found if type(v) is int and 0 <= v < n)
        if len(known) < len(found):
            raise self.fail(key, "a list of vertices")
        return known


#: How each field is read that is no text.
READ: dict[str, Callable[[_Read, str], object]] = {
    **dict.fromkeys(("n", "max_degree"), _Read.count),
    **dict.fromkeys(("vertex", "at"), _Read.vertex),
    **dict.fromkeys(("targets", "left", "right", "names", "node_order"), _Read.vertices),
    **dict.fromkeys(("edges", "edge_order"), _Read.edges),
    **dict.fromkeys(("declared", "observed"), _Read.real),
    "values": _Read.sides,
}


def read_witness(body: Mapping[str, object]) -> PairWitness | GraphWitness:
    """Return the counterexample of a JSON form, every field looked at."""
    if body.get("format") != FORMAT:
        raise InputError(f"not a witness of the form {FORMAT}; give a result file of `check`")
    read = _Read(body, "it", "witness.")
    kind = PairWitness if body.get("property") in PAIR_PROPERTIES else GraphWitness
    given = [each.name for each in fields(kind)]
    if kind is GraphWitness and body.get("vertex") is None:
        given.remove("vertex")
    known: dict[str, Any] = {name: READ.get(name, _Read.text)(read, name) for name in given}
    return kind(**known)


# Text


def as_listing(body: Mapping[str, object]) -> str:
    """Return a counterexample as a few lines to draw from."""
    witness = read_witness(body)
    members = ", ".join(map(str, witness.targets))
    edges = "  ".join(f"{a}-{b}" for a, b in witness.edges) or "none"
    head = f"vertices   0..{witness.n - 1}, S = {{{members}}} (the targets found so far)"
    if not isinstance(witness, PairWitness):
        return f"{head}\nedges      {edges}"
    lines = [f"{head}, rewired: {witness.vertex}", f"edges      {edges}"]
    left, right = ([f"{x:g}" for x in witness.values[side]] for side in ("left", "right"))
    whole = [[repr(x) for x in witness.values[side]] for side in ("left", "right")]
    if any(a != b and x == y for a, b, x, y in zip(*whole, left, right, strict=True)):
        left, right = whole
    for side, own, shown in (("left", witness.left, left), ("right", witness.right, right)):
        around = " ".join(map(str, own)) or "-"
        lines.append(f"{side:<10} {witness.vertex}: {around:<10} values {' '.join(shown)}")
    return "\n".join(lines)


def as_python(body: Mapping[str, object], specification: str) -> str:
    """Return Python that reproduces a counterexample."""
    witness = read_witness(body)
    edges, targets = list(witness.edges), list(witness.targets)
    lines = [
        "import networkx as nx",
        "from pdpaudit.checks import require_statistic",
        "from pdpaudit.core.registry import resolve",
        f'sop, _ = require_statistic(resolve("sops", {specification!r}))',
    ]
    values = f"print([sop(graph, v, frozenset({targets!r})) for v in range({witness.n})])"
    if not isinstance(witness, PairWitness):
        lines += [
            f"graph = nx.empty_graph({witness.n})",
            f"graph.add_edges_from({edges!r})",
            values,
        ]
    else:
        lines += [
            f"for around in {list(witness.left)!r}, {list(witness.right)!r}:",
            f"    graph = nx.empty_graph({witness.n})",
            f"    graph.add_edges_from([*{edges!r}, *(({witness.vertex}, v) for v in around)])",
            f"    {values}",
        ]
    return "\n".join(lines)
