"""The paper's two broken searches, found by sampling alone: laws off, nothing hard-coded."""

from __future__ import annotations

import math
import time

import pytest

from pdpaudit.algorithms.searches.noisy_max import PTargetMainText
from pdpaudit.algorithms.searches.search_com import PTarget
from pdpaudit.algorithms.statistics import CN
from pdpaudit.auditing import Config, audit, benchmark_networks

#: Seconds of this process, on one core.
LIMITS = {"main text": 60.0, "appendix": 300.0}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "mechanism", "samples", "least", "most"),
    [
        ("main text", PTargetMainText(sop=CN()), 20_000, 1.5, 2.0),
        ("appendix", PTarget(sop=CN()), 1_000_000, 1.2, math.inf),
    ],
)
def test_it_is_broken_by_search(
    name: str, mechanism: PTarget, samples: int, least: float, most: float, seed: int
) -> None:
    """Beyond the claim of 1 by half, and by a fifth.

    The main text loses 2 at most, which is proved; at a confidence of 0.999 a bound lies above
    that in one seed of a thousand. A bound below ``least`` means a search that found nothing
    better: at these sizes bounds were 1.8 to 2.0 and 2.1 to 2.4 at a confidence of 0.95, six
    standard errors or more away. The seeds are the first three.
    """
    began = time.process_time()
    plan = Config(seed=seed, samples=samples, confidence=0.999)
    claim = audit(mechanism, benchmark_networks(), plan, subject=name).claims[0]
    assert claim.exact is None
    assert claim.status == "violated"
    assert least < (claim.lower_bound or 0.0) <= most
    assert time.process_time() - began < LIMITS[name]
