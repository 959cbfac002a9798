"""What private searches lose under the relations of the literature, beside the protected one.

Everybody's place in a network is looked at: vertex 0 is the seed, the targets come next, and then
the protected people. The degree bound and the limit of a round are public and stay, as they must
where a person appears.

With CN one tie moves all scores the same way, by at most Δ = 1. So if a target is found, it still
is with its noise raised by Δ only, where rewiring needs 2Δ: with noise of scale 4Δ/ε that is ε/4,
with Δ/ε it is ε. That nobody is found is kept by lowering the noise of the m' remaining targets
that the tie moves, or the limit by the at most d protected people that it moves, which costs
d/(2·IC)·ε, less than ε/4. Statistic-first search may examine one protected person more or less,
which is another step of the limit: ε/(2·IC), and so is one person more to examine. A person who
appears moves scores only if tied to whom was found, and then PTarget has examined that person.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from pdpaudit.core.graphs import (
    Graph,
    GraphPair,
    edge_pairs,
    labelled_graphs,
    rows,
    ties_at,
    vertex_pairs,
)
from pdpaudit.core.network import SearchInstance, adjacency_from_edges
from pdpaudit.core.protocols import Law, LawfulMechanism
from pdpaudit.outputs.records import JSON
from pdpaudit.report.blocks import Table
from pdpaudit.report.sources import section

from ..searches.baselines import SFS
from ..searches.noisy_max import PTargetMainText, PTargetRepaired, Recommended
from ..searches.search_com import PTarget, SearchCom
from ..statistics import CN
from .small_graphs import Losses, four_digits

#: People in the networks that all are looked at of.
PEOPLE = 5

#: Queries after which a round of SearchCom gives up.
LIMIT = 1

Relation = Literal["protected", "protected tie", "protected person", "tie", "contacts"]

#: The relations, and what changes between neighbours.
RELATIONS: dict[Relation, str] = {
    "protected": "a protected person's contacts",
    "protected tie": "a tie of a protected person",
    "protected person": "a protected person more",
    "tie": "any tie",
    "contacts": "any person's contacts",
}


class Sizes(NamedTuple):
    """The public degree bound d, IC at it, targets left to find m, and those that move m'."""

    degree: int
    impact: int
    targets: int
    moved: int


class Most(NamedTuple):
    """What one round loses at most, as a formula and at ε = 1."""

    words: str
    of: Callable[[Sizes], float]


class Searched(NamedTuple):
    """A search, and what it loses at most under each relation, by a proof on paper."""

    name: str
    search: LawfulMechanism
    most: dict[Relation, Most]


_NOTHING = Most("0", lambda _: 0.0)
_EVERYTHING = Most("∞", lambda _: math.inf)
_EPSILON = Most("ε", lambda _: 1.0)
_HALF = Most("ε/2", lambda _: 0.5)
_TIE = Most("max(1, m')·ε/4", lambda of: max(1, of.moved) / 4)

#: A tie between targets decides whom statistic-first search lists.
_LISTED: dict[Relation, Most] = {"tie": _EVERYTHING, "contacts": _EVERYTHING}

SEARCHED = (
    Searched("SFS", SFS(), {**dict.fromkeys(RELATIONS, _NOTHING), **_LISTED}),
    Searched(
        "SearchCom",
        SearchCom(sop=CN(), epsilon=1.0, max_degree=PEOPLE - 1, stop=LIMIT),
        {
            "protected": Most(
                "max(ε, m'·ε/4 + (1 - m'/IC)·ε/2)",
                lambda of: max(1.0, of.moved / 4 + (1 - of.moved / of.impact) / 2),
            ),
            "protected tie": _TIE,
            "protected person": Most(
                "max(ε/4 + ε/(2·IC), m'·ε/4)",
                lambda of: max(1 / 4 + 1 / (2 * of.impact), of.moved / 4),
            ),
            "tie": _TIE,
            "contacts": Most("m·d·ε/2", lambda of: of.targets * of.degree / 2),
        },
    ),
    Searched(
        "PTarget",
        PTarget(sop=CN(), epsilon=1.0, components=2, max_degree=PEOPLE - 1, stop=LIMIT),
        {
            "protected": Most(
                "max(ε + ε/(2·IC), m'·ε/4 + (IC + 1 - m')/IC·ε/2)",
                lambda of: max(
                    1 + 1 / (2 * of.impact),
                    of.moved / 4 + (of.impact + 1 - of.moved) / of.impact / 2,
                ),
            ),
            "protected tie": Most(
                "max(1, m')·ε/4 + ε/(2·IC)", lambda of: max(1, of.moved) / 4 + 1 / (2 * of.impact)
            ),
            "protected person": _TIE,
            **_LISTED,
        },
    ),
    Searched(
        "PTarget:main-text",
        PTargetMainText(sop=CN(), epsilon=1.0, components=2, max_degree=PEOPLE - 1),
        {
            "protected": Most("2ε", lambda _: 2.0),
            "protected tie": _EPSILON,
            "protected person": _EPSILON,
            **_LISTED,
        },
    ),
    Searched(
        "PTarget:repaired",
        PTargetRepaired(sop=CN(), epsilon=1.0, components=2, max_degree=PEOPLE - 1),
        {
            "protected": _EPSILON,
            "protected tie": _HALF,
            "protected person": _HALF,
            **_LISTED,
        },
    ),
    Searched(
        "Recommended",
        Recommended(sop=CN(), epsilon=1.0, max_degree=PEOPLE - 1),
        {
            "protected": _EPSILON,
            "protected tie": _HALF,
            "protected person": _HALF,
            "tie": _HALF,
            "contacts": Most("d·ε", lambda of: float(of.degree)),
        },
    ),
)


