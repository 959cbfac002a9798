"""Mechanisms that keep exactly what they claim, to the last digit: the hardest to be fair to."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pdpaudit.algorithms.searches.noisy_max import PTargetRepaired
from pdpaudit.algorithms.statistics import CN
from pdpaudit.algorithms.zoo import Laplace, ReportNoisyMax2, TruncatedGeometric
from pdpaudit.attacks.pair_families import planted, squeeze
from pdpaudit.core.privacy_loss import exact_loss
from pdpaudit.core.protocols import Law, Outputs, PrivacyClaim


@dataclass(frozen=True)
class FromLaws:
    """Draws from two exact laws, and claims their exact loss."""

    left: Law
    right: Law
    claim: PrivacyClaim = field(init=False)

    def __post_init__(self) -> None:
        loss = exact_loss(self.left, self.right).epsilon
        object.__setattr__(self, "claim", PrivacyClaim(loss, source="its exact law"))

    def pairs(self) -> Iterator[tuple[str, str]]:
        yield "left", "right"

    def run(self, instance: str, rng: np.random.Generator) -> Hashable:
        return self.sample(instance, 1, rng)[0]

    def sample(self, instance: str, size: int, rng: np.random.Generator) -> Outputs:
        law = getattr(self, instance).probabilities
        shares = np.fromiter(law.values(), float)
        return Outputs(list(law), rng.choice(len(law), size=size, p=shares / shares.sum()))


class OnePair:
    """A mechanism on the first of its pairs only, claiming its exact loss there."""

    def __init__(self, mechanism: Any, epsilon: float) -> None:
        self.claim = PrivacyClaim(epsilon, source="closed form")
        self.run, self.sample = mechanism.run, mechanism.sample
        self._pair = tuple(mechanism.pairs()[0])

    def pairs(self) -> list[Any]:
        return [self._pair]


def randomised_response() -> FromLaws:
    return FromLaws(Law({0: 0.75, 1: 0.25}), Law({0: 0.25, 1: 0.75}))


def truncated_geometric() -> FromLaws:
    mechanism = TruncatedGeometric(1.0)
    return FromLaws(mechanism.law((1.0,)), mechanism.law((0.0,)))


def noisy_max() -> FromLaws:
    mechanism = ReportNoisyMax2(1.0)
    pair = mechanism.pairs()[2]
    return FromLaws(mechanism.law(pair.left), mechanism.law(pair.right))


def repaired_search() -> FromLaws:
    """A squeeze on the smallest planted network: a dozen outcomes, all lists of vertices."""
    mechanism = PTargetRepaired(sop=CN())
    pair = next(iter(squeeze(next(iter(planted())), np.random.default_rng(1))))
    return FromLaws(mechanism.law(pair.left.instance()), mechanism.law(pair.right.instance()))


def laplace() -> OnePair:
    """Real values: hundreds of thresholds to be tempted by."""
    return OnePair(Laplace(1.0), 1.0)


NULLS = {
    make.__name__: make
    for make in (randomised_response, truncated_geometric, noisy_max, repaired_search, laplace)
}
