"""The noisiest maximum of three counts under zero-concentrated differential privacy."""

import opendp.prelude as dp

dp.enable_features("contrib")

noisy_max = dp.m.make_noisy_max(
    dp.vector_domain(dp.atom_domain(T=int), size=3),
    dp.linf_distance(T=int),
    dp.zero_concentrated_divergence(),
    scale=1.0,
)
