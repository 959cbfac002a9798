"""Made-up networks of people who worked together: papers and authors, films and actors.

Each person joins some groups, and everyone in a group knows everyone. How many groups a person
joins has a heavy tail, groups are small and large, and who has much in common meets again. See
Newman, Strogatz, Watts, "Random graphs with arbitrary degree distributions and their applications"
(Physical Review E 64, 026118, 2001), for networks of people in groups.

The two models here have the size, the degrees and the clustering of real ones (how nearly is tested
with figures and sources); but whom the best connected meet is left to chance, while in reality they
meet each other more often.

One of them, with a population for each regime, is there to simulate on where none is given. The
regimes are those of the experiments of Kearns, Roth, Wu, Yaroslavtsev, "Privacy for the Protected
(Only)": one dominant targeted component, several large ones, or small ones alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError, ParameterError
from pdpaudit.core.network import (
    Network,
    adjacency_from_edges,
    distinct,
    pair_keys,
    targeted_components,
)
from pdpaudit.sampling import stream

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

#: Of the ties wanted, those that come from groups; the others make the number exact.
FROM_GROUPS = 0.995

#: How near to that they are to come, and rounds in which to come there.
NEAR, ROUNDS = 0.003, 12


@dataclass(frozen=True)
class Affiliations:
    """What a network of people who worked together is like."""

    people: int
    ties: int
    exponent: float
    most: int
    spread: float
    variety: float

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        if self.people < 4 or not self.people <= self.ties <= self.people * (self.people - 1) // 8:
            raise InputError(
                f"{self.people} people with {self.ties} ties: give at least 4 people, and between "
                "one tie a person and a quarter of all there can be"
            )
        if self.exponent <= 2 or self.most < 1 or self.spread <= 0 or self.variety < 0:
            raise InputError(
                "exponent must be above 2, most at least 1, spread above 0 and variety not below 0"
            )


#: Authors of papers, as many as in the DBLP of the paper's experiments.
DBLP = Affiliations(956_043, 3_738_044, 2.65, 200, 70.0, 0.4)

#: Actors in films, as many as in the IMDB of the paper's experiments.
IMDB = Affiliations(235_710, 4_587_715, 2.4, 100, 700.0, 0.6)


def scaled(model: Affiliations, share: float) -> Affiliations:
    """Return a model of fewer people with as many ties each."""
    people = int(model.people * share)
    return replace(model, people=people, ties=int(people * model.ties / model.people))


def affiliation_network(model: Affiliations, rng: np.random.Generator) -> csr_array:
    """Make up a network."""
    n = model.people
    joined = np.minimum((1.0 - rng.random(n)) ** (-1.0 / (model.exponent - 1.0)), model.most)
    person = np.repeat(np.arange(n), joined.astype(np.int64))
    field = person + rng.laplace(0.0, model.spread, len(person))
    person = person[np.argsort(field)]
    keys = _from_groups(person, model, rng)
    if len(keys) > model.ties:
        raise InputError(
            f"{n} people with {model.ties} ties: their groups make {len(keys)}; give more ties or "
            "a larger exponent"
        )
    keys = _friends_of_friends(keys, model, rng)
    low, high = np.divmod(keys, n)
    return adjacency_from_edges(n, low, high)


def _from_groups(person: Ints, model: Affiliations, rng: np.random.Generator) -> Ints:
    """Cut the row of places into groups, as large as it takes for the ties wanted.

    All rounds share their random numbers, so ties grow with the size asked for and the size is
    found by halving once it is known between what. The fewest are given where even they are many.
    """
    n, places = model.people, len(person)
    weight = np.exp(rng.normal(-(model.variety**2) / 2, model.variety, places))
    luck = rng.standard_exponential(places)
    near = _near(np.arange(n), n, rng)
    wanted = FROM_GROUPS * model.ties
    below, above = 0.0, math.inf
    size = _size_for(wanted, places, model.variety)
    best = np.zeros(0, dtype=np.int64)
    for _ in range(ROUNDS):
        keys = _connected(_pairs(_ends(size * weight, luck), person, n), near, n)
        if not len(best) or len(best) > model.ties or len(best) < len(keys) <= model.ties:
            best = keys
        if abs(len(keys) - wanted) <= NEAR * wanted:
            break
        below, above = (size, above) if len(keys) < wanted else (below, size)
        # Those who meet again make no new tie, so groups must be larger than their number says.
        guess = size * math.sqrt(wanted / len(keys))
        size = guess if below < guess < above else (below + min(above, 2 * below)) / 2
    return best


def _size_for(ties: float, places: int, variety: float) -> float:
    """Return the mean of G for which groups of 1 + G make that number of different ties.

    G is geometric with a log-normal mean s·W, E[W] = 1 and E[W²] = exp(variety²). A group has
    G(G + 1)/2 ties, s²·E[W²] in the mean, and 1 + s people: s²·E[W²]/(1 + s) ties a place.
    """
    each = ties / places / math.exp(variety**2)
    return (each + math.sqrt(each * (each + 4.0))) / 2.0


def _ends(mean: Reals, luck: Reals) -> Ints:
    """Return where each group of 1 + G places ends, G ≥ 1 geometric by its luck with that mean."""
    # P(G > k) = (1 - 1/mean)^k; a mean of 1 or below is a G of 1.
    rate = -np.log1p(-1.0 / np.maximum(mean, 1.0 + 1e-9))
    ends = np.cumsum(1 + np.maximum(np.ceil(luck / rate), 1.0).astype(np.int64))
    return np.minimum(ends[: int(np.searchsorted(ends, len(mean))) + 1], len(mean))


def _pairs(ends: Ints, person: Ints, n: int) -> Ints:
    """Return every pair within a group once, as a key ``low · n + high``, ascending."""
    place = np.arange(len(person))
    after = np.repeat(ends, np.diff(ends, prepend=0)) - place - 1
    first = np.repeat(place, after)
    start = np.repeat(np.cumsum(after) - after, after)
    second = first + 1 + np.arange(len(first)) - start
    return pair_keys(n, person[first], person[second])


def _connected(keys: Ints, near: Ints, n: int) -> Ints:
    """Give everybody without a tie one to the person near them."""
    low, high = np.divmod(keys, n)
    alone = np.ones(n, dtype=np.bool_)
    alone[low] = alone[high] = False
    lone = np.flatnonzero(alone)
    return distinct(np.concatenate([keys, pair_keys(n, lone, near[lone])]))


def _near(people: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return somebody else of n people for each, near by most often."""
    return (people + rng.geometric(0.001, len(people)) % (n - 1) + 1) % n


