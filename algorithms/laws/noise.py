"""The three noises a private search adds to its scores, as pure functions of the argument.

Every noise has one parameter, its scale, in units of the score. Scale 0 is the degenerate case
"no noise": the distribution is a step at 0 and has no density.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import PrivacyClaim

FloatArray = NDArray[np.float64]

_LOG_HALF = -np.log(2.0)


def _log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


@dataclass(frozen=True)
class Noise:
    """A noise of some scale, by the logarithms of its law at scale 1; arguments of any shape."""

    scale: float

    def __post_init__(self) -> None:
        """Refuse a bad scale."""
        if not (np.isfinite(self.scale) and self.scale >= 0.0):
            name = type(self).__name__
            raise InputError(f"{name}: the scale must be finite and >= 0, not {self.scale!r}")

    def draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw independent noises; nothing is drawn at scale 0."""
        return np.zeros(size) if self.scale == 0.0 else self._draw(size, rng)

    def logpdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of the density."""
        if self.scale == 0.0:
            name = type(self).__name__
            raise InputError(f"{name}(scale=0) has no density; treat the noiseless case by order")
        return np.asarray(
            self._logpdf(np.asarray(x, dtype=float) / self.scale) - np.log(self.scale)
        )

    def logcdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise <= x], accurate in both tails."""
        if self.scale == 0.0:
            return _log(np.where(np.asarray(x, dtype=float) >= 0.0, 1.0, 0.0))
        return self._logcdf(np.asarray(x, dtype=float) / self.scale)

    def logsf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise > x], accurate in the upper tail."""
        if self.scale == 0.0:
            return _log(np.where(np.asarray(x, dtype=float) >= 0.0, 0.0, 1.0))
        return self._logsf(np.asarray(x, dtype=float) / self.scale)

    def quantile_log(self, log_u: ArrayLike) -> FloatArray:
        """Invert logcdf: the x with logcdf(x) = log_u <= 0."""
        log_u = np.asarray(log_u, dtype=float)
        return np.zeros_like(log_u) if self.scale == 0.0 else self.scale * self._quantile(log_u)

    def _draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        raise NotImplementedError

    def _logpdf(self, z: FloatArray) -> FloatArray:
        raise NotImplementedError

    def _logcdf(self, z: FloatArray) -> FloatArray:
        raise NotImplementedError

    def _logsf(self, z: FloatArray) -> FloatArray:
        return _log(-np.expm1(self._logcdf(z)))

    def _quantile(self, log_u: FloatArray) -> FloatArray:
        raise NotImplementedError


class Laplace(Noise):
    """Two-sided exponential noise, density ``exp(-|x|/scale) / (2 scale)``."""

    def _draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        return rng.laplace(0.0, self.scale, size)

    def _logpdf(self, z: FloatArray) -> FloatArray:
        return np.asarray(_LOG_HALF - np.abs(z))

    def _logcdf(self, z: FloatArray) -> FloatArray:
        tail = _LOG_HALF - np.abs(z)
        return np.asarray(np.where(z < 0.0, tail, np.log1p(-np.exp(tail))))

    def _logsf(self, z: FloatArray) -> FloatArray:
        return self._logcdf(-z)

    def _quantile(self, log_u: FloatArray) -> FloatArray:
        lower = np.minimum(log_u, _LOG_HALF) - _LOG_HALF
        upper = _LOG_HALF - _log(-np.expm1(np.maximum(log_u, _LOG_HALF)))
        return np.asarray(np.where(log_u < _LOG_HALF, lower, upper))


class Gumbel(Noise):
    """Gumbel noise, distribution function ``exp(-exp(-x/scale))``.

    The index of the largest Gumbel-noisy score follows the exponential mechanism.
    """

    def _draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        return rng.gumbel(0.0, self.scale, size)

    def _logpdf(self, z: FloatArray) -> FloatArray:
        return np.asarray(self._logcdf(z) - z)

    def _logcdf(self, z: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray(-np.exp(-z))

    def _quantile(self, log_u: FloatArray) -> FloatArray:
        return -_log(-log_u)


class Exponential(Noise):
    """One-sided exponential noise, density ``exp(-x/scale)/scale`` for x >= 0.

    The index of the largest noisy score follows permute-and-flip.
    """

    def _draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        return rng.exponential(self.scale, size)

    def _logpdf(self, z: FloatArray) -> FloatArray:
        return np.asarray(np.where(z < 0.0, -np.inf, -z))

    def _logcdf(self, z: FloatArray) -> FloatArray:
        # exp(-z) near 1 cancels in 1 - exp(-z): expm1 below ln 2, log1p above.
        near = _log(-np.expm1(-np.maximum(z, 0.0)))
        return np.asarray(np.where(z < -_LOG_HALF, near, np.log1p(-np.exp(-np.maximum(z, 0.5)))))

    def _logsf(self, z: FloatArray) -> FloatArray:
        return np.asarray(-np.maximum(z, 0.0))

    def _quantile(self, log_u: FloatArray) -> FloatArray:
        u = np.exp(np.minimum(log_u, _LOG_HALF))
        upper = _log(-np.expm1(np.maximum(log_u, _LOG_HALF)))
        return np.asarray(-np.where(log_u < _LOG_HALF, np.log1p(-u), upper))


@dataclass(frozen=True)
class Rule:
    """How a search round ranks the vertices, and when it gives up."""

    noise: Noise
    threshold: float | None = None
    limit: float = math.inf
    limit_scale: float = 0.0

    def draw_limits(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw K̂ ``size`` times."""
        return self.limit + Laplace(self.limit_scale).draw(size, rng)


def laplace_between(low: float, high: float, scale: float) -> float:
    """Return ``P(low < X ≤ high)`` of the Laplace law around 0, to relative accuracy."""
    if low < 0 < high:
        return laplace_between(low, 0.0, scale) + laplace_between(0.0, high, scale)
    near, far = sorted((abs(low), abs(high)))
    return float(-0.5 * np.exp(-near / scale) * np.expm1(-(far - near) / scale))


@dataclass(frozen=True)
class CalibratedMechanism:
    """A mechanism whose noise is scaled by ε, and what its source claims."""

    epsilon: float
    source: ClassVar[str]
    #: How many ε are claimed.
    composed: ClassVar[int] = 1
    #: The least that may be given for whole numbers it is made with.
    least: ClassVar[Mapping[str, int]] = {}

    def __post_init__(self) -> None:
        """Refuse what scales no noise, and whole numbers that are too small."""
        if not 0.0 < self.epsilon < math.inf:
            raise InputError(f"epsilon = {self.epsilon}: give a finite number of nats above 0")
        for name, least in self.least.items():
            if getattr(self, name) < least:
                given = f"{name} = {getattr(self, name)}"
                raise InputError(f"{given}: give a whole number, at least {least}")

    @property
    def claim(self) -> PrivacyClaim:
        """What is promised."""
        return PrivacyClaim(self.composed * self.epsilon, source=self.source)
