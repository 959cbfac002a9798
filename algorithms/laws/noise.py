"""The three noises a private search adds to its scores, as pure functions of the argument.

Every noise has one parameter, its scale, in units of the score. Scale 0 is the degenerate case
"no noise": the distribution is a step at 0 and has no density.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdpaudit.core.errors import InputError

FloatArray = NDArray[np.float64]

_LOG_HALF = -np.log(2.0)


@runtime_checkable
class Noise(Protocol):
    """What the laws need to know of a noise; `scale` is in units of the score."""

    @property
    def scale(self) -> float:
        """The scale, in units of the score; 0 means no noise."""

    def logpdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of the density."""

    def logcdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise <= x]."""

    def logsf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise > x]."""

    def quantile_log(self, log_u: ArrayLike) -> FloatArray:
        """Invert logcdf."""

    def draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw independent noises."""


def _check_scale(name: str, scale: float) -> None:
    if not (np.isfinite(scale) and scale >= 0.0):
        raise InputError(f"{name}: the scale must be finite and >= 0, not {scale!r}")


def _step(x: ArrayLike) -> FloatArray:
    """Distribution function of the constant 0."""
    return np.where(np.asarray(x, dtype=float) >= 0.0, 1.0, 0.0)


def _no_density(name: str) -> InputError:
    return InputError(f"{name}(scale=0) has no density; treat the noiseless case by its order")


def _log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


@dataclass(frozen=True)
class Laplace:
    """Two-sided exponential noise, density ``exp(-|x|/scale) / (2 scale)``.

    Parameters
    ----------
    scale : float
        In units of the score, >= 0; 0 means no noise.

    Raises
    ------
    InputError
        If the scale is negative or not finite.

    Examples
    --------
    >>> float(Laplace(1.0).cdf(0.0))
    0.5
    >>> float(Laplace(0.0).cdf(-1e-9)), float(Laplace(0.0).cdf(0.0))
    (0.0, 1.0)
    """

    scale: float

    def __post_init__(self) -> None:
        """Refuse a bad scale."""
        _check_scale("Laplace", self.scale)

    def draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw independent noises; nothing is drawn at scale 0."""
        return np.zeros(size) if self.scale == 0.0 else rng.laplace(0.0, self.scale, size)

    def logpdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of the density; any shape."""
        if self.scale == 0.0:
            raise _no_density("Laplace")
        return np.asarray(-np.abs(np.asarray(x, dtype=float)) / self.scale - np.log(2 * self.scale))

    def logcdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise <= x], accurate in both tails; any shape."""
        if self.scale == 0.0:
            return _log(_step(x))
        z = np.asarray(x, dtype=float) / self.scale
        tail = -np.abs(z) + _LOG_HALF
        return np.asarray(np.where(z < 0.0, tail, np.log1p(-np.exp(tail))))

    def logsf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise > x], accurate in both tails; any shape."""
        if self.scale == 0.0:
            return _log(1.0 - _step(x))
        return self.logcdf(-np.asarray(x, dtype=float))

    def quantile_log(self, log_u: ArrayLike) -> FloatArray:
        """Invert logcdf: the x with logcdf(x) = log_u <= 0; any shape."""
        log_u = np.asarray(log_u, dtype=float)
        if self.scale == 0.0:
            return np.zeros_like(log_u)
        lower = np.minimum(log_u, _LOG_HALF) - _LOG_HALF
        upper = _LOG_HALF - _log(-np.expm1(np.maximum(log_u, _LOG_HALF)))
        return np.asarray(self.scale * np.where(log_u < _LOG_HALF, lower, upper))


@dataclass(frozen=True)
class Gumbel:
    """Gumbel noise, distribution function ``exp(-exp(-x/scale))``.

    The index of the largest Gumbel-noisy score follows the exponential mechanism.
    """

    scale: float

    def __post_init__(self) -> None:
        """Refuse a bad scale."""
        _check_scale("Gumbel", self.scale)

    def draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw independent noises; nothing is drawn at scale 0."""
        return np.zeros(size) if self.scale == 0.0 else rng.gumbel(0.0, self.scale, size)

    def logpdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of the density; any shape."""
        if self.scale == 0.0:
            raise _no_density("Gumbel")
        z = np.asarray(x, dtype=float) / self.scale
        with np.errstate(over="ignore"):
            return np.asarray(-z - np.exp(-z) - np.log(self.scale))

    def logcdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise <= x]; any shape."""
        if self.scale == 0.0:
            return _log(_step(x))
        with np.errstate(over="ignore"):
            return np.asarray(-np.exp(-np.asarray(x, dtype=float) / self.scale))

    def logsf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise > x], accurate in the upper tail; any shape."""
        if self.scale == 0.0:
            return _log(1.0 - _step(x))
        return _log(-np.expm1(self.logcdf(x)))

    def quantile_log(self, log_u: ArrayLike) -> FloatArray:
        """Invert logcdf: the x with logcdf(x) = log_u <= 0; any shape."""
        log_u = np.asarray(log_u, dtype=float)
        if self.scale == 0.0:
            return np.zeros_like(log_u)
        return np.asarray(-self.scale * _log(-log_u))


@dataclass(frozen=True)
class Exponential:
    """One-sided exponential noise, density ``exp(-x/scale)/scale`` for x >= 0.

    The index of the largest noisy score follows permute-and-flip [1]_.
    """

    scale: float

    def __post_init__(self) -> None:
        """Refuse a bad scale."""
        _check_scale("Exponential", self.scale)

    def draw(self, size: int | tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Draw independent noises; nothing is drawn at scale 0."""
        return np.zeros(size) if self.scale == 0.0 else rng.exponential(self.scale, size)

    def logpdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of the density, continuous from the right at 0; any shape."""
        if self.scale == 0.0:
            raise _no_density("Exponential")
        z = np.asarray(x, dtype=float) / self.scale
        return np.asarray(np.where(z < 0.0, -np.inf, -z - np.log(self.scale)))

    def logcdf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise <= x]; any shape."""
        if self.scale == 0.0:
            return _log(_step(x))
        z = np.maximum(np.asarray(x, dtype=float) / self.scale, 0.0)
        # exp(-z) near 1 cancels in 1 - exp(-z): expm1 below ln 2, log1p above.
        near = _log(-np.expm1(-z))
        return np.asarray(np.where(z < -_LOG_HALF, near, np.log1p(-np.exp(-np.maximum(z, 0.5)))))

    def logsf(self, x: ArrayLike) -> FloatArray:
        """Logarithm of Pr[noise > x]; any shape."""
        if self.scale == 0.0:
            return _log(1.0 - _step(x))
        return np.asarray(-np.maximum(np.asarray(x, dtype=float) / self.scale, 0.0))

    def quantile_log(self, log_u: ArrayLike) -> FloatArray:
        """Invert logcdf: the x with logcdf(x) = log_u <= 0; any shape."""
        log_u = np.asarray(log_u, dtype=float)
        if self.scale == 0.0:
            return np.zeros_like(log_u)
        u = np.exp(np.minimum(log_u, _LOG_HALF))
        upper = _log(-np.expm1(np.maximum(log_u, _LOG_HALF)))
        return np.asarray(-self.scale * np.where(log_u < _LOG_HALF, np.log1p(-u), upper))


def laplace_between(low: float, high: float, scale: float) -> float:
    """Return ``P(low < X ≤ high)`` of the Laplace law around 0, to relative accuracy."""
    if low < 0 < high:
        return laplace_between(low, 0.0, scale) + laplace_between(0.0, high, scale)
    near, far = sorted((abs(low), abs(high)))
    return float(-0.5 * np.exp(-near / scale) * np.expm1(-(far - near) / scale))
