"""Make a statistic of proximity from a plain function, and score every vertex with one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Never, TypeVar, overload

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError, Misbehaviour, described
from pdpaudit.core.protocols import StatisticOfProximity

if TYPE_CHECKING:
    import networkx as nx

N = TypeVar("N", int, float)

Scalar = Callable[["nx.Graph", int, frozenset[int]], float]
Fast = Callable[[csr_array, npt.NDArray[np.integer]], npt.NDArray[np.float64]]


def _at(declared: N | Callable[[int], N], max_degree: int) -> N:
    return declared(max_degree) if callable(declared) else declared


@dataclass(frozen=True)
class DeclaredStatistic:
    """A plain function together with what its author declares of it."""

    function: Scalar
    declared_sensitivity: float | Callable[[int], float]
    declared_impact_cardinality: int | Callable[[int], int]
    declared_error: float | Callable[[int], float] = field(default=0.0, kw_only=True)

    @property
    def __name__(self) -> str:
        """The function's own name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __call__(self, graph: nx.Graph, vertex: int, targets: frozenset[int]) -> float:
        """Return the statistic of ``vertex``."""
        return self.function(graph, vertex, targets)

    def sensitivity(self, max_degree: int) -> float:
        """Return the declared targeted sensitivity."""
        return _at(self.declared_sensitivity, max_degree)

    def impact_cardinality(self, max_degree: int) -> int:
        """Return the declared impact cardinality."""
        return _at(self.declared_impact_cardinality, max_degree)

    def error(self, max_degree: int) -> float:
        """Return the stated error of a value."""
        return _at(self.declared_error, max_degree)


@dataclass(frozen=True)
class FastDeclaredStatistic(DeclaredStatistic):
    """A declared statistic that also scores all vertices at once."""

    fast: Fast

    def scores(
        self, adjacency: csr_array, targets: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.float64]:
        """Return the statistic of every vertex, shape ``(n,)``."""
        return self.fast(adjacency, targets)


@overload
def statistic(
    *,
    sensitivity: float | Callable[[int], float],
    impact_cardinality: int | Callable[[int], int],
    scores: Fast | None = ...,
    error: float | Callable[[int], float] = ...,
) -> Callable[[Scalar], DeclaredStatistic]: ...
@overload
def statistic(undeclared: Scalar, /) -> Never: ...
def statistic(
    undeclared: Scalar | None = None,
    /,
    *,
    sensitivity: float | Callable[[int], float] | None = None,
    impact_cardinality: int | Callable[[int], int] | None = None,
    scores: Fast | None = None,
    error: float | Callable[[int], float] = 0.0,
) -> Callable[[Scalar], DeclaredStatistic]:
    """Declare a plain function to be a statistic of proximity.

    Parameters
    ----------
    sensitivity : float or callable
        Declared targeted sensitivity, a number or a function of the public maximum degree.
    impact_cardinality : int or callable
        Declared impact cardinality, likewise.
    scores : callable, optional
        Fast path ``scores(adjacency, targets) -> ndarray of shape (n,)``.
    error : float or callable
        How far a computed value may lie from the exact one, on either path: a number or a
        function of the public maximum degree. Differences of up to twice as much are rounding
        to `check`, wherever the declared sensitivity is above 0. By default every difference
        counts, so a sum of fractions should use ``math.fsum`` or state its error.

    Returns
    -------
    callable
        A decorator that turns ``f(graph, vertex, targets)`` into a :class:`DeclaredStatistic`.

    Examples
    --------
    >>> @statistic(sensitivity=0, impact_cardinality=1)
    ... def friends_in(graph, vertex, targets):
    ...     return sum(1 for other in graph[vertex] if other in targets)
    >>> import networkx as nx
    >>> friends_in(nx.path_graph(3), 1, frozenset({0, 2})), friends_in.sensitivity(5)
    (2, 0)
    """
    if undeclared is not None or sensitivity is None or impact_cardinality is None:
        raise TypeError(
            "declare both, in parentheses: @statistic(sensitivity=..., impact_cardinality=...), "
            "each a number or a function of the maximum degree"
        )

    def decorate(function: Scalar) -> DeclaredStatistic:
        if scores is None:
            return DeclaredStatistic(
                function, sensitivity, impact_cardinality, declared_error=error
            )
        return FastDeclaredStatistic(
            function, sensitivity, impact_cardinality, scores, declared_error=error
        )

    return decorate


def name_of(sop: object) -> str:
    """Return what to call a statistic: its ``name``, the function's name or the class's."""
    for attribute in ("name", "__name__"):
        name = getattr(sop, attribute, None)
        if isinstance(name, str):
            return name
    return type(sop).__name__


def stated_error(sop: StatisticOfProximity, max_degree: int) -> float:
    """Return how far a computed value may lie from the exact one; 0 where nothing is stated."""
    error = getattr(sop, "error", 0.0)
    return float(error(max_degree) if callable(error) else error)


def score_all(
    sop: StatisticOfProximity,
    graph: Callable[[], nx.Graph],
    adjacency: csr_array,
    targets: frozenset[int] | npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Score every vertex, by the fast path where there is one."""
    n = adjacency.shape[0]
    try:
        # A protocol's isinstance() looks at every member; searches score in their inner loop.
        fast = getattr(sop, "scores", None)
        if fast is None:
            known, members = graph(), frozenset(map(int, targets))
            return np.array([sop(known, v, members) for v in range(n)], dtype=np.float64)
        if isinstance(targets, frozenset):
            targets = np.array(sorted(targets), dtype=np.int64)
        scores = np.asarray(fast(adjacency, targets))
    except (InputError, Misbehaviour):
        raise
    except Exception as error:
        raise InputError(
            f"the statistic raised {described(error)}; `pdpaudit check` tells where"
        ) from error
    if scores.shape != (n,):
        raise InputError(f"the statistic's scores have shape {scores.shape}; {(n,)} is needed")
    return scores
