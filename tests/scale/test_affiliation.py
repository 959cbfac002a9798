"""Made-up networks of papers and films: exact in size, and alike in tail and clustering."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from pdpaudit.affiliation import DBLP, IMDB, Affiliations, affiliation_network, scaled
from pdpaudit.errors import InputError


@pytest.mark.parametrize("model", [DBLP, IMDB], ids=["DBLP", "IMDB"])
def test_the_models_have_the_size_of_the_papers_networks(model):
    assert (model.people, model.ties) in [(956_043, 3_738_044), (235_710, 4_587_715)]


@pytest.mark.parametrize("share", [0.001, 0.01, 0.03])
@pytest.mark.parametrize("model", [DBLP, IMDB], ids=["DBLP", "IMDB"])
def test_size_is_exact_and_nobody_is_alone(model, share):
    small = scaled(model, share)
    network = affiliation_network(small, np.random.default_rng(1))
    assert network.shape == (small.people, small.people)
    assert network.nnz == 2 * small.ties
    assert np.diff(network.indptr).min() >= 1
    assert not network.diagonal().any()
    assert (network != network.T).nnz == 0
    assert network.has_canonical_format


@settings(max_examples=40)
@given(
    st.integers(4, 300),
    st.floats(1, 8),
    st.floats(2.01, 5),
    st.integers(1, 100),
    st.floats(0.1, 500),
    st.integers(0, 9),
)
def test_any_model_has_its_size_or_is_refused(people, degree, exponent, most, spread, seed):
    try:
        model = Affiliations(people, int(people * degree), exponent, most, spread)
        network = affiliation_network(model, np.random.default_rng(seed))
    except InputError:
        return
    assert network.nnz == 2 * model.ties
    assert np.diff(network.indptr).min() >= 1


def test_the_same_seed_gives_the_same_network():
    one, two, other = (
        affiliation_network(scaled(DBLP, 0.01), np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert (one != two).nnz == 0
    assert (one != other).nnz > 0


# Real networks of their kind. Co-authors of computational linguistics (62,620, shared data):
# average clustering 0.72, largest degree 354, exponent by the Hill estimate of the top hundredth
# 3.5. Co-stars (28,372): 0.64, 739. DBLP of 2012 (317,080; Yang, Leskovec, ICDM 2012): clustering
# 0.63. Actors (225,226; Watts, Strogatz, Nature 1998): 0.79.
@pytest.mark.parametrize(
    ("model", "clustering", "exponent", "giant"),
    [(DBLP, (0.6, 0.75), (2.8, 3.8), 0.9), (IMDB, (0.6, 0.8), (2.4, 4.0), 0.99)],
    ids=["DBLP", "IMDB"],
)
def test_tail_and_clustering_are_those_of_their_kind(model, clustering, exponent, giant):
    network = affiliation_network(scaled(model, 0.02), np.random.default_rng(3))
    graph = nx.from_scipy_sparse_array(network)
    some = np.random.default_rng(4).choice(len(graph), 1500, replace=False).tolist()
    assert clustering[0] < nx.average_clustering(graph, some) < clustering[1]
    degree = np.diff(network.indptr)
    most = np.sort(degree)[-len(degree) // 100 :]
    hill = 1 + len(most) / np.log(most / (most[0] - 0.5)).sum()
    assert exponent[0] < hill < exponent[1]
    assert degree.max() > 20 * np.median(degree)
    _, label = connected_components(network, directed=False)
    assert np.bincount(label).max() > giant * len(degree)


@pytest.mark.parametrize(
    "numbers",
    [(3, 3, 3, 1, 1), (10, 9, 3, 1, 1), (10, 90, 3, 1, 1), (10, 10, 2, 1, 1), (10, 10, 3, 0, 1)],
)
def test_what_cannot_be_made_is_refused(numbers):
    with pytest.raises(InputError):
        Affiliations(*numbers)
