"""What a search puts out whose rounds found certain vertices: their components, in order."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from pdpaudit.core.network import SearchInstance

from .orders import targets_in_order
from .simulation import shelf

__all__ = ["component_order", "output_of", "outputs_of"]


def component_order(instance: SearchInstance, start: tuple[int, ...]) -> tuple[int, ...]:
    """Return the targets found from ``start``, in order.

    Which vertices were examined before makes no difference, nor do protected neighbours: see
    :func:`.sfs.sfs`.
    """

    def build() -> tuple[int, ...]:
        targets, _ = targets_in_order(instance, start, instance.adjacency.shape[0])
        return tuple(targets.tolist())

    return shelf(instance, "outputs").get(("component", start), build, len)


def output_of(instance: SearchInstance, path: tuple[int, ...]) -> tuple[int, ...]:
    """Return all targets found, in order, by a search whose rounds found the vertices ``path``.

    O(targets found), beside the components not met before.
    """

    def build() -> tuple[int, ...]:
        starts = (instance.seeds, *((winner,) for winner in path))
        return tuple(chain.from_iterable(component_order(instance, start) for start in starts))

    return shelf(instance, "outputs").get(path, build, len)


def outputs_of(instance: SearchInstance, paths: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the output that belongs to each path.

    Most are known; asking the dictionary first spares a call for each.
    """
    known = shelf(instance, "outputs").kept
    return [known[path] if path in known else output_of(instance, path) for path in paths]
