"""The paper's infection process, which plants a targeted population in a network."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from pdpaudit.core.errors import InputError


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
    sick = np.flatnonzero(infected)
    targeted = np.zeros(n, dtype=np.bool_)
    targeted[sick[rng.random(len(sick)) >= q]] = True
    return targeted
