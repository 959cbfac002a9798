"""Noisy counts of two binary attributes, one record more or less."""

import warnings
from itertools import product

import pandas as pd
from DataSynthesizer.lib.PrivBayes import get_noisy_distribution_of_attributes

from pdpaudit.adapters.libraries import added


class Counts:
    claim = 0.1

    def pairs(self):
        # Every cell is taken by somebody, so that the domain is the same on both sides.
        every = list(product((0, 1), repeat=2))
        return [(every * 6 + one, every * 6 + other) for one, other in added(every, sizes=(0,))]

    def run(self, x, rng):
        frame = pd.DataFrame(x, columns=["a", "b"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = get_noisy_distribution_of_attributes(["a", "b"], frame, epsilon=0.1)
        return tuple(float(count) for count in found["count"])
