"""Made-up networks of people who worked together: papers and authors, films and actors.

Each person joins some groups, and everyone in a group knows everyone. How many groups a person
joins has a heavy tail, and who has much in common meets again. See Newman, Strogatz, Watts, "Random
graphs with arbitrary degree distributions and their applications" (Physical Review E 64, 2001).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.errors import InputError
from pdpaudit.network import adjacency_from_edges

__all__ = ["DBLP", "IMDB", "Affiliations", "affiliation_network", "scaled"]

Ints = npt.NDArray[np.int64]

#: Of the ties wanted, those that come from groups at first; the others make the number exact.
FROM_GROUPS = 0.98

#: Rounds in which the number of ties is brought near from below.
ROUNDS = 6


@dataclass(frozen=True)
class Affiliations:
    """What a network of people who worked together is like.

    Attributes
    ----------
    people, ties : int
        Size; every person has a tie.
    exponent : float
        Of the degree distribution's tail, above 2.
    most : int
        Groups that one person joins at most.
    spread : float
        How far from their own field people join groups, in people; small: the same meet again.

    Raises
    ------
    InputError
        For numbers outside their range.
    """

    people: int
    ties: int
    exponent: float
    most: int
    spread: float

    def __post_init__(self) -> None:
        """Refuse what cannot be made."""
        if self.people < 4 or not self.people <= self.ties <= self.people * (self.people - 1) // 8:
            raise InputError(
                f"{self.people} people with {self.ties} ties: give at least 4 people, and between "
                "one tie a person and a quarter of all there can be"
            )
        if self.exponent <= 2 or self.most < 1 or self.spread <= 0:
            raise InputError("exponent must be above 2, most at least 1 and spread above 0")


#: Authors of papers, as many as in the DBLP of the paper's experiments.
DBLP = Affiliations(956_043, 3_738_044, 2.8, 400, 100.0)

#: Actors in films, as many as in the IMDB of the paper's experiments.
IMDB = Affiliations(235_710, 4_587_715, 2.3, 200, 200.0)


def scaled(model: Affiliations, share: float) -> Affiliations:
    """Return a model of fewer people with as many ties each.

    Examples
    --------
    >>> scaled(DBLP, 0.01).people
    9560
    """
    people = int(model.people * share)
    return replace(model, people=people, ties=int(people * model.ties / model.people))


def affiliation_network(model: Affiliations, rng: np.random.Generator) -> csr_array:
    """Make up a network.

    Parameters
    ----------
    model : Affiliations
        What it is to be like.
    rng : Generator
        Source of all randomness.

    Returns
    -------
    csr_array of int8, shape (people, people)
        Adjacency matrix with exactly the ties asked for. O(m log m).

    Raises
    ------
    InputError
        If so few ties cannot come of people who join so many groups.

    Examples
    --------
    >>> network = affiliation_network(scaled(IMDB, 0.01), np.random.default_rng(1))
    >>> network.shape[0], network.nnz // 2, int(np.diff(network.indptr).min()) > 0
    (2357, 45875, True)
    """
    n = model.people
    person = np.repeat(np.arange(n), _groups_joined(model, rng))
    field = person + rng.laplace(0.0, model.spread, len(person))
    person = person[np.argsort(field)]
    goal = wanted = FROM_GROUPS * model.ties
    for _ in range(ROUNDS):
        # Those who meet again make no new tie, so groups must be larger than their number says.
        keys = _connected(_pairs(_ends(len(person), goal, rng), person, n), n, rng)
        if 0.97 * wanted <= len(keys) <= model.ties:
            break
        goal *= wanted / len(keys)
    return _exact(keys, model, rng)


def _groups_joined(model: Affiliations, rng: np.random.Generator) -> Ints:
    u = 1.0 - rng.random(model.people)
    joined: Ints = np.minimum(u ** (-1.0 / (model.exponent - 1.0)), model.most).astype(np.int64)
    return joined


def _ends(places: int, ties: float, rng: np.random.Generator) -> Ints:
    """Cut a row into groups of 1 + G places, G geometric, that make so many ties; where each ends.

    A group of 1 + G has G(G + 1)/2 ties, 1/p² in the mean, and 1 + 1/p people: 1/(p(1 + p)) ties
    for each place in a group.
    """
    p = min(1.0, (math.sqrt(1.0 + 4.0 * places / ties) - 1.0) / 2.0)
    ends = np.cumsum(1 + rng.geometric(p, places))
    ends = ends[: int(np.searchsorted(ends, places)) + 1]
    return np.minimum(ends, places)


def _pairs(ends: Ints, person: Ints, n: int) -> Ints:
    """Return every pair within a group once, as a key ``low · n + high``, ascending."""
    place = np.arange(len(person))
    after = np.repeat(ends, np.diff(ends, prepend=0)) - place - 1
    first = np.repeat(place, after)
    start = np.repeat(np.cumsum(after) - after, after)
    second = first + 1 + np.arange(len(first)) - start
    return _keys(person[first], person[second], n)


def _keys(one: Ints, other: Ints, n: int) -> Ints:
    low, high = np.minimum(one, other), np.maximum(one, other)
    return _distinct((low * n + high)[low != high])


def _distinct(keys: Ints) -> Ints:
    """Return what np.unique does, by sorting: for millions ten times as fast as its hashing."""
    keys = np.sort(keys)
    distinct: Ints = keys[np.diff(keys, prepend=-1) != 0]
    return distinct


def _connected(keys: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Give everybody without a tie one to somebody near."""
    low, high = np.divmod(keys, n)
    alone = np.ones(n, dtype=np.bool_)
    alone[low] = alone[high] = False
    lone = np.flatnonzero(alone)
    near = _near(lone, n, rng)
    return _distinct(np.concatenate([keys, _keys(lone, near, n)]))


def _exact(keys: Ints, model: Affiliations, rng: np.random.Generator) -> csr_array:
    """Add pairs of people near each other until the number of ties is right."""
    n = model.people
    if len(keys) > model.ties:
        raise InputError(
            f"{n} people with {model.ties} ties: their groups make {len(keys)}; give more ties or "
            "a larger exponent"
        )
    while len(keys) < model.ties:
        missing = model.ties - len(keys)
        one = rng.integers(0, n, missing)
        keys = _distinct(np.concatenate([keys, _keys(one, _near(one, n, rng), n)]))
    low, high = np.divmod(keys, n)
    return adjacency_from_edges(n, low, high)


def _near(people: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return somebody else for each, near by most often."""
    step = rng.geometric(0.001, len(people)) % (n - 1) + 1
    return (people + step) % n
