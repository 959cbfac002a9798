"""One error budget over everything a command confirms.

Two ways to spend it. `ErrorBudget.share` splits it evenly (Bonferroni): lower bounds computed at
that level are all valid at once, and so are verdicts read off them. `holm_bounds` steps down
(Holm): it can reject more, but for what it rejects it shows only that ε exceeds the claim, unless
everything is rejected. Use one or the other for a report, chosen before the samples are seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdpaudit.core.errors import InputError


@dataclass(frozen=True)
class ErrorBudget:
    """The probability of any false alarm in a command, and how many things share it."""

    alpha: float
    confirmed: int = 1

    def __post_init__(self) -> None:
        """Check the level and the count."""
        if not 0.0 < self.alpha < 1.0:
            raise InputError(f"alpha must lie strictly between 0 and 1, got {self.alpha!r}")
        if self.confirmed < 1 or self.confirmed != int(self.confirmed):
            raise InputError(f"at least one thing must be confirmed, got {self.confirmed!r}")

    @property
    def share(self) -> float:
        """Error level of each bound, such that all hold together with probability 1 - alpha."""
        return self.alpha / self.confirmed

    def describe(self) -> str:
        """Return the budget in one line for the terminal."""
        if self.confirmed == 1:
            return f"false alarm at most {100 * self.alpha:.4g}%, all on one confirmed bound"
        return (
            f"false alarm at most {100 * self.alpha:.4g}% over all {self.confirmed} confirmed "
            f"bounds together, {100 * self.share:.4g}% each (Bonferroni)"
        )


def holm(p_values: ArrayLike, alpha: float) -> NDArray[np.bool_]:
    """Say which hypotheses Holm's step-down procedure rejects.

    Guarantee: some true hypothesis is rejected with probability at most `alpha`. Holm, "A simple
    sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
    Cost: O(m log m).
    """
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise InputError("p-values must be a list of numbers between 0 and 1")
    ErrorBudget(alpha)
    order = np.argsort(values, kind="stable")
    passed = values[order] <= alpha / np.arange(values.size, 0, -1)
    rejected = np.zeros(values.size, dtype=np.bool_)
    rejected[order] = np.logical_and.accumulate(passed)
    return rejected


def holm_bounds(
    bound_at: Callable[[int, float], float], claimed: Sequence[float], alpha: float
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Reject claims step by step, with lower bounds that all hold together.

    Guarantee: with probability at least ``1 - alpha`` every rejection is right and every bound
    holds. Strassburger and Bretz, "Compatible simultaneous lower confidence bounds for the Holm
    procedure and other Bonferroni-based closed tests", Statistics in Medicine 27 (2008). Cost:
    O(m²) bounds.
    """
    ErrorBudget(alpha, max(len(claimed), 1))
    standing = list(range(len(claimed)))
    bounds = np.asarray(claimed, dtype=np.float64).copy()
    while standing:
        level = alpha / len(standing)
        found = {i: bound_at(i, level) for i in standing}
        left = [i for i in standing if not found[i] > claimed[i]]
        if len(left) == len(standing):
            bounds[standing] = [found[i] for i in standing]
            break
        standing = left
    else:
        level = alpha / max(len(claimed), 1)
        bounds = np.array([max(claimed[i], bound_at(i, level)) for i in range(len(claimed))])
    rejected = np.ones(len(claimed), dtype=np.bool_)
    rejected[standing] = False
    return rejected, bounds
