"""Graphs as inputs: one tie more or less, one vertex, or another way to wire one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pdpaudit.core.domains import MOST_PAIRS, InputPair
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import (
    Graph,
    complete,
    cut_off_pairs,
    edge_pairs,
    hubs,
    last_vertex_pairs,
    small_graphs,
    star,
    wheel,
)

__all__ = ["Graphs"]

#: Vertices up to which there is a graph of every kind.
SMALL = 4


@dataclass(frozen=True)
class Graphs:
    """Graphs: ``edge`` adds or takes away one tie, ``vertex`` one vertex with all its ties.

    ``rewired`` gives one vertex any other ties; the number of vertices stays.

    Parameters
    ----------
    vertices : tuple of two int
        The least and the most vertices; both sides of every pair keep to it.
    form : callable
        Makes an input of a :class:`pdpaudit.core.graphs.Graph`; default: one of networkx.

    Examples
    --------
    >>> left, right = Graphs((2, 2)).pairs("edge")[0]
    >>> left.ties, right.ties, list(Graphs().form(right).edges)
    ((), ((0, 1),), [(0, 1)])
    """

    vertices: tuple[int, int] = (1, 6)
    form: Callable[[Graph], object] = field(default=Graph.networkx, compare=False)

    relations = ("edge", "vertex", "rewired")

    def __post_init__(self) -> None:
        """Refuse what describes no graph."""
        least, most = self.vertices
        if not 0 <= least <= most or most < 2:
            raise InputError(f"Graphs({self.vertices}): give (least, most), most at least 2")

    @property
    def words(self) -> str:
        """What its inputs are."""
        return f"graphs of {self.vertices[0]} to {self.vertices[1]} vertices"

    def pairs(self, relation: str) -> list[InputPair]:
        """Return pairs of known shapes, the largest first, and of all graphs of few vertices."""
        least, most = self.vertices
        shapes = [
            complete(most),
            Graph(most, complete(most).ties[1:]),
            Graph(most, ()),
            star(most - 1),
        ]
        shapes += [wheel(most - 1)] * (most > 3) + [hubs(most - 2)] * (most > 2)
        graphs = [*shapes, *small_graphs(min(SMALL, most), least)]
        makers = {"edge": edge_pairs, "vertex": last_vertex_pairs, "rewired": cut_off_pairs}
        found = makers[relation](graphs)
        sized = dict.fromkeys((one, other) for _, one, other in found if other.vertices >= least)
        return list[InputPair](sized)[:MOST_PAIRS]

    def complete(self, relation: str) -> bool:
        """Say whether these are all: of each kind of graph there is one, so they are not."""
        return False