@dataclass(frozen=True)
class _OnGraphs:
    """A search of vertex 0 on graphs whose vertices up to ``targets`` are targeted."""

    search: LawfulMechanism
    targets: int

    def law(self, graph: Graph) -> Law:
        """Return the exact law."""
        ends = np.array(graph.ties, dtype=np.int64).reshape(-1, 2)
        adjacency = adjacency_from_edges(graph.vertices, ends[:, 0], ends[:, 1])
        targeted = np.arange(graph.vertices) <= self.targets
        return self.search.law(SearchInstance(adjacency, targeted, (0,)))


def search_losses(search: LawfulMechanism, people: int) -> dict[Relation, float]:
    """Return the largest loss under each relation on all networks of that many people."""
    largest = dict.fromkeys(RELATIONS, 0.0)
    for targets in range(1, people):
        losses = Losses(_OnGraphs(search, targets))
        for relation, who, pair in _pairs(people):
            if who > targets or relation in ("tie", "contacts"):
                largest[relation] = max(largest[relation], losses.of(pair))
    return largest


@cache
def _pairs(people: int) -> tuple[tuple[Relation, int, GraphPair], ...]:
    """Return all pairs, each with the last of those whose tie or contacts change."""
    return tuple(_made(people))


def _made(people: int) -> Iterator[tuple[Relation, int, GraphPair]]:
    for pair in edge_pairs(labelled_graphs(people)):
        ((_, last),) = set(pair.right.ties) - set(pair.left.ties)
        yield "protected tie", last, pair
        yield "tie", last, pair
    for graph in labelled_graphs(people):
        for who, pair in enumerate(vertex_pairs([graph])):
            yield "protected person", who, pair
    for who, graph in itertools.product(range(people), labelled_graphs(people)):
        for row in rows(graph, [ties_at(people, who)]):
            for left, right in itertools.combinations(row, 2):
                yield "protected", who, GraphPair("", left, right)
                yield "contacts", who, GraphPair("", left, right)


def search_sections() -> tuple[JSON, ...]:
    """Return what the searches lose, as a section of the dossier."""
    rows = []
    for one in SEARCHED:
        losses = search_losses(one.search, PEOPLE).values()
        rows.append((one.name, *four_digits(losses)))
    proved = tuple(
        (one.name, *(one.most[relation].words for relation in RELATIONS)) for one in SEARCHED
    )
    columns = ("search", *RELATIONS.values())
    text = [
        "What the searches of Kearns et al. lose under relations that they do not claim, beside "
        "the one that they do: SFS, one round of SearchCom, PTarget for k = 2, and the first "
        "target that Recommended finds, a search without SFS. Losses at ε = 1 with CN, by exact "
        f"laws, on all networks of {PEOPLE} people and every partition, with the seed and then the "
        f"targets numbered first. The degree bound, {PEOPLE - 1}, and the limit of a round, "
        f"{LIMIT}, are public and the same on both sides.",
        "One tie moves all scores the same way, so it costs about half of what all contacts do: of "
        "one protected tie the ε of the main text is true. But a tie between two targets decides "
        "whom SFS lists, and no noise hides that.",
        "A targeted person more or less is refused as a relation: the list names whom it finds, so "
        "the loss is infinite wherever that person may be found.",
    ]
    bounds = (
        "No network loses more, by the proofs in the module: d is the public degree bound, IC the "
        "impact cardinality at it, m the targets left to find, m' of them those that move."
    )
    tables = [
        Table("Loss of a search, by exact laws", columns, tuple(rows)),
        Table("At most, of one round, for any network", columns, proved, note=bounds),
    ]
    return (section("The searches under other relations", text=text, tables=tables),)
