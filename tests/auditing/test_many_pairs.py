"""Sound mechanisms of which many pairs lose as much as is claimed, by samples alone."""

from __future__ import annotations

import pytest

from pdpaudit import PrivacyClaim, audit
from pdpaudit.algorithms.searches.baselines import SFS
from pdpaudit.relations import Bounded, Records


class Dose:
    """Sound on each of its pairs, and as private as is claimed on most of them."""

    claim = PrivacyClaim(1.0)
    domain = Records(Bounded(0, 100), sizes=(0, 8))

    def statistic(self, rows):
        return sum(rows) / 100

    def sample(self, rows, size, rng):
        return self.statistic(rows) + rng.laplace(size=size)

    def run(self, rows, rng):
        return float(self.sample(rows, 1, rng)[0])


class Old(Dose):
    def statistic(self, rows):
        return sum(row > 50 for row in rows)


class Mean(Dose):
    """Of a table, and not of numbers: the inputs are made by the domain's form."""

    domain = Records({"age": Bounded(0, 100), "sex": ["f", "m"]}, sizes=(4, 4), form=tuple)

    def statistic(self, rows):
        return sum(row["age"] for row in rows) / 100


class Searched:
    """SFS, of which only runs are known."""

    claim = PrivacyClaim(1.0)

    def run(self, instance, rng):
        return SFS().run(instance, rng)


@pytest.mark.parametrize(
    "mechanism",
    [Old, *(pytest.param(one, marks=pytest.mark.slow) for one in (Mean, Dose, Searched))],
)
def test_what_is_sound_on_many_pairs_is_not_rejected(mechanism):
    [claim] = audit(mechanism(), seed=1).claims
    assert claim.status == "not_rejected"
    assert claim.detectable_epsilon == pytest.approx(1.7)
    assert claim.samples["confirmation"] < 20_000  # of 60,000: it ended once enough was known
