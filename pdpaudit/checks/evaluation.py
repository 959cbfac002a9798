"""A statistic: what it declares, its values under a time limit, and where it failed."""

from __future__ import annotations

import inspect
import math
import sys
import traceback
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import TypeAlias, cast

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.checks.graphs import Case, Edge, Sample, build
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.graphs import Graph
from pdpaudit.core.input_words import is_graph
from pdpaudit.core.network import adjacency_from_edges
from pdpaudit.core.protocols import FastStatistic, StatisticOfProximity
from pdpaudit.core.registry import configure
from pdpaudit.core.statistic import name_of, stated_error

Values = npt.NDArray[np.float64]
#: (n, edges, S) to the values of all vertices
Evaluate = Callable[[int, Sequence[Edge], Sequence[int]], Values]


#: Numbers at their places in a value, and what is compared of any value.
Entries: TypeAlias = dict[tuple[Hashable, ...], float | Fraction]
Comparable: TypeAlias = frozenset[frozenset[Hashable]] | Entries

#: What a call may raise; whoever leaves Python by it does not leave the checks.
RAISED = (Exception, SystemExit)

#: Norms that vectors are compared in.
NORMS = ("L1", "L2", "Linf")

#: Relative error of a norm that is a square root.
ROOT = 1e-12


@dataclass(eq=False)
class CheckFailed(Exception):
    """What a statistic did on one graph, and the check that forbids it."""

    check: str
    message: str
    sample: Sample
    vertex: int | None = None
    traceback: str = ""
    scope: str = ""
    # How the graph was built anew, where that is what matters.
    names: tuple[int, ...] = ()
    node_order: tuple[int, ...] = ()
    edge_order: tuple[Edge, ...] = ()

    @property
    def sentence(self) -> str:
        """What happened, and where."""
        at = "" if self.vertex is None else f", vertex {self.vertex}"
        n, edges = self.sample.n, len(self.sample.edges)
        graph = f"{n} {'vertex' if n == 1 else 'vertices'} with {edges} edge{'s' * (edges != 1)}"
        return f"{self.message} (on {graph}{at})"


def sample_of(graph: nx.Graph, targets: frozenset[int]) -> Sample:
    """Return a graph and S as plain data."""
    edges = sorted((min(a, b), max(a, b)) for a, b in graph.edges)
    return Sample(graph.number_of_nodes(), tuple(edges), tuple(sorted(targets)))


def raised(
    check: str, error: BaseException, sample: Sample, vertex: int | None = None
) -> CheckFailed:
    """Return the failure of code that raised, with the traceback below our own frame."""
    frames = error.__traceback__.tb_next if error.__traceback__ else None
    trace = "".join(traceback.format_exception(type(error), error, frames))
    return CheckFailed(check, described(error), sample, vertex, trace)


def scalar_values(sop: StatisticOfProximity, graph: nx.Graph, targets: frozenset[int]) -> Values:
    """Evaluate the scalar form at every vertex, ``0..n-1``."""
    n, m = graph.number_of_nodes(), graph.number_of_edges()
    values = np.empty(n)
    vertex: int | None = None
    try:
        for vertex in range(n):
            values[vertex] = sop(graph, vertex, targets)
    except RAISED as error:
        raise raised("finite", error, sample_of(graph, targets), vertex) from None
    if not np.isfinite(values).all():
        vertex = int(np.flatnonzero(~np.isfinite(values))[0])
        message = f"the value is {values[vertex]}"
        raise CheckFailed("finite", message, sample_of(graph, targets), vertex)
    if graph.number_of_nodes() != n or graph.number_of_edges() != m:
        message = "the statistic changed the graph"
        raise CheckFailed("graph-unchanged", message, sample_of(graph, targets))
    return values


def fast_values(sop: FastStatistic, adjacency: csr_array, targets: npt.NDArray[np.int64]) -> Values:
    """Evaluate the fast path."""
    n = adjacency.shape[0]

    def sample() -> Sample:
        ends = (part.tolist() for part in adjacency.nonzero())
        edges = tuple(sorted((a, b) for a, b in zip(*ends, strict=True) if a < b))
        return Sample(n, edges, tuple(targets.tolist()))

    try:
        values = np.asarray(sop.scores(adjacency, targets), dtype=np.float64)
    except RAISED as error:
        raise raised("fast-path", error, sample()) from None
    if values.shape != (n,):
        message = f"the fast path returned shape {values.shape}, not ({n},)"
        raise CheckFailed("fast-path", message, sample())
    if not np.isfinite(values).all():
        message = "the fast path returned a value that is not finite"
        raise CheckFailed("fast-path", message, sample())
    return values


def matrix_of(n: int, edges: Sequence[Edge]) -> csr_array:
    """Return the canonical adjacency matrix of a graph."""
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return adjacency_from_edges(n, ends[:, 0], ends[:, 1])


