"""Counterexamples as JSON and as Python, and their verification by code of its own.

Nothing here uses the search, its data structures or its arithmetic: a witness is read as plain
data, the networks are built from it edge by edge, and the statistic is called on them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from pdpaudit.checks.declaration import require_statistic
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.making import Find
from pdpaudit.core.protocols import StatisticOfProximity
from pdpaudit.core.registry import resolve

if TYPE_CHECKING:
    from pdpaudit.checks.evaluation import CheckFailed

FORMAT = "pdpaudit-statistic-witness/1"

EMPTY: tuple[object, ...] = ("", ())

PAIR_PROPERTIES = ("targeted-sensitivity", "impact-cardinality", "own-network")

Vertices = tuple[int, ...]
Edges = tuple[tuple[int, int], ...]
W = TypeVar("W", bound="Witness")


@dataclass(frozen=True, kw_only=True)
class Witness:
    """What both kinds of counterexample hold: the property that fails, a graph and a set S."""

    property: str
    statistic: str = ""
    n: int
    edges: Edges
    targets: Vertices
    specification: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data; what is optional and empty is left out."""
        body = {"format": FORMAT}
        for each in fields(self):
            value = getattr(self, each.name)
            if value or each.default not in EMPTY:
                body[each.name] = _plain(value)
        return body

    @classmethod
    def from_json(cls: type[W], body: Mapping[str, Any]) -> W:
        """Return the counterexample in a file; raises InputError where something is missing."""
        names = [field.name for field in fields(cls)]
        try:
            return cls(**{name: _frozen(body[name]) for name in names if name in body})
        except TypeError as error:
            raise InputError(f"the witness is damaged ({error}); check again") from None


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

    def called(self, name: str) -> PairWitness:
        """Return the same for another name of the property."""
        return replace(self, property=name)


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
            n=failure.sample.n,
            edges=failure.sample.edges,
            targets=failure.sample.targets,
            vertex=failure.vertex,
            message=failure.message,
            traceback=failure.traceback,
            names=failure.names,
            node_order=failure.node_order,
            edge_order=failure.edge_order,
        )


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def read_witness(body: Mapping[str, Any]) -> PairWitness | GraphWitness:
    """Return the counterexample in a file."""
    pair = body.get("property") in PAIR_PROPERTIES
    return PairWitness.from_json(body) if pair else GraphWitness.from_json(body)


# Verification


@dataclass(frozen=True)
class Verification:
    """Whether a witness reproduces."""

    reproduced: bool
    observed: float | None
    detail: str


def replay_witness(witness: Mapping[str, Any], find: Find = resolve) -> Verification:
    """Find the statistic a witness names, and verify it."""
    name = witness.get("specification")
    if not isinstance(name, str):
        raise InputError("the witness does not name its statistic; check again with --json")
    sop, _ = require_statistic(find("sops", name))
    return verify_witness(witness, sop)


def verify_witness(witness: Mapping[str, Any], sop: StatisticOfProximity) -> Verification:
    """Re-run a counterexample."""
    if witness.get("format") != FORMAT:
        raise InputError(f"not a {FORMAT}; give a result file of `check`")
    read = read_witness(witness)
    try:
        if isinstance(read, PairWitness):
            return _verify_pair(read, sop)
        failure = FAILURES[read.property](read, sop)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"the witness is damaged ({described(error)}); check again") from None
    return Verification(bool(failure), None, failure or "the statistic behaves on this graph")


def _verify_pair(witness: PairWitness, sop: StatisticOfProximity) -> Verification:
    n, u, bound = witness.n, witness.vertex, witness.max_degree
    if u in witness.targets:
        return Verification(False, None, f"vertex {u} is rewired and in S")
    if any(u in edge for edge in witness.edges):
        return Verification(False, None, f"an edge of vertex {u} is among the common ones")
    values = []
    for side, around in (("left", witness.left), ("right", witness.right)):
        graph = _graph(n, witness.edges)
        graph.add_edges_from((u, other) for other in around)
        if len(graph) != n or any(a == b for a, b in graph.edges):
            return Verification(False, None, "a vertex is out of range or has a loop")
        if _degree(graph) > bound:
            return Verification(False, None, f"the {side} network exceeds degree {bound}")
        values.append([float(sop(graph, v, frozenset(witness.targets))) for v in range(n)])
    if not all(map(math.isfinite, values[0] + values[1])):
        return Verification(False, None, "a value is not finite")
    slack = slack_of(sop, bound)
    # Doubles are fractions: their differences are taken without rounding.
    changes = [abs(Fraction(a) - Fraction(b)) for a, b in zip(*values, strict=True)]
    if witness.property == "impact-cardinality":
        observed = Fraction(sum(c > slack for c in changes))
        declared = float(sop.impact_cardinality(bound))
        broken = observed > declared
    else:
        observed = max((c for v, c in enumerate(changes) if v != u), default=Fraction(0))
        declared = float(sop.sensitivity(bound))
        broken = observed - slack > declared
    shown = float(observed)
    precise = f"{declared:g}" == f"{shown:g}" and observed != declared
    found = f"{shown!r}" if precise else f"{shown:g}"
    return Verification(broken, shown, f"declared {declared:g}, found {found}")


