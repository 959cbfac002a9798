"""Running sums of noisy answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdpaudit.core.protocols import PrivacyClaim

from .checks import check_epsilon, check_queries
from .noise import Floats, laplace_log_density
from .pairs import Queries, VectorPair, any_query_pairs
from .truth import TrueLoss

__all__ = ["PrefixSum"]

_QUERIES = 10


@dataclass(frozen=True)
class PrefixSum:
    """The prefix sums of ten answers, each answer with Laplace noise of scale 1/ε.

    The sums reveal the noisy answers, so where every answer may move it costs 10ε, and claims it.
    Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper", 2021.

    Parameters
    ----------
    epsilon : float
        Privacy loss of one answer, in nats, above 0.

    Examples
    --------
    >>> PrefixSum(0.1).claim.epsilon, PrefixSum(0.1).true_loss().epsilon
    (1.0, 1.0)
    """

    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """10ε: ten answers composed."""
        return PrivacyClaim(
            _QUERIES * self.epsilon,
            source="Dwork, McSherry, Nissim, Smith 2006; 10 answers composed",
        )

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on."""
        return any_query_pairs(_QUERIES)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float, ...]:
        """Return the sums."""
        total, sums = 0.0, []
        for answer in check_queries(instance, _QUERIES):
            total += answer + rng.laplace(scale=1.0 / self.epsilon)
            sums.append(total)
        return tuple(sums)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return sums, shape ``(size, 10)``; O(size)."""
        answers = np.array(check_queries(instance, _QUERIES))
        noisy = answers + rng.laplace(scale=1.0 / self.epsilon, size=(size, _QUERIES))
        return np.cumsum(noisy, axis=1)

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``."""
        answers = np.array(check_queries(instance, _QUERIES))
        noisy = np.diff(outputs, axis=1, prepend=0.0)
        return np.asarray(laplace_log_density(noisy - answers, 1.0 / self.epsilon).sum(axis=1))

    def true_loss(self) -> TrueLoss:
        """Return 10ε: each of ten factors has slope ε, all of one sign below both inputs."""
        return TrueLoss(_QUERIES * self.epsilon, "all_above", "every increment at most 1")
