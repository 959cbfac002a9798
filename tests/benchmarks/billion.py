"""A thousand million outcomes of SearchCom, kept in a store: kill it, start it again.

Run with ``python tests/benchmarks/billion.py FILE [SAMPLES]``; the same command goes on. It prints
what was counted, a digest of it, and how much of the time was spent outside the sampler.
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

import numpy as np

from pdpaudit.algorithms.searches.search_com import SearchCom
from pdpaudit.algorithms.statistics import CN
from pdpaudit.core.network import Network, adjacency_from_edges, default_seeds
from pdpaudit.sampling import Store, draw


class Timed:
    """A mechanism that knows how long it sampled."""

    def __init__(self, inner: SearchCom) -> None:
        self.inner, self.spent, self.claim = inner, 0.0, inner.claim

    def run(self, instance, rng):
        return self.inner.run(instance, rng)

    def sample(self, instance, size, rng):
        start = time.process_time()
        outputs = self.inner.sample(instance, size, rng)
        self.spent += time.process_time() - start
        return outputs


def network() -> Network:
    """2,000 people with 10 ties each, 40 of them targeted."""
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 2000, (2, 10_000))
    targeted = np.zeros(2000, dtype=np.bool_)
    targeted[rng.choice(2000, 40, replace=False)] = True
    adjacency = adjacency_from_edges(2000, ends[0], ends[1])
    return Network(adjacency, targeted, default_seeds(adjacency, targeted))


def main(path: str, samples: int = 10**9) -> None:
    mechanism = Timed(SearchCom(sop=CN(), max_degree=30))
    wall, cpu = time.perf_counter(), time.process_time()
    with Store(Path(path), {"mechanism": "SearchCom", "seed": "1"}) as store:
        draws = draw(
            mechanism, network().instance(), samples, seed=1, key=("billion",), store=store
        )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    digest = hashlib.sha256(repr(sorted(draws.counts.items())).encode()).hexdigest()[:16]
    drawn = max(store.added, 1)
    print(  # noqa: T201 - a benchmark speaks
        f"{len(draws):,} outcomes, {len(draws.counts)} different, digest {digest}; "
        f"{store.found:,} from the store, {store.added:,} drawn in {wall:.0f} s "
        f"({cpu:.0f} s of processor time, {cpu / drawn * 1e9:.0f} ns an outcome, "
        f"{1 - mechanism.spent / cpu:.2%} of it outside the sampler); "
        f"store {Path(path).stat().st_size / 2**20:.1f} MiB"
    )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
