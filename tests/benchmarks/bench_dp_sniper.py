"""DP-Sniper with small batches, for `bench_auditor`: with as many draws as our auditor has.

Written here by the published method (Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper: Black-box
discovery of differential privacy violations using classifiers", IEEE S&P 2021): a logistic
regression is trained on draws of both inputs, the event is that its score exceeds a threshold of
probability ``C``, ties broken at random, and fresh draws give the limits of Clopper and Pearson.
Half of the draws are fresh; the others are shared out among the pairs, half of each for training
and half for the threshold and for choosing among pairs, directions and sizes of a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from pdpaudit.core.protocols import Outputs

Floats = npt.NDArray[np.float64]

#: The probability of an event, the sizes of a batch, passes over the training sample, and the rate
#: that the steps start from.
C, BATCHES, PASSES, RATE = 0.01, (1_000, 10_000), 10, 0.1


@dataclass(frozen=True)
class Attack:
    """An event: the scores above a threshold, and a share of those that reach it."""

    weights: Floats
    threshold: float
    share: float

    def hits(self, features: Floats, rng: np.random.Generator) -> int:
        """Return how many rows belong to the event."""
        scores = (features @ self.weights).round(9)
        ties = np.count_nonzero(scores == self.threshold)
        return int(np.count_nonzero(scores > self.threshold) + rng.binomial(ties, self.share))


def features_of(outputs: object) -> Floats:
    """Return rows of numbers; what is no number is 0 in its place and 1 in a place of its own."""
    if isinstance(outputs, Outputs):
        distinct = [x if isinstance(x, tuple) else (x,) for x in outputs.distinct]
        table = np.array(
            [[np.nan if x is None else float(x) for x in one] for one in distinct], dtype=float
        )
        table = table[outputs.codes]
    else:
        table = np.asarray(outputs, dtype=float)
        table = table.reshape(len(table), -1)
    missing = np.isnan(table)
    kept = missing[:, missing.any(axis=0)].astype(float)
    return np.concatenate([np.where(missing, 0.0, table), kept], axis=1)


def trained(ours: Floats, theirs: Floats, batch: int, rng: np.random.Generator) -> Floats:
    """Return the weights of a logistic regression, by momentum on batches."""
    rows_ = np.concatenate([ours, theirs])
    sides = np.repeat([1.0, 0.0], [len(ours), len(theirs)])
    spread = np.maximum(rows_.std(axis=0), 1e-9)
    rows_ = np.column_stack([np.ones(len(rows_)), (rows_ - rows_.mean(axis=0)) / spread])
    weights, speed, step = np.zeros(rows_.shape[1]), np.zeros(rows_.shape[1]), 0
    steps = PASSES * max(1, len(rows_) // batch)
    for _ in range(PASSES):
        order = rng.permutation(len(rows_))
        for start in range(0, len(rows_) - batch + 1, batch):
            some = order[start : start + batch]
            miss = special.expit(rows_[some] @ weights) - sides[some]
            speed = 0.9 * speed - RATE * (1 - step / steps) * (miss @ rows_[some]) / batch
            weights, step = weights + speed, step + 1
    return weights[1:] / spread


def attack(weights: Floats, theirs: Floats) -> Attack:
    """Return the event of probability ``C`` on the side where it is less likely."""
    scores = (theirs @ weights).round(9)
    threshold = float(np.quantile(scores, 1 - C, method="higher"))
    above, at = (scores > threshold).mean(), (scores == threshold).mean()
    return Attack(weights, threshold, float(np.clip((C - above) / max(at, 1e-12), 0.0, 1.0)))


def bound(x: int, y: int, n: int, alpha: float) -> float:
    """Return the lower bound by the limits of Clopper and Pearson, half the error each."""
    low = special.betaincinv(x, n - x + 1, alpha / 2) if x else 0.0
    high = special.betaincinv(y + 1, n - y, 1 - alpha / 2) if y < n else 1.0
    return float(np.log(low / high)) if low > high else 0.0


def sniped(mechanism: Any, size: int, alpha: float, seed: int) -> float:
    """Return the bound on a mechanism's loss, with four times ``size`` draws."""
    rng = np.random.default_rng(seed)

    def drawn(instance: object, count: int) -> Floats:
        return features_of(mechanism.sample(instance, count, rng))

    pairs, found = mechanism.pairs(), list[tuple[float, int, Attack, tuple[object, object]]]()
    each = size // len(pairs) // 2
    for pair in pairs:
        learn, judge = ([drawn(x, each) for x in (pair.left, pair.right)] for _ in range(2))
        width = min(len(part[0]) for part in [*learn, *judge])
        learn, judge = ([part[:, :width] for part in parts] for parts in (learn, judge))
        for batch in BATCHES:
            weights = trained(learn[0], learn[1], min(batch, each), rng)
            for sign, ours, theirs in ((1.0, 0, 1), (-1.0, 1, 0)):
                event = attack(sign * weights, judge[theirs])
                inside = [event.hits(judge[side], rng) for side in (ours, theirs)]
                promise = float(np.log((inside[0] + 0.5) / (inside[1] + 0.5)))
                found.append((promise, len(found), event, (pair[1 + ours], pair[1 + theirs])))
    _, _, event, sides = max(found, key=lambda one: one[:2])
    width = len(event.weights)
    x, y = (event.hits(drawn(side, size)[:, :width], rng) for side in sides)
    return bound(x, y, size, alpha)
