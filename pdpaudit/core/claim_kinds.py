"""Claims in other units than ε: what each kind allows, and the least that allows what is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pdpaudit.core.claim import PrivacyClaim, check_parameter
from pdpaudit.core.divergence import (
    Floats,
    Points,
    best_order,
    event_divergence,
    event_rate,
    largest_ratio,
    law_divergence,
    law_rate,
    least_miss,
    turned,
)

#: Rounding forgiven in what must be at most 1.
ROUNDING = 1e-9


@dataclass(frozen=True)
class OtherClaim(PrivacyClaim):
    """A claim in another unit; ``epsilon`` is infinite, for none bounds the loss of every outcome.

    ``form`` names the attribute of each field of its JSON form, the parameter's last.
    """

    epsilon: float = field(default=math.inf, init=False, repr=False)
    delta: float = field(default=0.0, init=False, repr=False)

    form: ClassVar[dict[str, str]] = {}

    def __post_init__(self) -> None:
        """Refuse what is not a promise."""
        check_parameter(self.parameter, self.value)

    @property
    def value(self) -> float:
        """The parameter."""
        return float(getattr(self, self.form[self.parameter]))

    def to_json(self) -> dict[str, object]:
        """Return the JSON form, without its source."""
        return {"kind": self.kind, **{key: getattr(self, name) for key, name in self.form.items()}}


@dataclass(frozen=True)
class DivergenceClaim(OtherClaim):
    """A bound on divergences: its trade-off is that of two outcomes, which both directions bound.

    The region of events (p, q) that it allows is convex, as Rényi divergences are jointly
    quasi-convex, and by data processing no law within the claim leaves it.
    """

    def trade_off(self, fpr: npt.ArrayLike) -> Floats:
        """Return the least rate of false negatives allowed at each rate of false positives."""
        raise NotImplementedError

    def largest_ratio(self, log_p: Floats) -> Floats:
        """Return the largest ``ln(p / q)`` allowed to an event, by ``ln(p)``."""
        raise NotImplementedError

    def delta_at(self, epsilon: npt.ArrayLike) -> Floats:
        """Return the least δ for each ε, the optimal conversion.

        Asoodeh, Liao, Calmon, Kosut and Sankar, "Three variants of differential privacy", 2021, for
        one order: the largest ``p - e^ε q`` among the events allowed, a concave function of p.
        """
        epsilons = np.asarray(epsilon, dtype=np.float64)[..., None]
        if self.value == math.inf:
            return np.ones(epsilons.shape[:-1])
        logs = -np.concatenate([[0.0], np.geomspace(1e-6, 700.0, 60)])
        ratio = self.largest_ratio(logs)
        logs = np.broadcast_to(logs, (*epsilons.shape[:-1], len(logs)))
        found = excess_of(logs, ratio, epsilons)
        for _ in range(3):
            best = np.clip(found.argmax(axis=-1), 1, logs.shape[-1] - 2)[..., None]
            low, high = (np.take_along_axis(logs, best + step, -1) for step in (-1, 1))
            logs = low + (high - low) * np.linspace(0.0, 1.0, 17)
            found = excess_of(logs, self.largest_ratio(logs), epsilons)
        return np.asarray(found.max(axis=-1))


@dataclass(frozen=True)
class ZeroConcentratedClaim(DivergenceClaim):
    """ρ-zCDP."""

    rho: float = field(default=0.0, kw_only=True)

    symbol: ClassVar[str] = "ρ"
    parameter: ClassVar[str] = "rho"
    kind: ClassVar[str] = "zcdp"
    form: ClassVar[dict[str, str]] = {"rho": "rho"}

    @property
    def statement(self) -> str:
        """What is claimed, in its own unit."""
        return f"ρ-zCDP with ρ = {self.rho:.6g}"

    def of_events(self, p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
        """Return the smallest parameter by events and their complements."""
        return np.maximum(event_rate(p, not_p, q, not_q), event_rate(q, not_q, p, not_p))

    def trade_off(self, fpr: npt.ArrayLike) -> Floats:
        """Return the least rate of false negatives allowed: the strictest order decides."""
        x = np.asarray(fpr, dtype=np.float64)
        return best_order(lambda order: least_miss(order, self.rho * order, x), x.shape)

    def largest_ratio(self, log_p: Floats) -> Floats:
        """Return the largest ``ln(p / q)`` allowed to an event, by ``ln(p)``."""
        return -best_order(
            lambda order: -largest_ratio(order, self.rho * order, log_p), log_p.shape
        )

    def loss_of_laws(self, p: Floats, q: Floats) -> float:
        """Return the largest ``D_a / a`` of two laws over all orders, in one direction."""
        return law_rate(p, q)


@dataclass(frozen=True)
class RenyiClaim(DivergenceClaim):
    """Rényi differential privacy of one order; ``bound`` is its ε."""

    alpha: float = field(default=2.0, kw_only=True)
    bound: float = field(default=0.0, kw_only=True)

    kind: ClassVar[str] = "renyi"
    form: ClassVar[dict[str, str]] = {"alpha": "alpha", "epsilon": "bound"}

    def __post_init__(self) -> None:
        """Refuse what is not a promise."""
        if not 1 < self.alpha < math.inf:
            raise ValueError(f"alpha = {self.alpha}: a claim needs a finite order above 1")
        super().__post_init__()

    @property
    def statement(self) -> str:
        """What is claimed, in its own unit."""
        return f"Rényi DP of order {self.alpha:.6g} with ε = {self.bound:.6g}"

    def of_events(self, p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
        """Return the smallest parameter by events and their complements."""
        return np.maximum(
            event_divergence(self.alpha, p, not_p, q, not_q),
            event_divergence(self.alpha, q, not_q, p, not_p),
        )

    def trade_off(self, fpr: npt.ArrayLike) -> Floats:
        """Return the least rate of false negatives allowed at each rate of false positives."""
        return least_miss(self.alpha, self.bound, np.asarray(fpr, dtype=np.float64))

    def largest_ratio(self, log_p: Floats) -> Floats:
        """Return the largest ``ln(p / q)`` allowed to an event, by ``ln(p)``."""
        return largest_ratio(self.alpha, self.bound, log_p)

    def loss_of_laws(self, p: Floats, q: Floats) -> float:
        """Return the divergence of two laws, in one direction."""
        return law_divergence(self.alpha, p, q)


@dataclass(frozen=True)
class GaussianClaim(OtherClaim):
    """μ-Gaussian differential privacy."""

    mu: float = field(default=0.0, kw_only=True)

    symbol: ClassVar[str] = "μ"
    parameter: ClassVar[str] = "mu"
    kind: ClassVar[str] = "gdp"
    form: ClassVar[dict[str, str]] = {"mu": "mu"}

    @property
    def statement(self) -> str:
        """What is claimed, in its own unit."""
        return f"μ-Gaussian DP with μ = {self.mu:.6g}"

    def delta_at(self, epsilon: npt.ArrayLike) -> Floats:
        """Return the least δ for each ε (Balle and Wang 2018)."""
        from scipy.special import log_ndtr, ndtr

        epsilons, mu = np.asarray(epsilon, dtype=np.float64), self.mu
        if mu == 0 or math.isinf(mu):
            return np.full(epsilons.shape, 0.0 if mu == 0 else 1.0)
        rest = np.exp(epsilons + log_ndtr(-epsilons / mu - mu / 2))
        return np.asarray(np.maximum(0.0, ndtr(-epsilons / mu + mu / 2) - rest))

    def trade_off(self, fpr: npt.ArrayLike) -> Floats:
        """Return the least rate of false negatives allowed at each rate of false positives."""
        from scipy.special import ndtr, ndtri

        x = np.asarray(fpr, dtype=np.float64)
        if math.isinf(self.mu):
            return np.zeros(x.shape)
        return np.asarray(ndtr(-ndtri(x) - self.mu))

    def of_events(self, p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
        """Return the smallest parameter by events and their complements."""
        # Both are normal quantiles of the smaller part, which has more digits.
        with np.errstate(invalid="ignore"):
            return _quantile(p, not_p) - _quantile(q, not_q)


@dataclass(frozen=True)
class CurveClaim(OtherClaim):
    """A trade-off function through points; its parameter is how far an attack falls below it."""

    points: Points = field(default=(), kw_only=True)

    symbol: ClassVar[str] = "excess"
    parameter: ClassVar[str] = "excess"
    kind: ClassVar[str] = "curve"

    def __post_init__(self) -> None:
        """Refuse what is not a promise."""
        x, y = np.array(self.points).T
        if not ((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1 - x + ROUNDING)).all():
            raise ValueError("points: a claim needs rates in [0, 1] with a sum of at most 1")

    @property
    def value(self) -> float:
        """How far below it an attack may get: not at all."""
        return 0.0

    @property
    def statement(self) -> str:
        """What is claimed, in its own unit."""
        return f"a trade-off curve of {len(self.points)} points"

    def delta_at(self, epsilon: npt.ArrayLike) -> Floats:
        """Return the least δ for each ε: that of a corner."""
        epsilons = np.asarray(epsilon, dtype=np.float64)[..., None]
        rates = np.unique(np.array([(0.0, 1.0), *self.points, *turned(self.points)])[:, 0])
        with np.errstate(over="ignore", invalid="ignore"):
            cost = np.where(rates > 0, np.exp(epsilons) * rates, 0.0)
        return np.asarray(np.maximum(0.0, 1 - self.trade_off(rates) - cost).max(axis=-1))

    def trade_off(self, fpr: npt.ArrayLike) -> Floats:
        """Return the least rate of false negatives allowed, in both directions of the claim."""
        x = np.asarray(fpr, dtype=np.float64)
        (x1, y1), (x2, y2) = np.array(self.points).T, np.array(turned(self.points)).T
        whole = np.maximum(np.interp(x, x1, y1, right=0.0), np.interp(x, x2, y2, right=0.0))
        return np.asarray(np.maximum(0.0, whole))

    def of_events(self, p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
        """Return the smallest parameter by events and their complements."""
        return np.maximum(self.trade_off(q) - not_p, self.trade_off(not_p) - q)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form, without its source."""
        return {"kind": self.kind, "points": list(map(list, self.points))}


def _quantile(p: Floats, not_p: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(
        np.where(p < not_p, ndtri(np.minimum(p, 1.0)), -ndtri(np.minimum(not_p, 1.0)))
    )


def excess_of(log_p: Floats, ratio: Floats, epsilon: Floats) -> Floats:
    """Return ``p - e^ε q`` of events by ln(p) and ln(p / q), from 0."""
    return np.asarray(np.exp(log_p) * np.maximum(0.0, -np.expm1(np.minimum(epsilon - ratio, 1.0))))
