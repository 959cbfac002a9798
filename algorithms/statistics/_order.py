"""The order k of Path_k and Flow_k: checked at the door, bounded in reach."""

from __future__ import annotations

from pdpaudit.core.errors import InputError

__all__ = ["impact_within", "require_order"]


def require_order(name: str, k: object) -> None:
    """Refuse an order that is not a positive whole number."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"{name}(k={k!r}): k is the longest path, a whole number of at least 1")


def impact_within(k: int, max_degree: int) -> int:
    """Bound the vertices whose paths of at most k edges a rewired vertex u can change."""
    if max_degree <= 1:
        return max(max_degree, 0)
    reach: int = sum(max_degree * (max_degree - 1) ** (j - 1) for j in range(1, k))
    return 1 + 2 * reach
