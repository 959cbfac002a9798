"""The noises against scipy's distributions, and their inverses against themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pdpaudit.algorithms.laws.noise import Exponential, Gumbel, Laplace, Noise
from pdpaudit.core.errors import InputError

KINDS = [(Laplace, stats.laplace), (Gumbel, stats.gumbel_r), (Exponential, stats.expon)]
SCALES = st.floats(1e-3, 1e3)


@pytest.mark.parametrize(("kind", "reference"), KINDS)
@given(z=st.floats(-30, 30), scale=SCALES)
def test_agrees_with_scipy(kind, reference, z, scale):
    noise, other = kind(scale), reference(scale=scale)
    x = z * scale
    assert isinstance(noise, Noise)
    with np.errstate(divide="ignore", over="ignore"):
        for ours, theirs in [
            (np.exp(noise.logcdf(x)), other.cdf(x)),
            (np.exp(noise.logsf(x)), other.sf(x)),
            (np.exp(noise.logpdf(x)), other.pdf(x)),
        ]:
            # scipy forms 1 - cdf for the Gumbel tail, hence the absolute part
            assert ours == pytest.approx(theirs, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize(("kind", "reference"), KINDS)
@given(log_u=st.floats(-600, -1e-12), scale=SCALES)
def test_quantile_inverts_the_distribution_function(kind, reference, log_u, scale):
    noise = kind(scale)
    x = noise.quantile_log(log_u)
    # log cdf changes by the hazard times the rounding of x
    slack = 4e-15 * abs(x) * np.exp(noise.logpdf(x) - noise.logcdf(x)) if x != 0 else 0.0
    assert float(noise.logcdf(x)) == pytest.approx(log_u, rel=1e-12, abs=slack + 1e-15)


@pytest.mark.parametrize("kind", [Laplace, Gumbel, Exponential])
def test_largest_of_many_is_one_draw(kind):
    noise = kind(2.0)
    u = np.linspace(0.001, 0.999, 50)
    x = noise.quantile_log(np.log(u) / 1000)
    assert np.exp(1000 * noise.logcdf(x)) == pytest.approx(u, rel=1e-9)


@pytest.mark.parametrize("kind", [Laplace, Gumbel, Exponential])
def test_no_noise_is_a_step(kind):
    noise = kind(0.0)
    assert np.exp(noise.logcdf([-1e-300, 0.0, 1.0])).tolist() == [0.0, 1.0, 1.0]
    assert np.exp(noise.logsf([-1e-300, 0.0, 1.0])).tolist() == [1.0, 0.0, 0.0]
    assert noise.quantile_log(np.log([0.1, 0.9])).tolist() == [0.0, 0.0]
    assert noise.draw(2, np.random.default_rng(1)).tolist() == [0.0, 0.0]
    with pytest.raises(InputError, match="no density"):
        noise.logpdf(0.0)


@pytest.mark.parametrize(("kind", "reference"), KINDS)
def test_draws_have_the_distribution(kind, reference):
    draws = kind(2.0).draw(20_000, np.random.default_rng(3))
    assert stats.kstest(draws, reference(scale=2.0).cdf).pvalue > 1e-4


@pytest.mark.parametrize("kind", [Laplace, Gumbel, Exponential])
@pytest.mark.parametrize("scale", [-1.0, np.nan, np.inf])
def test_refuses_a_bad_scale(kind, scale):
    with pytest.raises(InputError, match="scale"):
        kind(scale)
