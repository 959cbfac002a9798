"""Searches whose rounds depend on earlier outputs alone, many times over.

Such a round compares the noisy scores of the targets not found yet: what was examined on the way
to earlier ones plays no part. So the runs that have found the same components share one state.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pdpaudit.contracts import Outputs, StatisticOfProximity
from pdpaudit.network import SearchInstance

from .laws.noise import Noise
from .levels import Levels, draw_winners, group_by_score
from .rounds import sample_rounds
from .searching import score
from .simulation import component_labels, component_members, shelf, targeted_mask

__all__ = ["remaining_targets", "sample_winners"]

Ints = npt.NDArray[np.int64]


def remaining_targets(
    instance: SearchInstance, sop: StatisticOfProximity, found: tuple[int, ...]
) -> Levels:
    """Return the targets outside the components ``found``, by score; one scoring, then kept."""

    def build() -> Levels:
        members = component_members(instance)
        known = np.concatenate([members[label] for label in found])
        scores = score(sop, instance, known.tolist())
        left = np.flatnonzero(targeted_mask(instance) & ~np.isin(component_labels(instance), found))
        return group_by_score(left, scores[left])

    key = ("whatever order", sop, found)
    return shelf(instance, "states").get(key, build, lambda levels: len(levels.members))


def sample_winners(
    instance: SearchInstance,
    sop: StatisticOfProximity,
    noise: Noise,
    rounds: int,
    size: int,
    rng: np.random.Generator,
    threshold: float | None = None,
) -> Outputs:
    """Draw outputs of a search that takes the noisy winner among the remaining targets.

    Parameters
    ----------
    instance : SearchInstance
        The network.
    sop : StatisticOfProximity
        The statistic.
    noise : Noise
        What is added to every score.
    rounds : int
        Number of search rounds, k - 1.
    size : int
        Number of outputs.
    rng : Generator
        Source of all randomness.
    threshold : float, optional
        A score that gets noise as well, and ends the search where it comes first.

    Returns
    -------
    Outputs
        The targets found, in order. O(size · rounds · levels), beside one scoring for each set of
        components met.
    """

    def play(
        found: tuple[int, ...], hidden: Ints, last: bool, rng: np.random.Generator
    ) -> tuple[Ints, Ints]:
        targets = remaining_targets(instance, sop, found)
        size = hidden.shape[1]
        if not len(targets.members):
            return np.full(size, -1), hidden
        positions, _ = draw_winners(targets, noise, size, rng, threshold)
        return np.where(positions >= 0, targets.members[positions], -1), hidden

    return sample_rounds(instance, size, rounds, play, rng, ordered=False)
