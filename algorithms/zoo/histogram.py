"""Noisy histograms: one with the right scale of noise, one with its inverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdpaudit.core.protocols import PrivacyClaim

from .checks import check_epsilon, check_queries
from .noise import Floats, laplace_log_density
from .pairs import Queries, VectorPair, one_query_pairs
from .truth import TrueLoss

__all__ = ["NoisyHist1", "NoisyHist2"]

_BINS = 5


@dataclass(frozen=True)
class _NoisyHistogram:
    """Each bin with its own Laplace noise; one person changes one bin by 1."""

    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def _scale(self) -> float:
        raise NotImplementedError

    @property
    def claim(self) -> PrivacyClaim:
        """ε: the bins are disjoint."""
        return PrivacyClaim(
            self.epsilon, source="Dwork, McSherry, Nissim, Smith 2006; disjoint bins"
        )

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on: five bins, one of which moves."""
        return one_query_pairs(_BINS)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float, ...]:
        """Return the noisy bins."""
        return tuple(count + rng.laplace(scale=self._scale) for count in check_queries(instance))

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return noisy bins, shape ``(size, bins)``; O(size · bins)."""
        counts = np.array(check_queries(instance))
        return counts + rng.laplace(scale=self._scale, size=(size, len(counts)))

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``."""
        counts = np.array(check_queries(instance))
        return np.asarray(laplace_log_density(outputs - counts, self._scale).sum(axis=1))

    def true_loss(self) -> TrueLoss:
        """Return the inverse of the scale: only the first bin's factor differs."""
        return TrueLoss(1.0 / self._scale, "one_below", "first bin at most 0")


@dataclass(frozen=True)
class NoisyHist1(_NoisyHistogram):
    """Bins with Laplace noise of scale 1/ε: the correct mechanism.

    Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", 2018.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> NoisyHist1(0.1).true_loss().epsilon
    0.1
    """

    @property
    def _scale(self) -> float:
        return 1.0 / self.epsilon


@dataclass(frozen=True)
class NoisyHist2(_NoisyHistogram):
    """Bins with Laplace noise of scale ε, upside down: broken for ε < 1, where it costs 1/ε.

    Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", 2018.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> NoisyHist2(0.1).true_loss().epsilon
    10.0
    """

    @property
    def _scale(self) -> float:
        return self.epsilon
