"""Covariances of two columns clipped to a range, one row replaced by any numbers."""

import sys

import pandas as pd
import sklearn.linear_model._base

# The release is for an older scikit-learn, in which the module has this name.
sys.modules.setdefault("sklearn.linear_model.base", sklearn.linear_model._base)
from snsynth.models.dp_covariance import DPcovariance

from pdpaudit.adapters.libraries import replaced


class Covariance:
    claim = 1.0

    def pairs(self):
        return replaced([(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (50.0, 50.0)], sizes=(2, 5))

    def run(self, x, rng):
        frame = pd.DataFrame(x, columns=["a", "b"])
        made = DPcovariance(len(x), ["a", "b"], pd.DataFrame([[0.0, 1.0], [0.0, 1.0]]), 1.0)
        return [float(one) for one in made.release(frame)]
