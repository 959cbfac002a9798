"""Outputs as they are, counted by the engine without the guard: what raises is raised."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import cloudpickle

from pdpaudit.core.protocols import Outputs
from pdpaudit.sampling.engine import Batch, Means, batch, chunks

# Workers may have another package named tests: diffprivlib brings one.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@dataclass
class Tally:
    """How often each output came up."""

    counts: Counter[Hashable]

    def update(self, other: Tally) -> None:
        self.counts.update(other.counts)


def tally(
    mechanism: Any, instance: Any, size: int, *, seed: int, key: Any, **means: Unpack[Means]
) -> Any:
    """Run a mechanism many times and count its outputs."""
    total, store = Tally(Counter()), means.get("store")
    kept = None if store is None else store.kept(Tally, key, seed, instance)
    many = hasattr(mechanism, "sample")

    # Inside a function, so that worker processes are sent it by value.
    def work(mechanism: Any, instance: Any, sizes: Any, seed: int, keys: Any) -> Batch[Tally]:
        def one(size: int, rng: Any) -> Tally:
            if hasattr(mechanism, "sample"):
                outputs = mechanism.sample(instance, size, rng)
                coded = isinstance(outputs, Outputs)
                return Tally(Counter(outputs.counts() if coded else outputs))
            fresh = getattr(instance, "fresh", lambda: instance)
            return Tally(Counter(mechanism.run(fresh(), rng) for _ in range(size)))

        return batch(one, sizes, seed, keys)

    for _, part in chunks(partial(work, mechanism, instance), many, size, seed, key, means, kept):
        total.update(part)
    return total.counts
