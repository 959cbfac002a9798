"""Made-up networks of papers and films: exact in size, and alike in tail and clustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from pdpaudit.core.errors import InputError
from pdpaudit.experiments.generated_networks import (
    DBLP,
    IMDB,
    Affiliations,
    affiliation_network,
    scaled,
)
from pdpaudit.io import read_network


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
    assert abs(network - network.T).nnz == 0
    assert network.has_canonical_format


@settings(max_examples=40)
@given(
    st.integers(4, 300),
    st.floats(1, 8),
    st.floats(2.01, 5),
    st.integers(1, 100),
    st.floats(0.1, 500),
    st.floats(0, 2),
    st.integers(0, 9),
)
def test_any_model_has_its_size_or_is_refused(
    people, degree, exponent, most, spread, variety, seed
):
    try:
        model = Affiliations(people, int(people * degree), exponent, most, spread, variety)
        network = affiliation_network(model, np.random.default_rng(seed))
    except InputError:
        return
    assert network.nnz == 2 * model.ties
    assert np.diff(network.indptr).min() >= 1


def test_the_same_seed_gives_the_same_network():
    one, two, other = (
        affiliation_network(scaled(DBLP, 0.01), np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert abs(one - two).nnz == 0
    assert abs(one - other).nnz > 0


@dataclass(frozen=True)
class Likeness:
    """What is compared: degrees in means, their tail's exponent from some means on, clustering."""

    quantiles: tuple[float, ...]
    tail: tuple[float, float]
    clustering: float
    transitivity: float


QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)

#: Measured: US films 1900-2023, 28,372 actors, and computational linguistics, 59,985 authors.
COSTARS = Likeness((0.16, 0.49, 1.09, 2.34, 8.72), (2.34, 2.63), 0.638, 0.186)
COAUTHORS = Likeness((0.35, 0.47, 0.93, 2.10, 8.40), (4.4, 2.97), 0.715, 0.261)

#: Published. Clustering of 225,226 film actors: Watts, Strogatz, "Collective dynamics of
#: 'small-world' networks", Nature 393, 1998. A part of DBLP, 317,080 authors: KONECT, "com-dblp"
#: (transitivity 30.6 %; exponent 3.26 from degree 29 on, 4.4 means).
ACTORS_CLUSTERING = 0.79
AUTHORS_TRANSITIVITY, AUTHORS_TAIL = 0.306, (4.4, 3.26)


def likeness(network, tail_from: float) -> Likeness:
    degree = np.diff(network.indptr)
    mean, rng = degree.mean(), np.random.default_rng(4)
    large = degree[degree >= tail_from * mean]
    exponent = 1 + len(large) / np.log(large / (large.min() - 0.5)).sum()
    # Local clustering of 4,000 vertices and 200,000 wedges: standard errors 0.006 and 0.001.
    some = rng.choice(len(degree), 4000, replace=False)
    rows = network[some].astype(np.int32)
    ties = (rows @ network.astype(np.int32)).multiply(rows).sum(axis=1)
    clustering = np.where(degree[some] > 1, ties / np.maximum(1, _wedges(degree[some])), 0).mean()
    wedges = _wedges(degree.astype(float))
    middle = rng.choice(len(degree), 200_000, p=wedges / wedges.sum())
    around = degree[middle]
    one = (rng.random(len(middle)) * around).astype(int)
    other = (one + 1 + (rng.random(len(middle)) * (around - 1)).astype(int)) % around
    ends = (network.indices[network.indptr[middle] + at] for at in (one, other))
    closed = network[tuple(ends)].mean()
    return Likeness(
        tuple(np.quantile(degree, QUANTILES) / mean), (tail_from, exponent), clustering, closed
    )


def _wedges(degree):
    return degree * (degree - 1)


@pytest.mark.parametrize(
    ("name", "told"), [("movie_costars", COSTARS), ("acl_coauthors", COAUTHORS)]
)
def test_what_real_networks_are_like_is_as_stated(shared_data, name, told):
    network = read_network(
        shared_data / name / "edges.csv.gz", plant=lambda adjacency, _: _one_target(adjacency)
    ).network.adjacency
    found = likeness(network, told.tail[0])
    assert found.quantiles == pytest.approx(told.quantiles, abs=0.01)
    assert found.tail[1] == pytest.approx(told.tail[1], abs=0.05)
    assert found.clustering == pytest.approx(told.clustering, abs=0.03)
    assert found.transitivity == pytest.approx(told.transitivity, abs=0.005)


def _one_target(adjacency):
    return np.arange(adjacency.shape[0]) == 0


@pytest.mark.parametrize("share", [0.05, pytest.param(1.0, marks=pytest.mark.slow)])
def test_the_actors_are_as_clustered_and_as_unequal_as_real_ones(share):
    """Degrees within 30 %, tail within 0.25, clustering within 0.05, transitivity within 0.06."""
    network = affiliation_network(scaled(IMDB, share), np.random.default_rng(3))
    found = likeness(network, COSTARS.tail[0])
    assert found.quantiles == pytest.approx(COSTARS.quantiles, rel=0.3)
    assert found.tail[1] == pytest.approx(COSTARS.tail[1], abs=0.25)
    assert found.clustering == pytest.approx(ACTORS_CLUSTERING, abs=0.05)
    assert found.transitivity == pytest.approx(COSTARS.transitivity, abs=0.06)
    assert giant(network) > 0.94  # the co-stars'


@pytest.mark.parametrize("share", [0.05, pytest.param(1.0, marks=pytest.mark.slow)])
def test_the_authors_are_as_clustered_and_as_unequal_as_real_ones(share):
    """Degrees within 30 %, tail within 0.25, clustering within 0.08, transitivity within 0.05."""
    network = affiliation_network(scaled(DBLP, share), np.random.default_rng(3))
    found = likeness(network, AUTHORS_TAIL[0])
    assert found.quantiles == pytest.approx(COAUTHORS.quantiles, rel=0.3)
    assert found.tail[1] == pytest.approx(AUTHORS_TAIL[1], abs=0.25)
    assert found.clustering == pytest.approx(COAUTHORS.clustering, abs=0.08)
    assert found.transitivity == pytest.approx(AUTHORS_TRANSITIVITY, abs=0.05)
    assert giant(network) > 0.86  # the co-authors'


def giant(network) -> float:
    _, label = connected_components(network, directed=False)
    return np.bincount(label).max() / network.shape[0]


@pytest.mark.parametrize(
    "numbers",
    [
        *[(3, 3, 3, 1, 1, 0), (10, 9, 3, 1, 1, 0), (10, 90, 3, 1, 1, 0), (10, 10, 2, 1, 1, 0)],
        *[(10, 10, 3, 0, 1, 0), (10, 10, 3, 1, 0, 0), (10, 10, 3, 1, 1, -1)],
    ],
)
def test_what_cannot_be_made_is_refused(numbers):
    with pytest.raises(InputError):
        Affiliations(*numbers)
