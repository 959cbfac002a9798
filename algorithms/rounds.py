"""Many runs of a search over several rounds, those in the same state played together."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from pdpaudit.contracts import Outputs
from pdpaudit.network import SearchInstance

from .simulation import component_labels, output_of, seed_components

__all__ = ["Play", "sample_rounds"]

Ints = npt.NDArray[np.int64]


class Play(Protocol):
    """One search round of runs that have found the same components."""

    def __call__(
        self, found: tuple[int, ...], hidden: Ints, last: bool, rng: np.random.Generator
    ) -> tuple[Ints, Ints]:
        """Play the round.

        Parameters
        ----------
        found : tuple of int
            Labels of the components found, the seeds' first.
        hidden : ndarray of int, shape (c, g)
            For each of the g runs, what a later round needs to know besides its output.
        last : bool
            Whether no round follows, so that the new hidden state is not wanted.
        rng : Generator
            Source of all randomness.

        Returns
        -------
        winners : ndarray of int, shape (g,)
            The target each run found, or -1.
        hidden : ndarray of int, shape (c', g)
            The hidden state after the round.
        """
        ...


def sample_rounds(
    instance: SearchInstance,
    size: int,
    rounds: int,
    play: Play,
    rng: np.random.Generator,
    *,
    ordered: bool,
) -> Outputs:
    """Draw ``size`` outputs of a search that alternates SFS and ``rounds`` rounds of ``play``.

    Runs are played together as long as they have found the same components, whichever of a
    component's vertices was found first: a statistic sees the set of the targets found alone.

    Parameters
    ----------
    instance : SearchInstance
        The network; what is worked out about it is kept with it.
    size, rounds : int
        Number of runs, and of search rounds in each.
    play : Play
        One round.
    rng : Generator
        Source of all randomness.
    ordered : bool
        Whether the order in which the components were found matters to the hidden state.

    Returns
    -------
    Outputs
        O(size · rounds) beside what ``play`` costs, and one state per set (or order) of
        components met.
    """
    n = instance.adjacency.shape[0]
    labels = component_labels(instance)
    codes = np.zeros(size, dtype=np.int64)
    paths: list[tuple[int, ...]] = [()]
    groups = {seed_components(instance): (np.arange(size), np.empty((0, size), dtype=np.int64))}
    for left in range(rounds - 1, -1, -1):
        winners = np.full(size, -1)
        parts: dict[tuple[int, ...], list[tuple[Ints, Ints]]] = {}
        for found, (runs, hidden) in groups.items():
            won, after = play(found, hidden, left == 0, rng)
            winners[runs] = won
            if left:
                for label, chosen in _by_label(won, labels):
                    longer = (*found, label) if ordered else tuple(sorted((*found, label)))
                    parts.setdefault(longer, []).append((runs[chosen], after[:, chosen]))
        # A path is coded by the code of its beginning and its end.
        keys, codes_found = pd.factorize(codes * (n + 1) + winners + 1)
        paths = [_extended(paths, *divmod(int(key), n + 1)) for key in codes_found]
        codes = keys.astype(np.int64)
        groups = {
            found: (
                np.concatenate([runs for runs, _ in pieces]),
                np.concatenate([hidden for _, hidden in pieces], axis=1),
            )
            for found, pieces in parts.items()
        }
        if not groups:
            break
    return Outputs([output_of(instance, path) for path in paths], codes)


def _by_label(winners: Ints, labels: npt.NDArray[np.integer[Any]]) -> list[tuple[int, Ints]]:
    """For each component found, its label and the runs that found it."""
    going = np.flatnonzero(winners >= 0)
    reached = labels[winners[going]]
    order = np.argsort(reached, kind="stable")
    distinct, first = np.unique(reached[order], return_index=True)
    pieces = np.split(going[order], first[1:])
    return list(zip(distinct.tolist(), pieces, strict=False))


def _extended(paths: list[tuple[int, ...]], code: int, end: int) -> tuple[int, ...]:
    return paths[code] if end == 0 else (*paths[code], end - 1)