def _friends_of_friends(keys: Ints, model: Affiliations, rng: np.random.Generator) -> Ints:
    """Let people meet friends of their friends until the number of ties is right.

    A random tie takes clustering away from both its ends. Where friends have no friends but one's
    own, somebody near is met instead.
    """
    n = model.people
    low, high = np.divmod(keys, n)
    network = adjacency_from_edges(n, low, high)
    start, degree = network.indptr[:-1].astype(np.int64), np.diff(network.indptr)

    def friend(of: Ints) -> Ints:
        met = start[of] + (rng.random(len(of)) * degree[of]).astype(np.int64)
        found: Ints = network.indices[met].astype(np.int64)
        return found

    while len(keys) < model.ties:
        missing, before = model.ties - len(keys), len(keys)
        one = rng.integers(0, n, missing)
        keys = distinct(np.concatenate([keys, pair_keys(n, one, friend(friend(one)))]))
        if len(keys) - before < missing / 8:
            one = rng.integers(0, n, model.ties - len(keys))
            keys = distinct(np.concatenate([keys, pair_keys(n, one, _near(one, n, rng))]))
    return keys


#: Of the people of an IMDB-size network.
SHARE = 0.02

#: Root of the network and of its populations.
SEED = 1


@dataclass(frozen=True)
class Infection:
    """How a targeted population was planted by infection."""

    first: int
    p: float
    q: float
    rounds: int