def slack_of(sop: StatisticOfProximity, degree: int) -> Fraction:
    """Return twice the error stated; nothing where no noise would hide a difference."""
    return _twice_error(sop, degree) if sop.sensitivity(degree) > 0 else Fraction(0)


def _twice_error(sop: StatisticOfProximity, degree: int) -> Fraction:
    error = getattr(sop, "error", 0.0)
    return 2 * Fraction(float(error(degree) if callable(error) else error))


def _graph(n: int, edges: Edges) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return graph


def _degree(graph: nx.Graph) -> int:
    return max(dict(graph.degree).values(), default=0)


def _all(graph: nx.Graph, targets: frozenset[int], sop: StatisticOfProximity) -> list[float]:
    return [float(sop(graph, v, targets)) for v in range(len(graph))]


def _not_finite(witness: GraphWitness, sop: StatisticOfProximity) -> str:
    try:
        values = _all(_graph(witness.n, witness.edges), frozenset(witness.targets), sop)
    except Exception as error:
        return described(error)
    wrong = [v for v, value in enumerate(values) if not math.isfinite(value)]
    return f"the value of vertex {wrong[0]} is {values[wrong[0]]}" if wrong else ""


def _not_deterministic(witness: GraphWitness, sop: StatisticOfProximity) -> str:
    graph = _graph(witness.n, witness.edges)
    answers = {tuple(_all(graph.copy(), frozenset(witness.targets), sop)) for _ in range(10)}
    return f"{len(answers)} different answers in 10 calls" if len(answers) > 1 else ""


def _changes_graph(witness: GraphWitness, sop: StatisticOfProximity) -> str:
    graph = _graph(witness.n, witness.edges)
    before = nx.node_link_data(graph, edges="edges")
    _all(graph, frozenset(witness.targets), sop)
    after = nx.node_link_data(graph, edges="edges")
    return "the graph is not what it was" if before != after else ""


def _changes_random_state(witness: GraphWitness, sop: StatisticOfProximity) -> str:
    def state() -> tuple[object, ...]:
        words = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what is watched
        return random.getstate(), *(np.asarray(word).tolist() for word in words)

    before = state()
    _all(_graph(witness.n, witness.edges), frozenset(witness.targets), sop)
    return "the global random state is not what it was" if before != state() else ""


def _depends_on_order(witness: GraphWitness, sop: StatisticOfProximity) -> str:
    straight = _all(_graph(witness.n, witness.edges), frozenset(witness.targets), sop)
    other = nx.Graph()
    other.add_nodes_from(witness.node_order)
    other.add_edges_from(witness.edge_order)
    values = _all(other, frozenset(witness.targets), sop)
    return _compare(straight, values, slack_of(sop, _degree(other)), "built in another order")


def _depends_on_labels(witness: GraphWitness, sop: StatisticOfProximity) -> str:
    straight = _all(_graph(witness.n, witness.edges), frozenset(witness.targets), sop)
    order = witness.names
    moved = sorted(sorted((order[a], order[b])) for a, b in witness.edges)
    other = _graph(witness.n, tuple((a, b) for a, b in moved))
    renamed = _all(other, frozenset(order[v] for v in witness.targets), sop)
    back = [renamed[order[v]] for v in range(witness.n)]
    return _compare(straight, back, _twice_error(sop, _degree(other)), "renumbered")


def _fast_path_differs(witness: GraphWitness, sop: StatisticOfProximity) -> str:
    n = witness.n
    graph = _graph(n, witness.edges)
    straight = _all(graph, frozenset(witness.targets), sop)
    dense = np.zeros((n, n), dtype=np.int8)
    for a, b in witness.edges:
        dense[a, b] = dense[b, a] = 1
    scores = sop.scores  # type: ignore[attr-defined]
    try:
        fast = np.asarray(scores(csr_array(dense), np.array(witness.targets, dtype=np.int64)))
    except Exception as error:
        return f"the fast path raises {described(error)}"
    if fast.shape != (n,):
        return f"the fast path returns shape {fast.shape}"
    return _compare(straight, fast.tolist(), slack_of(sop, _degree(graph)), "by the fast path")


FAILURES: Mapping[str, Callable[[GraphWitness, StatisticOfProximity], str]] = {
    "finite": _not_finite,
    "deterministic": _not_deterministic,
    "graph-unchanged": _changes_graph,
    "global-random-state": _changes_random_state,
    "order-independent": _depends_on_order,
    "label-independent": _depends_on_labels,
    "fast-path": _fast_path_differs,
}


def _compare(straight: list[float], other: list[float], slack: Fraction, how: str) -> str:
    for v, (a, b) in enumerate(zip(straight, other, strict=True)):
        finite = math.isfinite(a) and math.isfinite(b)
        if abs(Fraction(a) - Fraction(b)) > slack if finite else a != b:
            return f"vertex {v} has {a!r}, {how} {b!r}"
    return ""


# Text


def as_listing(body: Mapping[str, Any]) -> str:
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


def as_python(body: Mapping[str, Any], specification: str) -> str:
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
