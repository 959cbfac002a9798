"""Check how a statistic behaves, which all else rests on, and what it declares."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from numbers import Real
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.checks.evaluation import (
    KEYS,
    PROPERTIES,
    RAISED,
    CheckFailed,
    Values,
    advice,
    apart,
    distinct,
    fast_values,
    matrix_of,
    raised,
    scalar_values,
)
from pdpaudit.checks.examination import Examination, certain
from pdpaudit.checks.graphs import (
    Case,
    Sample,
    build,
    class_samples,
    large_samples,
    medium_samples,
    small_samples,
)
from pdpaudit.core.protocols import FastStatistic
from pdpaudit.core.statistic import stated_error
from pdpaudit.results.results import CheckResult
from pdpaudit.sampling.backends import in_copy
from pdpaudit.sampling.guard import Limit, TooSlow

SMALL = 4  # vertices of the graphs that are all tried
UNION = 64  # samples in one disjoint union
SCOPE = "all graphs on ≤ {} vertices, {}{} random ones on ≤ 30{}"


def _over(
    examination: Examination,
    name: str,
    look: Callable[[Sample], None],
    *,
    samples: Iterable[Sample] | None = None,
    scope: str = SCOPE.format(SMALL, "", 30, ""),
    exhaustive: bool = False,
) -> CheckResult:
    """Look at each sample.

    ``exhaustive`` says whether samples without a finding settle the question.
    """
    samples = _usual(examination) if samples is None else samples
    seen = 0
    try:
        with Limit(examination.deadline - time.time()):
            for sample in samples:
                look(sample)
                seen += 1
    except TooSlow:
        scope = f"the first {seen} of {scope}; time limit reached"
        return CheckResult(name, "not_rejected" if seen else "inconclusive", scope=scope)
    except CheckFailed as failure:
        failure.scope = scope if failure.check == name else ""
        raise
    return CheckResult(
        name, "certified" if exhaustive else "not_rejected", exact=exhaustive, scope=scope
    )


def _usual(examination: Examination) -> list[Sample]:
    return [*small_samples(SMALL), *large_samples(examination.options.seed)]


def _asked_backwards(examination: Examination) -> Callable[[float], Values]:
    """Begin to ask the last sample first, and so on, in a copy of this process."""
    samples, sop = _usual(examination), examination.sop

    def fill(answers: Values) -> None:
        end = len(answers)
        for n, edges, targets in reversed(samples):
            graph, members = build(n, edges), frozenset(targets)
            for v in reversed(range(n)):
                end -= 1
                answers[end] = sop(graph.copy(), v, members)

    return in_copy(fill, sum(sample.n for sample in samples))


def finite(examination: Examination) -> CheckResult:
    """Check that there is a finite real value for every vertex of every graph, S empty too."""
    examination.backwards = _asked_backwards(examination)  # before anything is asked here

    def evaluated(sample: Sample) -> None:
        graph, targets = sample.graph(), frozenset(sample.targets)
        for vertex in range(sample.n):
            try:
                # A copy each: what the statistic does to a graph is another check's business.
                value: Any = examination.sop(graph.copy(), vertex, targets)
                number = isinstance(value, Real | np.bool_)
                within = number and math.isfinite(value)
            except RAISED as error:
                raise raised("finite", error, sample, vertex) from None
            if not number:
                message = f"the value is {value!r}, not a real number"
                raise CheckFailed("finite", message, sample, vertex)
            if not within:
                raise CheckFailed("finite", f"the value is {value!r}, not finite", sample, vertex)

    seed = examination.options.seed
    try:
        return _over(
            examination,
            "finite",
            lambda sample: examination.within_call_limit(partial(evaluated, sample), sample),
            samples=chain(small_samples(SMALL), class_samples(SMALL + 1), large_samples(seed)),
            scope=SCOPE.format(SMALL, f"one per isomorphism class on {SMALL + 1}, ", 30, ""),
            exhaustive=True,
        )
    except CheckFailed:
        examination.backwards(0)
        raise


def deterministic(examination: Examination) -> CheckResult:
    """Check that the same question gets the same answer, whatever was asked before."""
    first: dict[Sample, list[float]] = {}

    def look(sample: Sample) -> None:
        graph, call = sample.graph(), examination.call
        answers = [call(graph.copy(), v, sample.targets) for v in range(sample.n)]
        before = first.setdefault(sample, answers)
        for v, (one, other) in enumerate(zip(before, answers, strict=True)):
            if one != other:
                message = "asked twice, it answers {} and {}".format(*distinct(one, other))
                raise CheckFailed("deterministic", message, sample, v)

    once = _usual(examination)
    result = _over(examination, "deterministic", look, samples=[*once, *reversed(once)])
    known = examination.backwards(examination.deadline - time.time())
    for sample in once:
        other, known = np.split(known, [sample.n])
        straight = np.array(first.get(sample, other))
        for v in examination.differing(sample, straight, other).tolist():
            now, alone = distinct(straight[v], other[v])
            message = (
                f"after other questions it answers {now} and not {alone}"
                f"{advice(straight[v], other[v])}: keep nothing from one call to the next"
            )
            raise CheckFailed("deterministic", message, sample, v, scope=result.scope)
    return result


def _everything_in(graph: nx.Graph) -> tuple[object, ...]:
    """Return all there is to a graph: nodes and neighbours in order, and every attribute."""
    around = [
        (node, [(other, dict(data)) for other, data in others.items()])
        for node, others in graph.adjacency()
    ]
    nodes = [(node, dict(data)) for node, data in graph.nodes(data=True)]
    return dict(graph.graph), nodes, around


def graph_unchanged(examination: Examination) -> CheckResult:
    """Check that the graph is left as it was, attributes and order included."""
    look = _unchanged(examination, "graph-unchanged", "graph", _everything_in)
    return _over(examination, "graph-unchanged", look, exhaustive=True)


def _unchanged(
    examination: Examination, name: str, what: str, state: Callable[[nx.Graph], tuple[object, ...]]
) -> Callable[[Sample], None]:
    """Return what looks at whether calls leave a state as it was."""

    def look(sample: Sample) -> None:
        graph = sample.graph()
        before = state(graph)
        for vertex in range(sample.n):
            examination.call(graph, vertex, sample.targets)
            if state(graph) != before:
                message = f"the {what} is not what it was before the call"
                raise CheckFailed(name, message, sample, vertex)

    return look


def _random_state(_: nx.Graph) -> tuple[object, ...]:
    _, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002
    return random.getstate(), np.asarray(keys).tobytes(), *rest


def global_random_state(examination: Examination) -> CheckResult:
    """Check that the global random state of Python and NumPy is left alone."""
    seed = examination.options.seed
    # A state nobody would set, so that a statistic that seeds cannot happen to restore it; the
    # suite puts the old one back.
    random.seed(f"pdpaudit {seed}")
    np.random.seed(0x5EED ^ seed & 0xFFFF)  # noqa: NPY002
    name = "global-random-state"
    return _over(
        examination,
        name,
        _unchanged(examination, name, "global random state", _random_state),
        samples=chain(small_samples(SMALL - 1), large_samples(seed)),
        scope=SCOPE.format(SMALL - 1, "", 30, ""),
        exhaustive=True,
    )


def order_independent(examination: Examination) -> CheckResult:
    """Check that the order in which the graph was built does not matter."""
    rng = np.random.default_rng([examination.options.seed, 0x0D])

    def look(sample: Sample) -> None:
        straight = examination.scalar(*sample)
        for backwards in (True, False):
            nodes = list(reversed(range(sample.n)))
            edges = [(b, a) for a, b in reversed(sample.edges)]
            if not backwards:
                nodes = rng.permutation(nodes).tolist()
                edges = [edges[i] for i in rng.permutation(len(edges))]
            graph = nx.Graph()
            graph.add_nodes_from(nodes)
            graph.add_edges_from(edges)
            other = scalar_values(examination.sop, graph, frozenset(sample.targets))
            for v in examination.differing(sample, straight, other).tolist():
                raise CheckFailed(
                    "order-independent",
                    "the same graph built in another order has another value"
                    + advice(straight[v], other[v]),
                    sample,
                    v,
                    node_order=tuple(nodes),
                    edge_order=tuple(edges),
                )

    scope = SCOPE.format(SMALL, "", 30, ", each in two other orders")
    return _over(examination, "order-independent", look, scope=scope)


def label_independent(examination: Examination) -> CheckResult:
    """Check that the numbers of the vertices do not matter: search up to relabelling needs it."""
    rng = np.random.default_rng([examination.options.seed, 0x1A])

    def look(sample: Sample) -> None:
        straight = examination.scalar(*sample)
        # Here every stated error is one: nothing rests on the numbers not mattering.
        slack = 2 * stated_error(examination.sop, sample.degree)
        backwards = list(reversed(range(sample.n)))
        for order in (backwards, *(rng.permutation(sample.n).tolist() for _ in range(2))):
            other = examination.scalar(*sample.relabelled(order))[order]
            for v in np.flatnonzero(apart(straight, other, slack)).tolist():
                raise CheckFailed(
                    "label-independent",
                    "the same graph with its vertices renumbered has another value"
                    + advice(straight[v], other[v]),
                    sample,
                    v,
                    names=tuple(order),
                )

    scope = SCOPE.format(SMALL, "", 30, ", each renumbered three times")
    return _over(examination, "label-independent", look, scope=scope)


def fast_path(examination: Examination) -> CheckResult:
    """Check that the fast path gives what the scalar form gives, in disjoint unions too."""
    sop = examination.sop
    if not isinstance(sop, FastStatistic):
        return CheckResult("fast-path", "skipped", detail="there is no fast path")
    quick = sop
    together = bool(getattr(sop, "componentwise", False))
    batch: list[tuple[Sample, Values]] = []

    def look(sample: Sample) -> None:
        slow = examination.scalar(*sample)
        adjacency, targets = matrix_of(*sample[:2]), np.array(sample.targets, dtype=np.int64)
        kept = [array.copy() for array in _arrays(adjacency)]
        call = partial(fast_values, quick, adjacency, targets)
        try:
            fast = examination.within_call_limit(call, sample)
        except CheckFailed as failure:
            failure.check = "fast-path"  # not the scalar form, if it hangs
            raise
        same = (np.array_equal(a, b) for a, b in zip(_arrays(adjacency), kept, strict=True))
        if not all(same):
            message = "the fast path changed the matrix it was given"
            raise CheckFailed("fast-path", message, sample, 0)
        for v in examination.differing(sample, slow, fast).tolist():
            message = f"scalar form {slow[v]:g}, fast path {fast[v]:g}" + advice(slow[v], fast[v])
            raise CheckFailed("fast-path", message, sample, v)
        if together:
            batch.append((sample, slow))
            if len(batch) == UNION:
                _compare_union(examination, quick, batch)
                batch.clear()

    seed = examination.options.seed
    scope = SCOPE.format(
        SMALL,
        f"one per isomorphism class on {SMALL + 1}, ",
        230,
        ", in disjoint unions as well" if together else "",
    )
    small = chain(small_samples(SMALL), class_samples(SMALL + 1))
    samples = chain(small, medium_samples(seed), large_samples(seed))
    result = _over(examination, "fast-path", look, samples=samples, scope=scope, exhaustive=True)
    if batch:
        _compare_union(examination, quick, batch)
    return result


def _compare_union(
    examination: Examination, sop: FastStatistic, batch: list[tuple[Sample, Values]]
) -> None:
    """Compare the fast path on the disjoint union of samples with the scalar form on each."""
    edges: list[tuple[int, int]] = []
    targets: list[int] = []
    first = 0
    for sample, _ in batch:
        edges.extend((first + a, first + b) for a, b in sample.edges)
        targets.extend(first + v for v in sample.targets)
        first += sample.n
    fast = fast_values(sop, matrix_of(first, edges), np.array(targets, dtype=np.int64))
    parts = np.split(fast, np.cumsum([sample.n for sample, _ in batch])[:-1])
    for (sample, slow), part in zip(batch, parts, strict=True):
        if len(examination.differing(sample, slow, part)):
            message = "declared componentwise, but a disjoint union has other values"
            raise CheckFailed("fast-path", message, batch[0][0])


def _arrays(matrix: csr_array) -> tuple[npt.NDArray[Any], ...]:
    return matrix.indptr, matrix.indices, matrix.data


def bound_holds(of: str, examination: Examination) -> CheckResult:
    """Check a declared bound against every labelled network, and what the searches find."""
    declared = examination.declared.of(of)
    case = examination.counterexample(of)
    if case is not None:
        return _violated(of, examination, case)
    rows = examination.labelled.rows
    table = list(rows[-1].values(of)) if rows else []
    scope = examination.scope(of)
    undeclared = math.isinf(max(declared))
    if undeclared:
        # The exact values are the finding.
        first = next(d for d, bound in enumerate(declared) if math.isinf(bound))
        detail = f"no bound is declared from degree {first} on"
        if len(table) > 1:
            values = ", ".join(f"{value:.6g}" for value in table[1:])
            detail += f"; exact on {len(table)} vertices for degree 1, 2, …: {values}"
    else:
        detail = ""
        if examination.options.examples:
            scope += "; " + examination.scope_beyond()
        if not table:
            return CheckResult(of, "inconclusive", scope=scope, detail="time limit reached")
    return CheckResult(
        of,
        "skipped" if undeclared else "certified",
        declared=list(declared[: len(table)]),
        observed=table,
        exact=True,
        scope=scope,
        detail=detail,
    )


def _violated(of: str, examination: Examination, case: Case) -> CheckResult:
    """Return the violation, and how small it is known to be."""
    witness = examination.pair_witness(case, of)
    scope = examination.scope(of)
    if of in examination.labelled.cases:
        smallest = "no smaller network breaks it"
    elif of in examination.exhaustion.cases:
        smallest = f"none with up to {examination.labelled_up_to} vertices breaks it"
    else:
        smallest = "nothing can be left out of it"
        scope += "; " + examination.scope_beyond()
    declared, observed = distinct(witness.declared, witness.observed)
    what = (
        f"vertex {witness.at} moves by {observed}"
        if of == "targeted-sensitivity"
        else f"{observed} vertices change"
    )
    return CheckResult(
        of,
        "violated",
        declared=witness.declared,
        observed=witness.observed,
        exact=True,
        scope=scope,
        witness=witness.to_json(),
        detail=f"degree {case.max_degree}, {case.n} vertices: declared {declared}, but {what}"
        f"{advice(witness.declared, witness.observed)}; {smallest}",
    )


def tightness(examination: Examination) -> CheckResult:
    """Say how much of a declaration is used: a loose one costs utility, but is no violation."""
    rows = examination.labelled.rows
    if not rows:
        return CheckResult("tightness", "inconclusive", detail="time limit reached")
    exceeded = list(_exceeded(examination))
    loose = [] if exceeded else list(_loose(examination))
    attained = [] if exceeded else list(_attained(examination))
    declared = examination.declared
    widest = max(row.n for row in (*rows, *examination.exhaustion.rows))
    return CheckResult(
        "tightness",
        "skipped" if exceeded else "not_rejected" if loose else "certified",
        declared={key: list(declared.of(of)[:widest]) for of, key in KEYS.items()},
        observed=_tables(examination),
        exact=True,
        scope=certain(rows[-1].n),
        detail="; ".join(exceeded + attained + loose),
    )


def _exceeded(examination: Examination) -> Iterator[str]:
    """Say where a declaration is exceeded: it is then neither attained nor loose."""
    for of, words in zip(PROPERTIES, ("sensitivity", "impact"), strict=True):
        found = {
            d
            for row in (*examination.labelled.rows, *examination.exhaustion.rows)
            for d, value in enumerate(row.values(of))
            if value > examination.declared.allowed(of, d)
        }
        if found:
            yield f"{words} exceeded for degree {', '.join(map(str, sorted(found)))}"


def _unused(of: str, examination: Examination) -> tuple[list[int], list[int]]:
    """Return the degrees that can be judged, and those whose bound is not attained."""
    row, declared = examination.labelled.rows[-1], examination.declared
    exact, bound = row.values(of), declared.of(of)
    if of == "targeted-sensitivity":
        known = [d for d in range(1, row.n) if math.isfinite(bound[d])]
        return known, [d for d in known if exact[d] < bound[d] - declared.slack[d]]
    # Larger counts than these networks have vertices cannot be judged.
    known = [d for d in range(1, row.n) if bound[d] <= row.n]
    return known, [d for d in known if exact[d] < bound[d]]


def _attained(examination: Examination) -> Iterator[str]:
    known, loose = _unused("targeted-sensitivity", examination)
    if known != loose:
        tight = ", ".join(str(d) for d in known if d not in loose)
        yield f"sensitivity attained for degree {tight}"


def _loose(examination: Examination) -> Iterator[str]:
    """Say which bounds are attained for no degree: larger networks might attain the largest."""
    row = examination.labelled.rows[-1]
    for of in PROPERTIES:
        known, loose = _unused(of, examination)
        if known and loose == known:
            d = known[-1]
            bound, exact = examination.declared.of(of)[d], row.values(of)[d]
            yield (
                f"loose: for degree {d}, declared {bound:g}, exact {exact:g} "
                f"on {certain(row.n)}; noise is wasted unless larger ones need it"
                if of == "targeted-sensitivity"
                else f"loose: for degree {d}, declared impact {bound:g}, exact {exact}"
            )


def _tables(examination: Examination) -> dict[str, dict[int, list[float]]]:
    """Return all values found, those over every labelled network apart from those searched."""
    tables = {}
    for of, key in KEYS.items():
        tables[key] = {row.n: list(row.values(of)) for row in examination.labelled.rows}
        searched = {
            row.n: list(row.values(of)) for row in examination.exhaustion.rows if row.values(of)
        }
        if searched:
            tables[f"{key}, up to relabelling"] = searched
    return tables
