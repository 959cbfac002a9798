"""The order k of Path_k and Flow_k: checked at the door, bounded in reach."""

from __future__ import annotations

from pdpaudit.core.errors import InputError

__all__ = ["impact_within", "require_order"]


def require_order(name: str, k: object) -> None:
    """Refuse an order that is not a positive whole number.

    Raises
    ------
    InputError
        If ``k`` is not an int, or below 1.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"{name}(k={k!r}): k is the longest path, a whole number of at least 1")


def impact_within(k: int, max_degree: int) -> int:
    """Bound the vertices whose paths of at most k edges a rewired vertex u can change.

    u itself is one of them: its own paths start with a rewired edge. Another vertex v is affected
    only if u lies strictly inside one of its paths in one of the two graphs. That needs u to have
    two neighbours, so a degree of 2, and v to be at most k - 1 steps from u; a graph of degree d
    has at most ``sum(d * (d - 1) ** (j - 1) for j in 1..k-1)`` such vertices, and there are two
    graphs.

    Parameters
    ----------
    k : int
        Longest path, in edges.
    max_degree : int
        Public degree bound d.

    Returns
    -------
    int
        0 for d = 0, 1 for k = 1 or d = 1, else 1 plus twice that sum.

    Examples
    --------
    >>> [impact_within(2, d) for d in range(5)], impact_within(3, 3)
    ([0, 1, 5, 7, 9], 19)
    """
    if max_degree <= 1:
        return max(max_degree, 0)
    reach: int = sum(max_degree * (max_degree - 1) ** (j - 1) for j in range(1, k))
    return 1 + 2 * reach
