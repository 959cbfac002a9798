"""Approximate bounds of a list of numbers, one number more or less."""

from snsql.sql._mechanisms.approx_bounds import approx_bounds

from pdpaudit.adapters.libraries import added


class Bounds:
    claim = 1.0
    seedable = False

    def pairs(self):
        return added([0.0, 100.0, -3.0, float("inf"), float("nan")], sizes=(0, 2, 30))

    def run(self, x, rng):
        return approx_bounds(x, 1.0)
