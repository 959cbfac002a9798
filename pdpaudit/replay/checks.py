"""Run the counterexample of a check again, and compare what is shown of the check with it.

Nothing here uses the search, its data structures or its arithmetic: the graphs are built from the
counterexample edge by edge, and the statistic is called on them.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.checks import check_names, name_of, require_statistic
from pdpaudit.checks.evaluation import advice, distinct
from pdpaudit.checks.graphs import (
    PAIR_PROPERTIES,
    Edges,
    GraphWitness,
    PairWitness,
    read_witness,
)
from pdpaudit.checks.sensitivity import FORMAT, LARGEST, NAME, Question, broken_words
from pdpaudit.core.domains import Domain, Graphs, Movable
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.graphs import Graph
from pdpaudit.core.protocols import FastStatistic, StatisticOfProximity
from pdpaudit.core.registry import Find
from pdpaudit.replay.claims import Replay
from pdpaudit.replay.trust import compared, differences, finder, of_witness
from pdpaudit.results.results import CheckResult
from pdpaudit.sampling.backends import in_copy
from pdpaudit.sampling.store import decode

#: How the sentence on a broken bound ends, and how that on a failure that was expected begins.
SEARCHED = ("no smaller network breaks it", "nothing can be left out of it")
EXCUSED = "expected failure ("

#: Vertices of the largest counterexample that a check writes.
MOST_VERTICES = 5000

#: Calls on other graphs after which a statistic may have another value, for each of five of them.
CALLS = 250

#: Checks whose finding is exact on its own.
EXACT = ("targeted-sensitivity", "impact-cardinality")


@dataclass(frozen=True)
class Measured:
    """What a statistic gives on both networks of a counterexample."""

    declared: float
    observed: float
    values: Mapping[str, list[float]]
    at: int


@dataclass(frozen=True)
class Verification:
    """Whether a counterexample is one, why, and what was measured where it is a pair."""

    reproduced: bool
    detail: str
    measured: Measured | None = None


def replay_check(check: CheckResult, find: Find | None = None) -> Replay:
    """Re-run the counterexample of one check of a statistic."""
    find = finder(trust=False) if find is None else find
    if check.name == NAME:
        return replay_sensitivity(check, find)
    with of_witness(check.name, "check"):
        witness = read_witness(check.witness or {})
        if witness.n > MOST_VERTICES:
            raise ValueError(f"there are at most {MOST_VERTICES} vertices in a counterexample")
        if not witness.specification:
            raise InputError(
                "the witness does not name its statistic; check again and keep the result"
            )
        sop, _ = require_statistic(find("sops", witness.specification))
        verified = verify_witness(witness, sop)
        if not verified.reproduced:
            return Replay(check.name, False, verified.detail)
        now, recorded = _shown(check, witness, name_of(sop), verified.measured)
        wrong = list(differences(now, recorded, complete=True))
    words = f"{verified.detail}, but {compared(wrong)}" if wrong else verified.detail
    return Replay(check.name, not wrong, words)


# What is shown


def _shown(
    check: CheckResult,
    witness: PairWitness | GraphWitness,
    statistic: str,
    measured: Measured | None,
) -> tuple[dict[str, object], dict[str, object]]:
    """Return what is shown of a check as it must be, and as it is."""
    of, name = witness.property, check.name
    bound = of in EXACT and name != "own-network"
    excused = check.detail.startswith(EXCUSED)
    status = "skipped" if excused else "violated"
    now: dict[str, object] = {"status": status, "statistic": statistic, "exact": bound}
    recorded: dict[str, object] = {"status": check.status, "exact": check.exact}
    recorded["statistic"] = witness.statistic
    # A published claim's finding is called by the claim; code that fails may do so in any check.
    names = (of, "own-network") if of in PAIR_PROPERTIES else check_names()
    if name in check_names() and name not in names:
        now["name"], recorded["name"] = of, name
    declared_observed: dict[str, object] = {"declared": check.declared, "observed": check.observed}
    if not isinstance(witness, PairWitness) or measured is None:
        now |= {"declared": None, "observed": None}
        return now, recorded | declared_observed
    again = {"declared": measured.declared, "values": measured.values, "at": measured.at}
    values = {side: list(values) for side, values in witness.values.items()}
    filed: dict[str, object] = {"declared": witness.declared, "values": values, "at": witness.at}
    if not bound:  # what is shown is of the whole network, the witness cut out of it
        return now | {"witness": again}, recorded | {"witness": filed}
    now |= {"declared": measured.declared, "observed": measured.observed}
    now["witness"] = {**again, "observed": measured.observed}
    recorded |= declared_observed | {"witness": {**filed, "observed": witness.observed}}
    sentence, opening = check.detail, _opening(witness, measured)
    smaller = (f"none with up to {n} vertices breaks it" for n in range(witness.n))
    whole = [opening + ending for ending in (*SEARCHED, *smaller)]
    known = tuple(f"): {words}" for words in whole)
    if name == of and sentence not in whole and not (excused and sentence.endswith(known)):
        now["detail"], recorded["detail"] = opening, sentence
    return now, recorded


def _opening(witness: PairWitness, measured: Measured) -> str:
    """Return what is said of a broken bound, up to what was searched for a smaller network."""
    declared, observed = distinct(measured.declared, measured.observed)
    moved, of = f"vertex {measured.at} moves by {observed}", witness.property
    what = moved if of == "targeted-sensitivity" else f"{observed} vertices change"
    what += advice(measured.declared, measured.observed)
    where = f"degree {witness.max_degree}, {witness.n} vertices"
    return f"{where}: declared {declared}, but {what}; "


# Verification


def verify_witness(witness: PairWitness | GraphWitness, sop: StatisticOfProximity) -> Verification:
    """Evaluate a statistic on a counterexample."""
    if isinstance(witness, PairWitness):
        return _verify_pair(witness, sop)
    failure = FAILURES[witness.property](witness, sop)
    return Verification(bool(failure), failure or "the statistic behaves on this graph")


def _verify_pair(witness: PairWitness, sop: StatisticOfProximity) -> Verification:
    u, bound = witness.vertex, witness.max_degree
    if u in witness.targets:
        return Verification(False, f"vertex {u} is rewired and in S")
    if any(u in edge for edge in witness.edges):
        return Verification(False, f"an edge of vertex {u} is among the common ones")
    values = {}
    for side, around in (("left", witness.left), ("right", witness.right)):
        graph = _graph(witness.n, (*witness.edges, *((u, other) for other in around)))
        if any(a == b for a, b in graph.edges):
            return Verification(False, "a vertex has an edge to itself")
        if _degree(graph) > bound:
            return Verification(False, f"the {side} network exceeds degree {bound}")
        values[side] = _all(graph, frozenset(witness.targets), sop)
    if not all(map(math.isfinite, values["left"] + values["right"])):
        return Verification(False, "a value is not finite")
    slack = slack_of(sop, bound)
    # Doubles are fractions: their differences are taken without rounding.
    changes = [abs(Fraction(a) - Fraction(b)) for a, b in zip(*values.values(), strict=True)]
    moves = {v: change for v, change in enumerate(changes) if v != u}
    observed, at = max(moves.values(), default=Fraction(0)), witness.at
    if moves.get(at) != observed:
        at = max(moves, key=moves.__getitem__, default=0)
    declared = float(sop.sensitivity(bound))
    broken = observed - slack > declared
    if witness.property == "impact-cardinality":
        observed = Fraction(sum(change > slack for change in changes))
        declared = float(sop.impact_cardinality(bound))
        broken = observed > declared
    found = float(observed)
    precise = f"{declared:g}" == f"{found:g}" and observed != declared
    shown = f"{found!r}" if precise else f"{found:g}"
    measured = Measured(declared, found, values, at)
    return Verification(broken, f"declared {declared:g}, found {shown}", measured)


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
    n, targets = witness.n, frozenset(witness.targets)
    graph = _graph(n, witness.edges)
    backwards = _graph(n, tuple((n - 1 - a, n - 1 - b) for a, b in witness.edges))
    tied = [nx.complete_graph(min(n, 30) + more) for more in (0, 1)]
    others = [
        (other, members)
        for other in (backwards, *tied, _graph(n, ()))
        for members in (frozenset(), frozenset(range(n)), targets)
        if members != targets or not nx.utils.graphs_equal(other, graph)
    ]

    def alone(values: npt.NDArray[np.float64]) -> None:
        for v in reversed(range(n)):
            values[v] = sop(graph, v, targets)

    wait = in_copy(alone, n)
    for other, members in others * (CALLS // n):
        _all(other.copy(), members, sop)
    answers = {tuple(_all(graph.copy(), targets, sop)) for _ in range(10)}
    first, *more = answers
    if more:
        return f"{len(answers)} different answers in 10 calls"
    values = wait(math.inf).tolist()
    known = list(first) if math.isnan(sum(values)) else values
    return _compare(known, list(first), slack_of(sop, _degree(graph)), "after other questions")


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
    if not isinstance(sop, FastStatistic):
        return ""
    try:
        fast = np.asarray(sop.scores(csr_array(dense), np.array(witness.targets, dtype=np.int64)))
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


# A declared sensitivity


def replay_sensitivity(check: CheckResult, find: Find) -> Replay:
    """Call a function on both sides of its counterexample, and compare with what is shown."""
    witness = check.witness or {}
    with of_witness(check.name, "check"):
        if witness.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        if not witness.get("specification"):
            raise InputError(
                "the witness does not name its function; check again and keep the result"
            )
        function = find("functions", witness["specification"])
        question = Question.of(function, witness["relation"], None, witness["sensitivity"])
        left, right = (_input(side, question.domain) for side in witness["sides"])
        anyone = isinstance(left, Graph) and question.anyone(left.vertices)
        if not _neighbours(question.domain, question.relation, left, right, anyone=anyone):
            return Replay(check.name, False, f"its two inputs are no {question.relation} pair")
        words = broken_words(question, (left, right))
        broken = question.excess((left, right)) > 0
        declared = question.allowed((left, right))
    if not broken:
        return Replay(check.name, False, f"{words}: that is within what is declared")
    shown = (check.status, check.declared, check.detail[: len(words)])
    if shown != ("violated", declared, words):
        return Replay(check.name, False, f"{words}, which is not what is shown")
    return Replay(check.name, True, words)


def _input(written: str, domain: Domain) -> object:
    """Return a side of a pair; a graph is its number of vertices and its ties."""
    value = decode(written.encode("ascii"))
    if not isinstance(domain, Graphs):
        return value
    match value:
        case int(vertices), tuple(ties) if 0 <= vertices <= LARGEST:
            places = {*itertools.combinations(range(vertices), 2)}
            if places.issuperset(ties) and list(ties) == sorted({*ties}):
                return Graph(vertices, ties)
    raise ValueError("a side is no small graph")


def _neighbours(
    domain: Domain, relation: str, left: object, right: object, *, anyone: bool = False
) -> bool:
    """Say whether two inputs are of a domain and neighbours, by the definitions.

    Who vanishes has the last number, or any, and later ones move up.
    """
    if isinstance(domain, Graphs) and isinstance(left, Graph) and isinstance(right, Graph):
        if relation == "vertex":
            gone = range(domain.served, left.vertices) if anyone else [left.vertices - 1]
            ends = (left.with_last(one) for one in gone)
            return any(right in domain.near(relation, one) for one in ends)
        ties = {*left.ties} ^ {*right.ties}
        changed = [{*tie} for tie in ties]
        if domain.served and any(0 in tie for tie in ties):
            return False
        alike = relation == "edge" and len(changed) == 1
        alike = alike or (relation == "rewired" and bool(changed and set.intersection(*changed)))
        if relation == "secret":
            secret = domain.groups(relation, left.vertices, left.contacts()[0])
            alike = bool(ties) and any(ties.issubset(one) for one in secret)
        return left.vertices == right.vertices and alike
    if isinstance(domain, Movable):
        return domain.neighbours(relation, left, right)
    return repr((left, right)) in map(repr, domain.pairs(relation))
