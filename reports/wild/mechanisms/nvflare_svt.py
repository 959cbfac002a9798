"""Ten weights of a model through the sparse vector filter."""

import logging

import numpy as np
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.filters.svt_privacy import SVTPrivacy

from pdpaudit.adapters.libraries import vectors

logging.disable(logging.CRITICAL)


class Sparse:
    claim = 1.0  # .1 for the threshold, .33 for the choice, .1 for each of three values

    def pairs(self):
        # Each weight is clipped to [-gamma, gamma]: weights of any models are neighbours.
        return [(a + [0.0] * 7, b + [0.0] * 7) for a, b in vectors(0.5)]

    def run(self, x, rng):
        data = DXO(DataKind.WEIGHT_DIFF, data={"w": np.array(x)}).to_shareable()
        made = SVTPrivacy(fraction=0.3, epsilon=0.1, noise_var=0.1, gamma=0.5, tau=0.1)
        return [float(one) for one in from_shareable(made.process(data, FLContext())).data["w"]]
