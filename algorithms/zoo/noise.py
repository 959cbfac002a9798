"""Logarithms of densities and distributions of the noise, accurate in both tails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "EXPONENTIAL",
    "LAPLACE",
    "Noise",
    "exponential_log_cdf",
    "exponential_log_density",
    "laplace_between",
    "laplace_log_cdf",
    "laplace_log_density",
]

Floats = npt.NDArray[np.float64]

_LOG_HALF = -np.log(2.0)


def laplace_log_density(deviation: npt.ArrayLike, scale: float) -> Floats:
    """Return ``ln p(x)`` of the Laplace law around 0."""
    return np.asarray(-np.abs(deviation) / scale - np.log(2.0 * scale))


def laplace_log_cdf(deviation: npt.ArrayLike, scale: float) -> Floats:
    """Return ``ln P(X ≤ x)`` of the Laplace law around 0; of ``X ≥ x`` at ``-x``."""
    standard = np.asarray(deviation, dtype=np.float64) / scale
    tail = _LOG_HALF - np.abs(standard)
    return np.asarray(np.where(standard <= 0, tail, np.log1p(-np.exp(tail))))


def laplace_between(low: float, high: float, scale: float) -> float:
    """Return ``P(low < X ≤ high)`` of the Laplace law around 0, to relative accuracy."""
    if low < 0 < high:
        return laplace_between(low, 0.0, scale) + laplace_between(0.0, high, scale)
    near, far = sorted((abs(low), abs(high)))
    return float(-0.5 * np.exp(-near / scale) * np.expm1(-(far - near) / scale))


def exponential_log_density(deviation: npt.ArrayLike, scale: float) -> Floats:
    """Return ``ln p(x)`` of the exponential law, minus infinity below 0."""
    standard = np.asarray(deviation, dtype=np.float64) / scale
    return np.where(standard >= 0, -standard - np.log(scale), -np.inf)


def exponential_log_cdf(deviation: npt.ArrayLike, scale: float) -> Floats:
    """Return ``ln P(X ≤ x)`` of the exponential law, minus infinity up to 0."""
    standard = np.maximum(np.asarray(deviation, dtype=np.float64) / scale, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(-standard)))


@dataclass(frozen=True)
class Noise:
    """A law of noise around 0, to be scaled."""

    draw: Callable[[np.random.Generator, float, int | tuple[int, ...]], Floats]
    log_density: Callable[[npt.ArrayLike, float], Floats]
    log_cdf: Callable[[npt.ArrayLike, float], Floats]
    two_sided: bool


LAPLACE = Noise(
    lambda rng, scale, size: rng.laplace(scale=scale, size=size),
    laplace_log_density,
    laplace_log_cdf,
    two_sided=True,
)
EXPONENTIAL = Noise(
    lambda rng, scale, size: rng.exponential(scale=scale, size=size),
    exponential_log_density,
    exponential_log_cdf,
    two_sided=False,
)
