"""What lower bound a candidate event promises on fresh samples, judged by a discovery sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.inference.claim_bounds import expected_claim_bound

#: Rank of an event that cannot show anything.
LAST = -1e9

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ExpectedBound:
    """What will be confirmed: how many fresh samples a side, at what error, for which δ.

    For a ``claim`` that is not (ε, δ) the bounds are of its own parameter.
    """

    size: int
    alpha: float
    delta: float = 0.0
    caution: float = 1.0
    claim: PrivacyClaim | None = None

    def expected(
        self,
        inside: npt.ArrayLike,
        runs: npt.ArrayLike,
        inside_other: npt.ArrayLike,
        runs_other: npt.ArrayLike,
    ) -> Floats:
        """Return the bounds to expect from candidate events, rather too low than too high.

        The bound on fresh samples is taken by the delta method (Katz and others, 1978) and not cut
        off at 0, so that candidates that show nothing yet can still be ranked: below 0 it counts
        standard errors. ``-inf`` where δ explains everything.
        """
        ours = np.asarray(inside, dtype=np.float64) + 0.375
        theirs = np.asarray(inside_other, dtype=np.float64) + 0.375
        n, m = np.asarray(runs, dtype=np.float64) + 0.75, np.asarray(runs_other) + 0.75
        # The arcsine of the square root of a share has the same error wherever it lies.
        p = _share(np.arcsin(np.sqrt(ours / n)) - self.caution / 2 / np.sqrt(n))
        q = _share(np.arcsin(np.sqrt(theirs / m)) + self.caution / 2 / np.sqrt(m))
        return self.from_shares(p, q)

    def from_shares(self, p: Floats, q: Floats) -> Floats:
        """Return the bounds to expect from events of these probabilities."""
        if self.claim is not None and not self.claim.approximate:
            return expected_claim_bound(self.claim, p, q, self.size, self.alpha)
        excess = p - self.delta
        shown = excess > 0
        excess = np.where(shown, excess, 1.0)
        variance = p * (1 - p) / excess**2 + (1 - q) / q
        z = float(special.ndtri(1 - self.alpha))
        error = np.sqrt(variance / self.size)
        bound = np.log(excess / q) - z * error
        # What shows nothing yet is ranked in its own errors: in nats an event that nearly always
        # happens would stand above what only lacks samples. One that always happens comes last.
        bound = np.where(bound < 0, bound / np.maximum(error, 1e-12), bound)
        bound = np.where(q < 1, bound, LAST)
        return np.where(shown, bound, -np.inf)


def _share(angle: Floats) -> Floats:
    return np.asarray(np.sin(np.clip(angle, 1e-9, np.pi / 2)) ** 2, dtype=np.float64)
