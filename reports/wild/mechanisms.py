"""Mechanisms of released packages that no adapter makes; each imports its own package when made."""

import logging
import sys
import warnings
from itertools import permutations

from pdpaudit.adapters.libraries import Estimator, added, replaced, vectors
from pdpaudit.relations import Bounded, People


def equal(pairs):
    """Return pairs as tuples: inputs that are equal share the runs by which pairs are compared."""
    return [(tuple(one), tuple(other)) for one, other in pairs]


class Counts:
    """Noisy counts of DataSynthesizer of one binary attribute, one record more or less."""

    claim = 0.01

    def pairs(self):
        # Both values are taken by somebody, so that the domain is the same on both sides.
        rest = [0, 1] * 200
        return equal((rest + one, rest + other) for one, other in added([0, 1], sizes=(0,)))

    def run(self, x, rng):
        import pandas as pd
        from DataSynthesizer.lib.PrivBayes import get_noisy_distribution_of_attributes

        frame = pd.DataFrame({"a": x})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = get_noisy_distribution_of_attributes(["a"], frame, epsilon=0.01)
        return tuple(float(count) for count in found["count"])


class Regression(Estimator):
    """A linear regression of diffprivlib; by the exact form of its numbers any is broken.

    Of two records: what one of them changes in a sum does not depend on how many there are.
    """

    representation = False

    def __init__(self, low, high, intercept, features, labels):
        from diffprivlib.models import LinearRegression

        made = LinearRegression(bounds_X=(low, high), bounds_y=(low, high), fit_intercept=intercept)
        super().__init__(made, bounds=features, labels=labels)

    def pairs(self):
        return equal(replaced([(tuple(row), label) for row, label in self.records], sizes=(1,)))


class Sparse:
    """Ten weights of a model through the sparse vector filter of NVFlare."""

    claim = 1.0  # .1 for the threshold, .33 for the choice, .1 for each of three values

    def __init__(self):
        logging.disable(logging.CRITICAL)

    def pairs(self):
        # Each weight is clipped to [-gamma, gamma]: weights of any models are neighbours.
        return [(a + [0.0] * 7, b + [0.0] * 7) for a, b in vectors(0.5)]

    def run(self, x, rng):
        import numpy as np
        from nvflare.apis.dxo import DXO, DataKind, from_shareable
        from nvflare.apis.fl_context import FLContext
        from nvflare.app_common.filters.svt_privacy import SVTPrivacy

        data = DXO(DataKind.WEIGHT_DIFF, data={"w": np.array(x)}).to_shareable()
        made = SVTPrivacy(fraction=0.3, epsilon=0.1, noise_var=0.1, gamma=0.5, tau=0.1)
        return [float(one) for one in from_shareable(made.process(data, FLContext())).data["w"]]


class Unary:
    """Unary encoding of one value out of four, as the client of pure-ldp sends it."""

    def __init__(self, optimised=False, epsilon=1.0):
        from pure_ldp.frequency_oracles.unary_encoding import UEClient

        self.claim = epsilon
        self.client = UEClient(epsilon=epsilon, d=4, use_oue=optimised)

    def pairs(self):
        return list(permutations(range(1, 5), 2))  # every two values of the domain

    def run(self, x, rng):
        return tuple(int(bit) for bit in self.client.privatise(x))


class Bounds:
    """Approximate bounds of smartnoise-sql of a list of numbers, one number more or less."""

    claim = 1.0
    seedable = False

    def pairs(self):
        return added([0.0, 100.0, -3.0, float("inf"), float("nan")], sizes=(0, 2, 30))

    def run(self, x, rng):
        from snsql.sql._mechanisms.approx_bounds import approx_bounds

        return approx_bounds(x, 1.0)


class Covariance:
    """Covariances of smartnoise-synth of two columns clipped to a range, one row replaced."""

    claim = 1.0

    def pairs(self):
        return replaced([(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (50.0, 50.0)], sizes=(2, 5))

    def run(self, x, rng):
        import pandas as pd
        import sklearn.linear_model._base

        # The release is for an older scikit-learn, in which the module has this name.
        sys.modules.setdefault("sklearn.linear_model.base", sklearn.linear_model._base)
        from snsynth.models.dp_covariance import DPcovariance

        frame = pd.DataFrame(x, columns=["a", "b"])
        made = DPcovariance(len(x), ["a", "b"], pd.DataFrame([[0.0, 1.0], [0.0, 1.0]]), 1.0)
        return [float(one) for one in made.release(frame)]


class VectorSum:
    """The sum of a vector of one number by partition, as the engine of PipelineDP computes it.

    Which partitions are shown costs as much as their sums, and all of δ.
    """

    claim = "eps=2,delta=0.001"
    seedable = False
    domain = People({"partition": ["a"], "value": Bounded(-4.0, 4.0)}, sizes=(20, 24), records=2)

    def __init__(self, norm=4.0):
        import pipeline_dp as library

        logging.disable(logging.CRITICAL)
        self.library, self.backend = library, library.LocalBackend()
        self.parameters = library.AggregateParams(
            metrics=[library.Metrics.VECTOR_SUM],
            noise_kind=library.NoiseKind.LAPLACE,
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            vector_norm_kind=library.aggregate_params.NormKind.Linf,
            vector_max_norm=norm,
            vector_size=1,
        )
        self.columns = library.DataExtractors(
            privacy_id_extractor=lambda row: row["person"],
            partition_extractor=lambda row: row["partition"],
            value_extractor=lambda row: [row["value"]],
        )

    def run(self, rows, rng):
        accountant = self.library.NaiveBudgetAccountant(total_epsilon=2.0, total_delta=1e-3)
        engine = self.library.DPEngine(accountant, self.backend)
        found = engine.aggregate(rows, self.parameters, self.columns)
        accountant.compute_budgets()
        return {key: float(shown.vector_sum[0]) for key, shown in sorted(found)}


def __getattr__(name):
    """Make what OpenDP's own adapter then takes: the noisiest maximum of three counts."""
    if name != "noisy_max":
        raise AttributeError(name)
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T=int), size=3),
        dp.linf_distance(T=int),
        dp.zero_concentrated_divergence(),
        scale=1.0,
    )
