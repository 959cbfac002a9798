"""Report Noisy Max: the index of the largest noisy answer, or wrongly its value.

Ding, Wang, Wang, Zhang and Kifer, "Detecting violations of differential privacy", 2018, Table 1;
Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, section 3.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from pdpaudit.core.protocols import Law, Outputs, PrivacyClaim

from ..laws.noise import Exponential, Laplace
from ..laws.noise import FloatArray as Floats
from ..laws.quadrature import QUADRATURE_ERROR, panel_nodes, panels
from .pairs import (
    Queries,
    TrueLoss,
    VectorPair,
    any_query_pairs,
    check_epsilon,
    check_queries,
    loss_of_laws,
)

__all__ = ["ReportNoisyMax1", "ReportNoisyMax2", "ReportNoisyMax3", "ReportNoisyMax4"]

_QUERIES = 5


@dataclass(frozen=True)
class _NoisyMax:
    """What all four share: noise of scale 2/ε on each of five answers."""

    epsilon: float
    noise: ClassVar[type[Laplace | Exponential]]

    def __post_init__(self) -> None:
        """Refuse what scales no noise."""
        check_epsilon(self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """ε for answers that each move by at most 1."""
        return PrivacyClaim(self.epsilon, source="Dwork and Roth 2014, section 3.3")

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 2.0 / self.epsilon

    def pairs(self) -> tuple[VectorPair, ...]:
        """Return the pairs it is measured on: five answers, all of which may move."""
        return any_query_pairs(_QUERIES)

    def _noisy(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Noisy answers, shape (size, answers)."""
        answers = np.array(check_queries(instance))
        return answers + self.noise(self.scale).draw((size, len(answers)), rng)

    def _log_maximum(self, points: Floats, answers: Floats) -> Floats:
        """Log density of each answer being the largest, at each point; (points, answers)."""
        deviation = points[:, None] - answers
        log_cdf = self.noise(self.scale).logcdf(deviation)
        others = np.stack(
            [np.delete(log_cdf, j, axis=1).sum(axis=1) for j in range(len(answers))], axis=1
        )
        return np.asarray(self.noise(self.scale).logpdf(deviation) + others)


@dataclass(frozen=True)
class _MaxIndex(_NoisyMax):
    """Releases the index."""

    def run(self, instance: Queries, rng: np.random.Generator) -> int:
        """Return the index of the largest noisy answer."""
        best, place = -math.inf, 0
        for index, answer in enumerate(check_queries(instance)):
            noisy = answer + float(self.noise(self.scale).draw(1, rng)[0])
            if noisy > best:
                best, place = noisy, index
        return place

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Outputs:
        """Return indices; O(size · answers)."""
        noisy = self._noisy(instance, size, rng)
        return Outputs(range(noisy.shape[1]), noisy.argmax(axis=1))

    def law(self, instance: Queries) -> Law:
        """Return the law of the index, to a relative 1e-13; a few hundred nodes.

        ``P(j) = ∫ p(x - a_j) ∏_{l≠j} F(x - a_l) dx``, split at the answers.
        """
        answers = np.array(check_queries(instance))
        rate = len(answers) / self.scale
        # One-sided noise: nobody is the largest below the largest answer.
        two_sided = self.noise is Laplace
        kinks = answers if two_sided else answers.max(keepdims=True)
        edges = panels(kinks, rate, 1.0 / self.scale, left=two_sided)
        nodes, weights = panel_nodes(edges)
        parts = weights @ np.exp(self._log_maximum(nodes, answers))
        return Law(dict(enumerate(parts.tolist())), missing=QUADRATURE_ERROR)

    def true_loss(self) -> TrueLoss:
        """Return the exact loss, from the laws."""
        return loss_of_laws(self)


@dataclass(frozen=True)
class _MaxValue(_NoisyMax):
    """Releases the value."""

    def run(self, instance: Queries, rng: np.random.Generator) -> tuple[float]:
        """Return the largest noisy answer."""
        noise = self.noise(self.scale)
        return (max(a + float(noise.draw(1, rng)[0]) for a in check_queries(instance)),)

    def sample(self, instance: Queries, size: int, rng: np.random.Generator) -> Floats:
        """Return largest noisy answers, shape ``(size, 1)``; O(size · answers)."""
        return np.asarray(self._noisy(instance, size, rng).max(axis=1, keepdims=True))

    def log_density(self, instance: Queries, outputs: Floats) -> Floats:
        """Return the log density of each output, shape ``(size,)``."""
        answers = np.array(check_queries(instance))
        # Where no answer can be the largest all terms are -inf, and so is their sum.
        with np.errstate(divide="ignore"):
            return np.asarray(logsumexp(self._log_maximum(outputs[:, 0], answers), axis=1))


@dataclass(frozen=True)
class ReportNoisyMax1(_MaxIndex):
    """Index of the largest answer with Laplace noise of scale 2/ε: correct.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> round(ReportNoisyMax1(1.0).true_loss().epsilon, 4)
    0.9804
    """

    noise = Laplace


@dataclass(frozen=True)
class ReportNoisyMax2(_MaxIndex):
    """Index of the largest answer with exponential noise of scale 2/ε: correct.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> round(ReportNoisyMax2(1.0).true_loss().epsilon, 4)
    1.0
    """

    noise = Exponential


@dataclass(frozen=True)
class ReportNoisyMax3(_MaxValue):
    """Value of the largest answer with Laplace noise of scale 2/ε: broken, 5ε/2.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> ReportNoisyMax3(1.0).true_loss().epsilon
    2.5
    """

    noise = Laplace

    def true_loss(self) -> TrueLoss:
        """Return 5ε/2.

        The log density of the maximum is that of products of five factors, each with slope at
        most ε/2 in its answer; below all answers the slopes are equal to it.
        """
        return TrueLoss(_QUERIES / self.scale, "all_above", "output at most 1")


@dataclass(frozen=True)
class ReportNoisyMax4(_MaxValue):
    """Value of the largest answer with exponential noise of scale 2/ε: broken, no finite ε.

    Parameters
    ----------
    epsilon : float
        Privacy loss claimed, in nats, above 0.

    Examples
    --------
    >>> ReportNoisyMax4(1.0).true_loss().epsilon
    inf
    """

    noise = Exponential

    def true_loss(self) -> TrueLoss:
        """Return infinity: the value is never below the largest answer, which moves."""
        return TrueLoss(math.inf, "all_above", "output below 2")