#: Parameters found by trying; what they give is in tests.
REGIMES = {
    "dominant": Infection(3551, 0.3, 0.8, 3),
    "several": Infection(3551, 0.6, 0.96, 3),
    "fragmented": Infection(2340, 0.3, 0.98, 8),
}


def regime_of(sizes: Sequence[int]) -> str | None:
    """Return the regime of targeted components of these sizes, if it is any of the three.

    Dominant: the largest holds at least half of the targets and ten times as many as the second.
    Several: it holds at most two fifths, and at least three hold a twentieth and ten targets each.
    Fragmented: it holds at most a twentieth.
    """
    ordered = sorted(sizes, reverse=True)
    total, largest = sum(ordered), ordered[0]
    second = ordered[1] if len(ordered) > 1 else 0
    if 2 * largest >= total and largest >= 10 * second:
        return "dominant"
    large = [size for size in ordered if 20 * size >= total and size >= 10]
    if 5 * largest <= 2 * total and len(large) >= 3:
        return "several"
    return "fragmented" if 20 * largest <= total else None


def plant(adjacency: csr_array, infection: Infection, seed: int, title: str) -> Network:
    """Return a network with a population planted by infection.

    A search starts at the first of the second largest component: from within the largest there is
    nothing to look for while it lasts.
    """
    rng = stream(seed, "infect")
    targeted = infect(adjacency, infection.first, infection.p, infection.q, infection.rounds, rng)
    components = targeted_components(adjacency, targeted)
    start = components[min(1, len(components) - 1)]
    return Network(adjacency, targeted, seeds=(int(start[0]),), title=title)


def embedded_network(regime: str) -> tuple[Network, Infection]:
    """Return a network of 4,714 people with 91,750 ties, and how its targets were planted."""
    if regime not in REGIMES:
        raise ParameterError("regime", regime, f"choose one of {', '.join(REGIMES)}")
    adjacency = affiliation_network(scaled(IMDB, SHARE), stream(SEED, "embedded network"))
    infection = REGIMES[regime]
    return plant(adjacency, infection, SEED, f"made-up actors, {regime}"), infection


def infect(
    adjacency: csr_array,
    source: int,
    p: float,
    q: float,
    rounds: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.bool_]:
    """Infect from ``source`` for some rounds, then make some of the infected immune.

    Rounds are synchronous: in each, every vertex not yet infected that had an infected neighbour
    when the round began is infected with probability ``p``, once, however many infected
    neighbours it has. In the end each infected vertex, the source too, is made immune with
    probability ``q``; those left are the targeted (Kearns et al., algorithm Infect(G, s, p, q, k)).

    Parameters
    ----------
    adjacency : csr_array, shape (n, n)
        Symmetric 0/1 matrix.
    source : int
        Where the infection starts.
    p, q : float
        Probability of infection per round, and of immunity; in [0, 1].
    rounds : int
        Number of rounds, k ≥ 0.
    rng : Generator
        Source of all randomness, used in index order.

    Returns
    -------
    ndarray of bool, shape (n,)
        The targeted population, which may be empty. O(rounds · (n + m)).

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import networkx as nx
    >>> from pdpaudit.core.network import adjacency_from_networkx
    >>> path, _ = adjacency_from_networkx(nx.path_graph(5))
    >>> infect(path, 0, p=1.0, q=0.0, rounds=2, rng=np.random.default_rng(1)).tolist()
    [True, True, True, False, False]
    """
    n = adjacency.shape[0]
    if not 0 <= source < n:
        raise InputError(f"source = {source}: vertices are 0..{n - 1}")
    for name, value in (("p", p), ("q", q)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} = {value}: a probability lies between 0 and 1")
    if rounds < 0:
        raise InputError(f"rounds = {rounds}: must be at least 0")

    infected = np.zeros(n, dtype=np.bool_)
    infected[source] = True
    for _ in range(rounds):
        # In 64 bits: a hub may have more infected neighbours than the matrix's own type can count.
        touched = adjacency @ infected.astype(np.int64) > 0
        exposed = np.flatnonzero(touched & ~infected)
        infected[exposed[rng.random(len(exposed)) < p]] = True
    infected[infected] = rng.random(infected.sum()) >= q
    return infected