def evaluator(sop: StatisticOfProximity, *, fast: bool) -> Evaluate:
    """Return how to evaluate a statistic at every vertex of a graph given as plain data."""
    if fast and isinstance(sop, FastStatistic):
        quick = sop
        return lambda n, edges, targets: fast_values(
            quick, matrix_of(n, edges), np.array(targets, dtype=np.int64)
        )
    return lambda n, edges, targets: scalar_values(sop, build(n, edges), frozenset(targets))


def change(a: npt.ArrayLike, b: npt.ArrayLike) -> Values:
    """Return ``|a - b|``, rounded up where a double cannot hold it.

    It exceeds a bound exactly where the difference of the two doubles, as a fraction, does.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    high, low = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(over="ignore", invalid="ignore"):
        difference = high - low
        # Knuth's TwoSum: what rounding left out of the difference.
        shift = difference - high
        left_out = (high - (difference - shift)) - (low + shift)
        rounded: Values = np.where(left_out > 0, np.nextafter(difference, np.inf), difference)
    return rounded


def apart(a: npt.ArrayLike, b: npt.ArrayLike, slack: float = 0.0) -> npt.NDArray[np.bool_]:
    """Return where two values differ by more than what their stated errors allow."""
    return np.asarray(change(a, b) > slack)


def distinct(a: float, b: float) -> tuple[str, str]:
    """Return two numbers in six digits, or in all where six do not separate them."""
    short = f"{a:.6g}", f"{b:.6g}"
    return short if a == b or short[0] != short[1] else (repr(float(a)), repr(float(b)))


def advice(a: float, b: float) -> str:
    """Return what to do where two values look like one, rounded in two ways; else nothing."""
    if math.isclose(a, b, rel_tol=1e-9):
        return f", by {abs(a - b):.2g}: if that is rounding, use math.fsum or state it as `error`"
    return ""


@dataclass(frozen=True)
class Measured:
    """The values of a statistic on both networks of a case, and what changed."""

    left: Values
    right: Values
    moved: float
    at: int
    changed: int

    def observed(self, of: str) -> float:
        """Return the measured value of a property."""
        return self.moved if of == "targeted-sensitivity" else float(self.changed)


def measure(evaluate: Evaluate, case: Case, slack: float) -> Measured:
    """Evaluate both networks of a case; 2n evaluations."""
    left, right = (evaluate(case.n, edges, case.targets) for edges in case.sides())
    changes = change(left, right)
    changed = int(np.count_nonzero(apart(left, right, slack)))
    changes[case.vertex] = -1.0
    at = int(np.argmax(changes))
    return Measured(left, right, max(float(changes[at]), 0.0), at, changed)


def distance(before: object, after: object, norm: str = "L1") -> Fraction | float:
    """Return how far apart two values are; doubles are fractions, so only ``L2`` is rounded, down.

    The shorter of two vectors is filled up with zeros. Graphs are as far apart as the number of
    ties in which they differ. NaN is at 0 from itself, and infinitely far from all else; so is
    what is further away than a double holds.
    """
    return distance_of(comparable(before), comparable(after), norm)


def comparable(value: object) -> Comparable:
    """Return what of a value is compared: the ties of a graph, or numbers at their places."""
    if not is_graph(value):
        return _entries(value)
    ties = value.ties if isinstance(value, Graph) else value.edges()
    return frozenset(frozenset(tie) for tie in ties)


def distance_of(ours: Comparable, theirs: Comparable, norm: str) -> Fraction | float:
    """Return how far apart two values are, by what is compared; see :func:`distance`."""
    if isinstance(ours, frozenset) and isinstance(theirs, frozenset):
        return Fraction(len(ours ^ theirs))
    if isinstance(ours, frozenset) or isinstance(theirs, frozenset):
        raise InputError("it gives a graph, and of another input a number or a vector")
    steps = [_step(ours.get(key, 0), theirs.get(key, 0)) for key in {**ours, **theirs}]
    finite = [step for step in steps if not isinstance(step, float)]
    if len(finite) < len(steps):
        return math.inf
    if norm == "L2":
        return math.hypot(*map(float, finite)) * (1 - ROOT)
    total = max(finite, default=0) if norm == "Linf" else sum(finite)
    return Fraction(total) if total <= sys.float_info.max else math.inf


def _step(before: float | Fraction, after: float | Fraction) -> int | Fraction | float:
    """Return how far apart two numbers are, a double only where that is infinite."""
    if before == after or (before != before and after != after):
        return 0
    step: int | Fraction
    if isinstance(before, int) and isinstance(after, int):  # what most of graphs is counted in
        step = abs(before - after)
    elif math.isfinite(before) and math.isfinite(after):
        step = abs(Fraction(before) - Fraction(after))
    else:
        return math.inf
    return step if step <= sys.float_info.max else math.inf


def _entries(value: object) -> Entries:
    """Return a number, or the entries of a vector or a dictionary, each at its place."""
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, Real):
        return {(): cast("float | Fraction", plain)}
    items: list[tuple[Hashable, object]]
    if isinstance(plain, Mapping):
        items = list(plain.items())
    elif isinstance(plain, Sequence) and not isinstance(plain, str | bytes):
        items = list(enumerate(plain))
    else:
        raise InputError(f"it gives a {type(plain).__name__}, no number, vector or graph")
    return {(key, *place): one for key, item in items for place, one in _entries(item).items()}


def undefined(value: Comparable) -> bool:
    """Say whether a value has an entry that is NaN or infinite, and so at no distance from itself.

    Graphs have none.
    """
    entries = value.values() if isinstance(value, dict) else ()
    return any(one != one or abs(one) == math.inf for one in entries)


DEGREES = 31  # degree bounds 0..30: as far as any search on small networks goes

#: What is declared: by how much a targeted vertex moves, and how many vertices change; and where.
KEYS = {"targeted-sensitivity": "sensitivity", "impact-cardinality": "impact_cardinality"}
PROPERTIES = tuple(KEYS)


@dataclass(frozen=True)
class Declared:
    """A statistic with what it declares for every degree bound in reach: index d of each tuple."""

    sop: StatisticOfProximity
    sensitivity: tuple[float, ...]
    impact_cardinality: tuple[float, ...]
    slack: tuple[float, ...]

    def of(self, of: str) -> tuple[float, ...]:
        """Return what is declared of a property."""
        return self.sensitivity if of == "targeted-sensitivity" else self.impact_cardinality

    def bound(self, of: str, max_degree: int) -> float:
        """Return the declared bound of a property for a degree bound."""
        if max_degree < DEGREES:
            return self.of(of)[max_degree]
        return _declared(self.sop, KEYS[of], [max_degree])[0]

    def slack_at(self, max_degree: int) -> float:
        """Return by how much two values may differ that would be equal without error."""
        if max_degree < DEGREES:
            return self.slack[max_degree]
        # Nothing where the declared sensitivity is 0: no noise then hides the smallest difference.
        declared = self.bound("targeted-sensitivity", max_degree) > 0
        return 2 * _declared(self.sop, "error", [max_degree])[0] * declared

    def allowed(self, of: str, max_degree: int) -> float:
        """Return what breaks no declaration: the bound, with the slack of values, not counts."""
        slack = self.slack_at(max_degree) if of == "targeted-sensitivity" else 0.0
        return self.bound(of, max_degree) + slack


def require_statistic(sop: object) -> tuple[StatisticOfProximity, Declared]:
    """Return a statistic and what it declares for degree bounds 0 to 30."""
    if inspect.isclass(sop):
        sop = configure(sop, sop.__name__, {})
    name = name_of(sop)
    if not callable(sop):
        raise InputError(f"{name} is not a statistic: it cannot be called (graph, vertex, targets)")
    for declaration in ("sensitivity", "impact_cardinality"):
        if not callable(given := getattr(sop, declaration, None)):
            lacking = "" if given is None else f": {given!r} is no method"
            raise InputError(
                f"{name} declares no {declaration}(max_degree){lacking}; decorate the function "
                "with @statistic(sensitivity=..., impact_cardinality=...)"
            )
    _require_arguments(getattr(sop, "function", sop), name)
    statistic = cast(StatisticOfProximity, sop)
    sensitivity, impact, errors = (_declared(statistic, what) for what in (*KEYS.values(), "error"))
    if math.isinf(errors[-1]):
        raise InputError(f"{name}.error is not finite: state how far a value may be from the exact")
    # None where the declared sensitivity is 0: no noise then hides the smallest difference.
    slack = tuple(2 * one if moved else 0.0 for one, moved in zip(errors, sensitivity, strict=True))
    return statistic, Declared(statistic, sensitivity, impact, slack)


def _require_arguments(function: Callable[..., object], name: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # not every callable has one; the checks will show it
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise InputError(
            f"{name}{signature} is not a statistic: it must take (graph, vertex, targets)"
        ) from None


def _declared(
    sop: StatisticOfProximity, what: str, degrees: Iterable[int] = range(DEGREES)
) -> tuple[float, ...]:
    """Return what a statistic declares for some degree bounds, each a number that does not fall."""
    declare = partial(stated_error, sop) if what == "error" else getattr(sop, what)
    values: list[float] = []
    for d in degrees:
        called = f"{name_of(sop)}.{what}({d})"
        try:
            given = declare(d)
            number = isinstance(given, Real) and not isinstance(given, bool)
            value = float(given) if number else math.nan
        except Exception as error:
            raise InputError(
                f"{called} fails: {described(error)}; it must return a number for every degree "
                "bound from 0"
            ) from error
        if not value >= 0:
            raise InputError(f"{called} is {given!r}: declare a number of at least 0")
        if values and value < values[-1]:
            raise InputError(
                f"{called} is {given!r}, below {values[-1]:g} for {d - 1}: a network of degree at "
                f"most {d - 1} is one of degree at most {d}, so a bound cannot fall"
            )
        values.append(value)
    return tuple(values)
