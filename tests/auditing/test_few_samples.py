"""With few samples every pair is still looked at: what leaks on one of many is found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pdpaudit.auditing import Config, audit
from pdpaudit.core.protocols import PrivacyClaim

#: Pairs of a search with a limit on its queries, and samples at which a part of them was left out.
PAIRS, SAMPLES = 263, 10_000


class Limited:
    """Counts with noise; between two neighbours alone a hard limit ends some runs."""

    claim = PrivacyClaim(1.0)

    def __init__(self, at: int) -> None:
        self.at = at

    def pairs(self) -> Iterator[tuple[int, int]]:
        return ((number, number + 1) for number in range(0, 2 * PAIRS, 2))

    def run(self, number: int, rng: np.random.Generator) -> tuple[str, float]:
        noise = rng.laplace(scale=2.0)
        return ("limit", 0.0) if number == self.at and rng.random() < 0.3 else ("found", noise)


@pytest.mark.parametrize("place", [0, 262])
def test_a_leak_on_one_pair_of_many_is_found_with_few_samples(place: int) -> None:
    """The limit ends 30 % of the runs on one side and none on the other; the seed is pinned.

    Sixteen runs a side in the first look show none of them with probability 0.003.
    """
    mechanism = Limited(2 * place + 1)
    claim = audit(mechanism, [], Config(seed=1, samples=SAMPLES), subject="limited").claims[0]
    assert claim.status == "violated"
    assert "limit" in claim.event.words
