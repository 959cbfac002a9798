"""What the project is about: it publishes how many of its patients are positive."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pdpaudit import PrivacyClaim


class Positives:
    """A count with Laplace noise of scale 1/ε; one patient moves it by one."""

    claim = PrivacyClaim(1.0, source="data sheet, section 2")

    def pairs(self) -> Iterator[tuple[str, int, int]]:
        """Yield two inputs that differ in one patient."""
        yield "one patient more", 10, 11

    def run(self, count: int, rng: np.random.Generator) -> float:
        """Return one release."""
        return float(count + rng.laplace(scale=1 / self.claim.epsilon))
