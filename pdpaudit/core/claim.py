"""The promise that an audit tests: what it allows an attacker, whatever unit it is stated in.

Every promise is a trade-off: at each rate of false positives, the least rate of false negatives
that it leaves to an attacker who sees one output and says which of two neighbours it came from
(Dong, Roth and Su, "Gaussian differential privacy", 2022). It holds in both directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from pdpaudit.core.divergence import Floats, best_events, convex_curve, lower_curve
from pdpaudit.core.errors import ParameterError

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

    def __post_init__(self) -> None:
        """Refuse what is not a promise."""
        check_parameter("epsilon", self.epsilon)
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
        from pdpaudit.core.claim_kinds import ZeroConcentratedClaim

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
        from pdpaudit.core.claim_kinds import RenyiClaim

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
        from pdpaudit.core.claim_kinds import GaussianClaim

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
        from pdpaudit.core.claim_kinds import CurveClaim

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
        body = self.to_json()
        if self.approximate:
            return f"eps={self.epsilon!r}" + (f",delta={self.delta!r}" if self.delta else "")
        numbers = [body[key] for key in ("alpha", "epsilon", "rho", "mu") if key in body]
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
        known = {key: _number(value) for key, value in body.items() if key in NUMBERS}
        source = str(body.get("source", source))
        match body.get("kind"):
            case None:
                return PrivacyClaim(known["epsilon"], known.get("delta", 0.0), source)
            case "zcdp":
                return PrivacyClaim.zcdp(known["rho"], source)
            case "renyi":
                return PrivacyClaim.renyi(known["alpha"], known["epsilon"], source)
            case "gdp":
                return PrivacyClaim.gaussian(known["mu"], source)
            case "curve":
                points = cast("Sequence[tuple[object, object]]", body["points"])
                pairs = [(_number(x), _number(y)) for x, y in points]
                return PrivacyClaim.curve(pairs, source)
            case kind:
                raise ValueError(f"kind = {kind!r}: no kind of claim")

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
            if kind == "zcdp" and len(rest) == 1:
                return PrivacyClaim.zcdp(float(rest[0]), source)
            if kind in ("gdp", "gaussian") and len(rest) == 1:
                return PrivacyClaim.gaussian(float(rest[0]), source)
            if kind == "renyi" and len(rest) == 2:
                return PrivacyClaim.renyi(float(rest[0]), float(rest[1]), source)
            named = dict(part.replace(" ", "").split("=") for part in text.split(","))
            if "eps" in named and named.keys() <= {"eps", "delta"}:
                return PrivacyClaim(float(named["eps"]), float(named.get("delta", 0)), source)
        except ValueError as error:
            if "claim needs" in str(error):
                raise ParameterError("claim", text, str(error)) from None
        raise ParameterError("claim", text, f"give {FORMS}")


#: Fields of a claim's JSON form that are numbers; strings where they are infinite.
NUMBERS = ("epsilon", "delta", "rho", "alpha", "mu")


def check_parameter(name: str, value: float) -> None:
    """Refuse what is no parameter of a promise."""
    if not value >= 0:
        raise ValueError(f"{name} = {value}: a claim needs {name} >= 0")


def _number(value: object) -> float:
    """Return a number of a JSON form, which has a word where it is infinite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{value!r} is no number")
    return float(value)
