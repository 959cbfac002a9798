"""The pairs of query answers that the classic mechanisms are measured on."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Queries", "VectorPair", "any_query_pairs", "one_query_pairs"]

Queries = tuple[float, ...]


class VectorPair(NamedTuple):
    """Two neighbouring vectors of query answers: no answer moves by more than 1.

    Attributes
    ----------
    name : str
        The family of pairs it belongs to.
    left, right : tuple of float
        The two inputs; both directions are meant.
    """

    name: str
    left: Queries
    right: Queries


def one_query_pairs(queries: int) -> tuple[VectorPair, ...]:
    """Return the pairs in which the first of several answers moves, as in a histogram; O(queries).

    Parameters
    ----------
    queries : int
        Number of answers, at least 1.

    Notes
    -----
    Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", 2018,
    Table 1, as are those of :func:`any_query_pairs`.

    Examples
    --------
    >>> one_query_pairs(2)[0]
    VectorPair(name='one_below', left=(1.0, 1.0), right=(0.0, 1.0))
    """
    ones, rest = (1.0,) * queries, (1.0,) * (queries - 1)
    return (
        VectorPair("one_below", ones, (0.0, *rest)),
        VectorPair("one_above", ones, (2.0, *rest)),
    )


def any_query_pairs(queries: int) -> tuple[VectorPair, ...]:
    """Return the pairs in which every answer may move by 1; O(queries).

    Parameters
    ----------
    queries : int
        Number of answers, at least 2.

    Examples
    --------
    >>> [pair.name for pair in any_query_pairs(4)][4:]
    ['half_half', 'all_above', 'all_below', 'x_shape']
    >>> any_query_pairs(4)[-1].right
    (0.0, 0.0, 1.0, 1.0)
    """
    half = queries // 2
    other = queries - half
    ones = (1.0,) * queries
    return (
        *one_query_pairs(queries),
        VectorPair("one_above_rest_below", ones, (2.0, *(0.0,) * (queries - 1))),
        VectorPair("one_below_rest_above", ones, (0.0, *(2.0,) * (queries - 1))),
        VectorPair("half_half", ones, (2.0,) * half + (0.0,) * other),
        VectorPair("all_above", ones, (2.0,) * queries),
        VectorPair("all_below", ones, (0.0,) * queries),
        VectorPair("x_shape", (1.0,) * half + (0.0,) * other, (0.0,) * half + (1.0,) * other),
    )
