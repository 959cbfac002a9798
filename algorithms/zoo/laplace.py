"""The Laplace mechanism, and many weak ones in parallel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pdpaudit.core.protocols import PrivacyClaim

from .checks import check_epsilon, check_queries
from .noise import Floats, laplace_log_density
from .pairs import Queries, VectorPair, one_query_pairs
from .truth import TrueLoss

__all__ = ["Laplace", "LaplaceParallel"]


@dataclass(frozen=True)
class Laplace:
    """One answer with Laplace noise of scale 1/ε: the correct mechanism.

    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity", 2006.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> mechanism = Laplace(1.0)
    >>> mechanism.sample((1.0,), 3, np.random.default_rng(1)).shape
    (3, 1)
    >>> mechanism.true_loss().epsilon
    1.0
    """

    epsilon: float

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """ε for an answer that moves by 1."""
        return PrivacyClaim(self.epsilon, source="Dwork, McSherry, Nissim, Smith 2006")

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on."""
        return one_query_pairs(1)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float]:
        """Return the noisy answer."""
        (answer,) = check_queries(instance, 1)
        return (answer + rng.laplace(scale=1.0 / self.epsilon),)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return noisy answers, shape ``(size, 1)``; O(size)."""
        (answer,) = check_queries(instance, 1)
        return answer + rng.laplace(scale=1.0 / self.epsilon, size=(size, 1))

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``."""
        (answer,) = check_queries(instance, 1)
        return laplace_log_density(outputs[:, 0] - answer, 1.0 / self.epsilon)

    def true_loss(self) -> TrueLoss:
        """Return ε: the log density has slope ε, so below both answers the ratio is e^ε."""
        return TrueLoss(self.epsilon, "one_below", "output at most 0")


@dataclass(frozen=True)
class LaplaceParallel:
    """The same answer 20 times, each with Laplace noise of scale 20/ε.

    Correct by composition; hard to audit, since the loss is reached only where all the noise lies
    on one side, with a probability of 2^-20. Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper",
    2021.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed for all releases together, in nats, above 0.

    Examples
    --------
    >>> LaplaceParallel(1.0).sample((1.0,), 3, np.random.default_rng(1)).shape
    (3, 20)
    """

    epsilon: float
    releases = 20

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """ε/20 for each release, composed."""
        return PrivacyClaim(
            self.epsilon, source="Dwork, McSherry, Nissim, Smith 2006; 20 releases composed"
        )

    @property
    def _scale(self) -> float:
        return self.releases / self.epsilon

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on."""
        return one_query_pairs(1)

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float, ...]:
        """Return the noisy answers."""
        (answer,) = check_queries(instance, 1)
        return tuple(answer + rng.laplace(scale=self._scale) for _ in range(self.releases))

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return noisy answers, shape ``(size, 20)``; O(size)."""
        (answer,) = check_queries(instance, 1)
        return answer + rng.laplace(scale=self._scale, size=(size, self.releases))

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``."""
        (answer,) = check_queries(instance, 1)
        return np.asarray(laplace_log_density(outputs - answer, self._scale).sum(axis=1))

    def true_loss(self) -> TrueLoss:
        """Return ε: each of 20 factors has slope ε/20, all of one sign below both answers."""
        return TrueLoss(self.epsilon, "one_below", "every output at most 0")
