"""Searches whose rounds depend on earlier outputs alone, many times over.

Such a round compares the noisy scores of the targets not found yet: what was examined on the way
to earlier ones plays no part. So the runs that have found the same components, in whatever order
and whichever of their vertices first, share one state.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pdpaudit.core.network import SearchInstance
from pdpaudit.core.protocols import Outputs, StatisticOfProximity

from ..laws.noise import Noise
from ..searches.rounds import score
from .partition import (
    by_label,
    component_labels,
    component_members,
    outputs_of_rounds,
    remaining,
    seed_components,
    shelf,
)
from .score_levels import Levels, draw_winners, group_by_score

__all__ = ["remaining_targets", "sample_winners"]

Ints = npt.NDArray[np.int64]


def remaining_targets(
    instance: SearchInstance, sop: StatisticOfProximity, found: tuple[int, ...]
) -> Levels:
    """Return the targets outside the components ``found``, by score; one scoring, then kept."""

    def build() -> Levels:
        members = component_members(instance)
        known = np.concatenate([members[label] for label in found])
        scores = score(sop, instance, known)
        left = remaining(instance, found)
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
    """Draw outputs of a search that takes the noisy winner among the remaining targets."""
    labels = component_labels(instance)
    winners = np.full((rounds, size), -1)
    groups = {seed_components(instance): np.arange(size)}
    for winners_now in winners:
        parts: dict[tuple[int, ...], list[Ints]] = {}
        for found, runs in groups.items():
            targets = remaining_targets(instance, sop, found)
            if not len(targets.members):
                continue
            positions, _ = draw_winners(targets, noise, len(runs), rng, threshold)
            won = np.where(positions >= 0, targets.members[positions], -1)
            winners_now[runs] = won
            for label, chosen in by_label(won, labels):
                parts.setdefault(tuple(sorted((*found, label))), []).append(runs[chosen])
        groups = {found: np.concatenate(runs) for found, runs in parts.items()}
    return outputs_of_rounds(instance, winners)
