"""Counterexamples as JSON and as Python, and their verification by code of its own.

Nothing here uses the search, its data structures or its arithmetic: a witness is read as plain
data, the networks are built from it edge by edge, and the statistic is called on them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError, described
from pdpaudit.core.protocols import StatisticOfProximity

__all__ = ["FORMAT", "Verification", "as_listing", "as_python", "slack_of", "verify_witness"]

FORMAT = "pdpaudit-statistic-witness/1"

PAIR_PROPERTIES = ("targeted-sensitivity", "impact-cardinality", "own-network")


@dataclass(frozen=True)
class Verification:
    """Whether a witness reproduces."""

    reproduced: bool
    observed: float | None
    detail: str


def verify_witness(witness: Mapping[str, Any], sop: StatisticOfProximity) -> Verification:
    """Re-run a counterexample."""
    if witness.get("format") != FORMAT:
        raise InputError(f"not a {FORMAT}; give a result file of `check`")
    try:
        if witness["property"] in PAIR_PROPERTIES:
            return _verify_pair(witness, sop)
        return _verify_graph(witness, sop)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"the witness lacks or garbles {error}; write it anew") from None


def _verify_pair(witness: Mapping[str, Any], sop: StatisticOfProximity) -> Verification:
    n, u, bound = witness["n"], witness["vertex"], witness["max_degree"]
    targets = frozenset(witness["targets"])
    if u in targets:
        return Verification(False, None, f"vertex {u} is rewired and in S")
    if any(u in edge for edge in witness["edges"]):
        return Verification(False, None, f"an edge of vertex {u} is among the common ones")
    values = []
    for side in ("left", "right"):
        graph = _graph(n, witness["edges"])
        graph.add_edges_from((u, other) for other in witness[side])
        if len(graph) != n or any(a == b for a, b in graph.edges):
            return Verification(False, None, "a vertex is out of range or has a loop")
        if max(dict(graph.degree).values()) > bound:
            return Verification(False, None, f"the {side} network exceeds degree {bound}")
        values.append([float(sop(graph, v, targets)) for v in range(n)])
    if not all(map(math.isfinite, values[0] + values[1])):
        return Verification(False, None, "a value is not finite")
    slack = slack_of(sop, bound)
    # Doubles are fractions: their differences are taken without rounding.
    changes = [abs(Fraction(a) - Fraction(b)) for a, b in zip(*values, strict=True)]
    if witness["property"] == "impact-cardinality":
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


def _graph(n: int, edges: Any) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return graph


def _verify_graph(witness: Mapping[str, Any], sop: StatisticOfProximity) -> Verification:
    """Re-run a failure on a single graph."""
    tests: dict[str, Callable[[Mapping[str, Any], StatisticOfProximity], str]] = {
        "finite": _unfinished,
        "deterministic": _undecided,
        "graph-unchanged": _changed,
        "global-random-state": _stirred,
        "order-independent": _reordered,
        "label-independent": _renamed,
        "fast-path": _disagrees,
    }
    failure = tests[witness["property"]](witness, sop)
    return Verification(bool(failure), None, failure or "the statistic behaves on this graph")


def _all(graph: nx.Graph, witness: Mapping[str, Any], sop: StatisticOfProximity) -> list[float]:
    targets = frozenset(witness["targets"])
    return [float(sop(graph, v, targets)) for v in range(witness["n"])]


def _unfinished(witness: Mapping[str, Any], sop: StatisticOfProximity) -> str:
    graph = _graph(witness["n"], witness["edges"])
    try:
        values = _all(graph, witness, sop)
    except Exception as error:
        return described(error)
    wrong = [v for v, value in enumerate(values) if not math.isfinite(value)]
    return f"the value of vertex {wrong[0]} is {values[wrong[0]]}" if wrong else ""


def _undecided(witness: Mapping[str, Any], sop: StatisticOfProximity) -> str:
    graph = _graph(witness["n"], witness["edges"])
    answers = {tuple(_all(graph.copy(), witness, sop)) for _ in range(10)}
    return f"{len(answers)} different answers in 10 calls" if len(answers) > 1 else ""


def _changed(witness: Mapping[str, Any], sop: StatisticOfProximity) -> str:
    graph = _graph(witness["n"], witness["edges"])
    before = nx.node_link_data(graph, edges="edges")
    _all(graph, witness, sop)
    after = nx.node_link_data(graph, edges="edges")
    return "the graph is not what it was" if before != after else ""


def _stirred(witness: Mapping[str, Any], sop: StatisticOfProximity) -> str:
    graph = _graph(witness["n"], witness["edges"])
    before = _global_state()
    _all(graph, witness, sop)
    return "the global random state is not what it was" if before != _global_state() else ""


def _global_state() -> tuple[object, ...]:
    words = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what is watched
    return random.getstate(), *(np.asarray(word).tolist() for word in words)


def _reordered(witness: Mapping[str, Any], sop: StatisticOfProximity) -> str:
    straight = _all(_graph(witness["n"], witness["edges"]), witness, sop)
    other = nx.Graph()
    other.add_nodes_from(witness["node_order"])
    other.add_edges_from(witness["edge_order"])
    slack = slack_of(sop, _degree(other))
    return _compare(straight, _all(other, witness, sop), slack, "built in another order")


def _renamed(witness: Mapping[str, Any], sop: StatisticOfProximity) -> str:
    straight = _all(_graph(witness["n"], witness["edges"]), witness, sop)
    order = witness["names"]
    other = _graph(witness["n"], sorted(sorted((order[a], order[b])) for a, b in witness["edges"]))
    targets = [order[v] for v in witness["targets"]]
    renamed = _all(other, {**witness, "targets": targets}, sop)
    back = [renamed[order[v]] for v in range(witness["n"])]
    return _compare(straight, back, _twice_error(sop, _degree(other)), "renumbered")


def _disagrees(witness: Mapping[str, Any], sop: StatisticOfProximity) -> str:
    n = witness["n"]
    graph = _graph(n, witness["edges"])
    straight = _all(graph, witness, sop)
    dense = np.zeros((n, n), dtype=np.int8)
    for a, b in witness["edges"]:
        dense[a, b] = dense[b, a] = 1
    scores = sop.scores  # type: ignore[attr-defined]
    try:
        fast = np.asarray(scores(csr_array(dense), np.array(witness["targets"], dtype=np.int64)))
    except Exception as error:
        return f"the fast path raises {described(error)}"
    if fast.shape != (n,):
        return f"the fast path returns shape {fast.shape}"
    return _compare(straight, fast.tolist(), slack_of(sop, _degree(graph)), "by the fast path")


def _degree(graph: nx.Graph) -> int:
    return max(dict(graph.degree).values(), default=0)


def _compare(straight: list[float], other: list[float], slack: Fraction, how: str) -> str:
    for v, (a, b) in enumerate(zip(straight, other, strict=True)):
        finite = math.isfinite(a) and math.isfinite(b)
        if abs(Fraction(a) - Fraction(b)) > slack if finite else a != b:
            return f"vertex {v} has {a!r}, {how} {b!r}"
    return ""


def as_listing(witness: Mapping[str, Any]) -> str:
    """Return a counterexample as a few lines to draw from."""
    members = ", ".join(map(str, witness["targets"]))
    edges = "  ".join(f"{a}-{b}" for a, b in witness["edges"]) or "none"
    head = f"vertices   0..{witness['n'] - 1}, S = {{{members}}} (the targets found so far)"
    if witness["property"] not in PAIR_PROPERTIES:
        return f"{head}\nedges      {edges}"
    lines = [f"{head}, rewired: {witness['vertex']}", f"edges      {edges}"]
    values = witness["values"]
    short = {side: [f"{value:g}" for value in values[side]] for side in ("left", "right")}
    pairs = zip(values["left"], values["right"], short["left"], short["right"], strict=True)
    if any(a != b and x == y for a, b, x, y in pairs):
        short = {side: [repr(value) for value in values[side]] for side in short}
    for side, shown in short.items():
        around = " ".join(map(str, witness[side])) or "-"
        lines.append(f"{side:<10} {witness['vertex']}: {around:<10} values {' '.join(shown)}")
    return "\n".join(lines)


def as_python(witness: Mapping[str, Any], specification: str) -> str:
    """Return Python that reproduces a counterexample."""
    edges = [tuple(edge) for edge in witness["edges"]]
    targets = list(witness["targets"])
    lines = [
        "import networkx as nx",
        "from pdpaudit.checks import require_statistic",
        "from pdpaudit.core.registry import resolve",
        f'sop, _ = require_statistic(resolve("sops", {specification!r}))',
    ]
    values = f"print([sop(graph, v, frozenset({targets!r})) for v in range({witness['n']})])"
    if witness["property"] not in PAIR_PROPERTIES:
        lines += [
            f"graph = nx.empty_graph({witness['n']})",
            f"graph.add_edges_from({edges!r})",
            values,
        ]
    else:
        u = witness["vertex"]
        lines += [
            f"for around in {list(witness['left'])!r}, {list(witness['right'])!r}:",
            f"    graph = nx.empty_graph({witness['n']})",
            f"    graph.add_edges_from([*{edges!r}, *(({u}, v) for v in around)])",
            f"    {values}",
        ]
    return "\n".join(lines)
