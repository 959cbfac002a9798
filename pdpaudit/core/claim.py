"""The promise that an audit tests: what it allows an attacker, whatever unit it is stated in.

Every promise is a trade-off: at each rate of false positives, the least rate of false negatives
that it leaves to an attacker who sees one output and says which of two neighbours it came from
(Dong, Roth and Su, "Gaussian differential privacy", 2022). It holds in both directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from pdpaudit.core.divergence import (
    Floats,
    Points,
    best_events,
    best_order,
    convex_curve,
    event_rate,
    larger_divergence,
    largest_ratio,
    law_divergence,
    law_rate,
    least_miss,
    lower_curve,
    turned,
)
from pdpaudit.core.errors import ParameterError, number

#: What a claim may be on the command line.
FORMS = "eps=1, eps=1,delta=1e-6, zcdp:0.5, renyi:2:1.0 or gdp:0.45"


@dataclass(frozen=True)
class PrivacyClaim:
    """The promise to be tested: (ε, δ)-differential privacy, or one in another unit.

    ``PrivacyClaim(epsilon, delta)`` is the usual promise. :meth:`zcdp`, :meth:`renyi`,
    :meth:`gaussian` and :meth:`curve` make those in other units; their ``epsilon`` is infinite,
    for none of them bounds the loss of every outcome.

    Attributes
    ----------
    epsilon : float
        Privacy loss in nats.
    delta : float
        Additive slack, 0 for the pure form.
    source : str
        Theorem or lemma that makes the promise.

    Raises
    ------
    ValueError
        If ``epsilon`` is negative or not a number, or ``delta`` is outside [0, 1).

    Examples
    --------
    >>> PrivacyClaim(1.0, source="Theorem 1")
    PrivacyClaim(epsilon=1.0, delta=0.0, source='Theorem 1')
    >>> PrivacyClaim.zcdp(0.5)
    ZeroConcentratedClaim(source='', rho=0.5)
    >>> float(PrivacyClaim.gaussian(1.0).delta_at(1.0).round(6))
    0.126937
    """

    epsilon: float
    delta: float = 0.0
    source: str = ""

    #: What the parameter is called, in words and in a table.
    symbol: ClassVar[str] = "ε"
    #: What the parameter and the kind are called in a file.
    parameter: ClassVar[str] = "epsilon"
    kind: ClassVar[str] = ""
    #: The attribute of each number of the JSON form of another unit, and what is claimed, in words.
    form: ClassVar[dict[str, str]] = {}
    said: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Refuse what is not a promise."""
        for name in ("epsilon", "delta"):
            object.__setattr__(self, name, number(name, getattr(self, name)))
        _check_parameter("epsilon", self.epsilon)
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta = {self.delta}: a claim needs 0 <= delta < 1")

    @staticmethod
    def zcdp(rho: float, source: str = "") -> PrivacyClaim:
        """Return the promise of ρ-zCDP: Rényi divergence at most ρa of every order a above 1.

        Bun and Steinke, "Concentrated differential privacy", 2016.

        Examples
        --------
        >>> PrivacyClaim.zcdp(0.5).statement
        'ρ-zCDP with ρ = 0.5'
        """
        return ZeroConcentratedClaim(source, rho=rho)

    @staticmethod
    def renyi(alpha: float, epsilon: float, source: str = "") -> PrivacyClaim:
        """Return the promise that the Rényi divergence of order ``alpha`` is at most ``epsilon``.

        Mironov, "Rényi differential privacy", 2017.

        Examples
        --------
        >>> PrivacyClaim.renyi(2, 1.0).statement
        'Rényi DP of order 2 with ε = 1'
        """
        return RenyiClaim(source, alpha=alpha, bound=epsilon)

    @staticmethod
    def gaussian(mu: float, source: str = "") -> PrivacyClaim:
        """Return the promise of μ-Gaussian differential privacy.

        No attack does better than at telling normal laws of variance 1 at 0 and ``mu`` apart (Dong,
        Roth and Su, "Gaussian differential privacy", 2022).

        Examples
        --------
        >>> PrivacyClaim.gaussian(1.0).trade_off([0.0, 0.5]).round(4).tolist()
        [1.0, 0.1587]
        """
        return GaussianClaim(source, mu=mu)

    @staticmethod
    def curve(
        points: Sequence[tuple[float, float]] | Callable[[float], float], source: str = ""
    ) -> PrivacyClaim:
        """Return the promise of a trade-off function.

        Parameters
        ----------
        points : sequence of (float, float) or function
            Rates of false positives and the least rates of false negatives there, convex, straight
            in between; or a function from the one to the other, which is read at 256 rates and
            taken for no more than these prove.
        source : str
            Theorem or lemma that makes the promise.

        Examples
        --------
        >>> PrivacyClaim.curve([(0, 0.9), (0.3, 0.3), (0.9, 0)]).trade_off(0.15).round(4).item()
        0.6
        """
        read = lower_curve(points) if callable(points) else convex_curve(points)
        return CurveClaim(source, points=read)

    @property
    def value(self) -> float:
        """The parameter: ε, or ρ, μ or ε at an order; of a curve the excess over it, 0."""
        return self.epsilon

    @property
    def family(self) -> PrivacyClaim:
        """The same promise with parameter 0, and no source: what claims of one unit share."""
        return PrivacyClaim.from_json({**self.to_json(), self.parameter: 0.0})

    @property
    def approximate(self) -> bool:
        """Whether it is (ε, δ)-differential privacy."""
        return not self.kind

    @property
    def statement(self) -> str:
        """What is claimed, in its own unit."""
        if self.delta == 0:
            return f"{self.epsilon:.6g}-DP"
        return f"({self.epsilon:.6g}, {self.delta:.3g})-DP"

    @property
    def text(self) -> str | None:
        """What :meth:`parse` reads it from; None for a curve."""
        if self.approximate:
            return f"eps={self.epsilon!r}" + (f",delta={self.delta!r}" if self.delta else "")
        numbers = [getattr(self, name) for name in self.form.values()]
        return ":".join([self.kind, *map(repr, numbers)]) if numbers else None

    def delta_at(self, epsilon: npt.ArrayLike) -> Floats:
        """Return the least δ at which the claim implies (ε, δ)-differential privacy, each ε >= 0.

        That of the best event: by data processing two outcomes suffice, so no conversion is better.
        """
        epsilons = np.asarray(epsilon, dtype=np.float64)
        kink = -np.expm1(np.logaddexp(0.0, epsilons) - np.logaddexp(0.0, self.epsilon))
        return np.asarray(self.delta + (1 - self.delta) * np.maximum(0.0, kink))

    def trade_off(self, fpr: npt.ArrayLike) -> Floats:
        """Return the least rate of false negatives allowed at each rate of false positives."""
        x = np.asarray(fpr, dtype=np.float64)
        rest = 1 - self.delta - x
        # e^ε overflows, and e^-ε times what is left does the same.
        with np.errstate(over="ignore", invalid="ignore"):
            steep = np.where(x > 0, 1 - self.delta - np.exp(self.epsilon) * x, 1 - self.delta)
        return np.maximum(0.0, np.maximum(steep, math.exp(-self.epsilon) * rest))

    def smallest(self, p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
        """Return the smallest parameter that allows an event of probabilities p and q, from 0.

        ``p`` is the larger; elsewhere nothing is shown, and the answer is 0. It grows with p and
        falls with q, so that a lower limit of p and an upper limit of q give a lower limit.
        """
        high, low = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (p, q)))
        found = np.asarray(self.of_events(high, 1.0 - high, low, 1.0 - low))
        return np.where(high > low, np.maximum(found, 0.0), 0.0)

    def of_events(self, p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
        """Return the smallest parameter by events and their complements; only for ``p > q``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.log(np.maximum(p - self.delta, 0.0)) - np.log(q)
            outside = np.log(np.maximum(not_q - self.delta, 0.0)) - np.log(not_p)
        return np.asarray(np.fmax(inside, outside))

    def loss_of_laws(self, p: Floats, q: Floats) -> float:
        """Return the smallest parameter that allows two laws, in one direction.

        It falls where ``p`` is less and ``q`` more. The laws of (ε, δ) have a function of their
        own, :func:`pdpaudit.core.privacy_loss.exact_loss`.
        """
        events = best_events(p, q)
        return float(np.max(self.of_events(*events), initial=0.0, where=events[0] > events[2]))

    def to_json(self) -> dict[str, object]:
        """Return the JSON form, without its source."""
        return {"epsilon": self.epsilon, "delta": self.delta}

    @staticmethod
    def from_json(body: Mapping[str, object], source: str = "") -> PrivacyClaim:
        """Return the claim of a JSON form.

        Examples
        --------
        >>> PrivacyClaim.from_json(PrivacyClaim.renyi(2, 1.0).to_json()).statement
        'Rényi DP of order 2 with ε = 1'
        """
        source, kind = str(body.get("source", source)), body.get("kind")
        if kind is None:
            return PrivacyClaim(_number(body["epsilon"]), _number(body.get("delta", 0.0)), source)
        if kind == "curve":
            points = cast("Sequence[tuple[object, object]]", body["points"])
            return PrivacyClaim.curve([(_number(x), _number(y)) for x, y in points], source)
        if kind not in KINDS:
            raise ValueError(f"kind = {kind!r}: no kind of claim")
        numbers = {name: _number(body[key]) for key, name in KINDS[kind].form.items()}
        return cast("PrivacyClaim", KINDS[kind](source, **numbers))

    @staticmethod
    def parse(text: str, source: str = "") -> PrivacyClaim:
        """Return the claim that a text of the command line states.

        Raises
        ------
        ParameterError
            If it states none.

        Examples
        --------
        >>> PrivacyClaim.parse("eps=1,delta=1e-6")
        PrivacyClaim(epsilon=1.0, delta=1e-06, source='')
        """
        kind, *rest = (part.strip() for part in text.split(":"))
        try:
            unit = KINDS.get("gdp" if kind == "gaussian" else kind)
            if unit is not None and len(rest) == len(unit.form):
                numbers = dict(zip(unit.form.values(), map(float, rest), strict=True))
                return cast("PrivacyClaim", unit(source, **numbers))
            named = dict(part.replace(" ", "").split("=") for part in text.split(","))
            if "eps" in named and named.keys() <= {"eps", "delta"}:
                return PrivacyClaim(float(named["eps"]), float(named.get("delta", 0)), source)
        except ValueError as error:
            if "claim needs" in str(error):
                raise ParameterError("claim", text, str(error)) from None
        raise ParameterError("claim", text, f"give {FORMS}")


def _check_parameter(name: str, value: float) -> None:
    """Refuse what is no parameter of a promise."""
    if not value >= 0:
        raise ValueError(f"{name} = {value}: a claim needs {name} >= 0")


def _number(value: object) -> float:
    """Return a number of a JSON form, which has a word where it is infinite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{value!r} is no number")
    return float(value)


#: Rounding forgiven in what must be at most 1.
ROUNDING = 1e-9


@dataclass(frozen=True)
class OtherClaim(PrivacyClaim):
    """A claim in another unit, none of which bounds the loss of every outcome."""

    epsilon: float = field(default=math.inf, init=False, repr=False)
    delta: float = field(default=0.0, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what is not a promise."""
        for name in self.form.values():
            object.__setattr__(self, name, number(name, getattr(self, name)))
        _check_parameter(self.parameter, self.value)

    @property
    def value(self) -> float:
        """The parameter."""
        return float(getattr(self, self.form[self.parameter]))

    @property
    def statement(self) -> str:
        """What is claimed, in its own unit."""
        return self.said.format(**vars(self))

    def to_json(self) -> dict[str, object]:
        """Return the JSON form, without its source."""
        return {"kind": self.kind, **{key: getattr(self, name) for key, name in self.form.items()}}


@dataclass(frozen=True)
class DivergenceClaim(OtherClaim):
    """A bound on divergences: its trade-off is that of two outcomes, which both directions bound.

    The region of events (p, q) that it allows is convex, as Rényi divergences are jointly
    quasi-convex, and by data processing no law within the claim leaves it.
    """

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
    said: ClassVar[str] = "ρ-zCDP with ρ = {rho:.6g}"

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
    said: ClassVar[str] = "Rényi DP of order {alpha:.6g} with ε = {bound:.6g}"

    def __post_init__(self) -> None:
        """Refuse what is not a promise."""
        super().__post_init__()
        if not 1 < self.alpha < math.inf:
            raise ValueError(f"alpha = {self.alpha}: a claim needs a finite order above 1")

    def of_events(self, p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
        """Return the smallest parameter by events and their complements."""
        return larger_divergence(self.alpha, p, not_p, q, not_q)

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
    said: ClassVar[str] = "μ-Gaussian DP with μ = {mu:.6g}"

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


#: Units whose claims are made of numbers, by what they are called in a file.
KINDS: dict[object, Any] = {
    unit.kind: unit for unit in (ZeroConcentratedClaim, RenyiClaim, GaussianClaim)
}
