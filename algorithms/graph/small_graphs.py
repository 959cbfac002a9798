"""The loss of a mechanism on every pair of neighbouring graphs of few vertices, by exact laws.

Losses do not depend on how people are numbered, as far as people have the same role, so one graph
of each class under renumbering stands for all of them, unless a mechanism looks at the numbers:
then all graphs are looked at. Each relation that claims are made for has all its pairs here.

Private searches are looked at under the relations of the literature, beside the protected one.
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
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Literal, NamedTuple

import numpy as np

from pdpaudit.auditing.candidate_pairs import CandidatePair
from pdpaudit.auditing.exact_verdict import EXACT_SLACK
from pdpaudit.auditing.published_claims import MechanismClaim
from pdpaudit.core.graphs import (
    Graph,
    GraphPair,
    coloured_graphs,
    edge_pairs,
    graph_words,
    labelled_graphs,
    rewired_pairs,
    rows,
    small_graphs,
    ties_at,
    vertex_pairs,
)
from pdpaudit.core.network import SearchInstance, adjacency_from_edges
from pdpaudit.core.privacy_loss import ROUNDED, exact_loss, loss_for
from pdpaudit.core.protocols import Law, LawfulMechanism, LawUnavailable, PrivacyClaim
from pdpaudit.outputs.records import JSON
from pdpaudit.report.blocks import Table
from pdpaudit.report.sources import section

from ..searches.baselines import SFS
from ..searches.noisy_max import PTargetMainText, PTargetRepaired, Recommended
from ..searches.search_com import PTarget, SearchCom
from ..statistics import CN
from .noise import Floats, ProductRows
from .randomised_response import exchanged
from .recommendation import ProtectedPrediction

#: Vertices of the graphs that all are looked at of: 156 up to isomorphism, and 7 has 1,044.
VERTICES = 6

#: Begins the source of a claim that no publication makes.
MISTAKE = "mistake: "


@dataclass(eq=False)
class Losses:
    """The losses of a mechanism on pairs of graphs, in the unit of what it claims, ε if nothing.

    Equal laws are compared once.
    """

    mechanism: LawfulMechanism
    _numbers: dict[Graph, int] = field(default_factory=dict)
    _known: dict[Hashable, int] = field(default_factory=dict)
    _laws: list[Law | list[Floats]] = field(default_factory=list)
    _losses: dict[tuple[int, int], float] = field(default_factory=dict)

    def of(self, pair: GraphPair) -> float:
        """Return the loss of a pair, the worse of both directions."""
        left, right = sorted((self._number(pair.left), self._number(pair.right)))
        if (left, right) not in self._losses:
            laws = self._laws[left], self._laws[right]
            self._losses[left, right] = _loss(*laws, self._claim)
        return self._losses[left, right]

    def largest(self, pairs: Iterable[GraphPair]) -> float:
        """Return the largest loss over pairs, 0 of none."""
        largest = 0.0
        for pair in pairs:
            largest = max(largest, self.of(pair))
            if math.isinf(largest):
                break
        return largest

    @cached_property
    def _claim(self) -> PrivacyClaim | None:
        """What is claimed, where that is another loss than ε."""
        claim: PrivacyClaim | None = getattr(self.mechanism, "claim", None)
        return None if claim is None or (claim.approximate and not claim.delta) else claim

    def _number(self, graph: Graph) -> int:
        """Return the number of a graph's law, the same where the law is."""
        if graph not in self._numbers:
            law: Law | list[Floats]
            if isinstance(self.mechanism, ProductRows) and self._claim is None:
                law = self.mechanism.parts(graph)
                key: Hashable = tuple(tuple(part.tolist()) for part in law)
            else:
                law = self.mechanism.law(graph)
                if law.missing > ROUNDED:
                    raise LawUnavailable("a law leaves outputs out, and so certifies nothing")
                key = tuple(law.probabilities.items())
            number = self._known.setdefault(key, len(self._laws))
            if number == len(self._laws):
                self._laws.append(law)
            self._numbers[graph] = number
        return self._numbers[graph]


def _loss(left: Law | list[Floats], right: Law | list[Floats], claim: PrivacyClaim | None) -> float:
    if isinstance(left, list) and isinstance(right, list):
        return max(_product_loss(left, right), _product_loss(right, left))
    assert isinstance(left, Law)
    assert isinstance(right, Law)
    if claim is not None:
        return loss_for(left, right, claim, listed=False).at_most
    if left.probabilities.keys() != right.probabilities.keys():
        return math.inf  # an output is possible on one side only
    return exact_loss(left, right, listed=False).at_most


def _product_loss(left: Sequence[Floats], right: Sequence[Floats]) -> float:
    """Return the largest log ratio of products: the sum of those of their parts."""
    total = 0.0
    for p, q in zip(left, right, strict=True):
        listed = itertools.zip_longest(p.tolist(), q.tolist(), fillvalue=0.0)
        total += max(math.log(a / b) if b else math.inf for a, b in listed if a)
    return total


def four_digits(numbers: Iterable[float]) -> list[str]:
    """Return losses, or accuracies, as a table shows them."""
    return ["∞" if math.isinf(one) else f"{one:.4f}" for one in numbers]


@dataclass(frozen=True)
class SmallPairs:
    """What came of looking at all pairs of small graphs."""

    scope: str
    epsilon: float
    worst: GraphPair | None

    @property
    def candidate(self) -> CandidatePair | None:
        """The worst pair, if any loses something."""
        if self.worst is None:
            return None
        name, left, right = self.worst
        return CandidatePair(name, lambda: (left, right))


@dataclass(frozen=True)
class SmallGraphs:
    """All pairs of a relation on graphs of few vertices; ``words`` ends a sentence on them."""

    pairs: Callable[[int], Iterable[GraphPair]]
    words: str
    most: int = VERTICES

    def up_to(self, most: int) -> SmallGraphs:
        """Return the same on graphs of at most so few vertices."""
        return replace(self, most=most)

    def claim(
        self,
        number: int,
        mechanism: str,
        statement: str,
        source: str,
        *,
        violated: bool = False,
        **parameters: float,
    ) -> MechanismClaim:
        """Return a claim on a mechanism with ε = 1 and other parameters; a mistake is violated."""
        mistake = source.startswith(MISTAKE)
        return MechanismClaim(
            id=f"G{number}",
            statement=statement,
            source=source,
            mechanism=f"graph:{mechanism}",
            parameters={"epsilon": 1.0, **parameters},
            enclosed=False,
            exhaust=self,
            known_violated=violated or mistake,
            mistake=mistake,
        )

    def __call__(self, mechanism: LawfulMechanism) -> SmallPairs:
        """Compute the loss of every pair, in the unit of what the mechanism claims."""
        losses = Losses(mechanism)
        count, epsilon, worst = 0, 0.0, None
        for pair in self.pairs(self.most):
            count += 1
            loss = losses.of(pair)
            if loss > epsilon + EXACT_SLACK:  # of pairs that lose the same, the first
                worst = pair
            epsilon = max(epsilon, loss)
        scope = f"all {count:,} pairs of graphs of up to {self.most} vertices {self.words}"
        return SmallPairs(scope, epsilon, worst)


# The relations that claims on graphs are made for


def serving(vertices: int) -> list[int]:
    """Return roles: vertex 0 is served, or protected, and all others are alike."""
    return [0, *[1] * (vertices - 1)]


def asking(vertices: int) -> list[int]:
    """Return roles: vertex 0 asks, vertices 1 and 2 are infected, and all others are not."""
    return [0, 1, 1, *[2] * vertices][:vertices]


def scored(vertices: int) -> list[int]:
    """Return roles: vertex 0 is served, vertex 1 tested positive, and all others did not."""
    return [0, 1, *[2] * vertices][:vertices]


def _with(
    roles: Callable[[int], Sequence[int]], least: int, most: int, candidates: int = 0
) -> Iterator[Graph]:
    """Yield one graph of each class, where vertex 0 has no tie to that many people at least."""
    for vertices in range(least, most + 1):
        for graph in coloured_graphs(roles(vertices)):
            if len(graph.contacts()[0]) < vertices - candidates:
                yield graph


def _hidden(graph: Graph) -> Iterator[GraphPair]:
    """Yield a graph with any other ties of each candidate to the contacts of vertex 0."""
    contacts = graph.contacts()[0]
    for one, other in ProtectedPrediction(1.0, graph.vertices).hidden(graph):
        chosen = [tie for tie in other.ties if one in tie and contacts.intersection(tie)]
        name = f"{graph_words(graph)}; those of {one} to contacts now {chosen}"
        yield GraphPair(name, graph, other)


EDGE = SmallGraphs(
    lambda most: edge_pairs(small_graphs(most, 2)), "that differ in one tie, up to renumbering"
)
NUMBERED = SmallGraphs(
    lambda most: edge_pairs(labelled_graphs(most, 2)),
    "that differ in one tie, with every numbering",
)
VERTEX = SmallGraphs(
    lambda most: vertex_pairs(small_graphs(most, 2)),
    "of which one lacks one vertex of the other, up to renumbering",
)
REWIRED = SmallGraphs(
    lambda most: rewired_pairs(small_graphs(most, 2)),
    "that differ in one person's ties, up to renumbering",
)
SOURCE = SmallGraphs(
    lambda most: edge_pairs(_with(serving, 2, most)),
    "that differ in one tie, wherever walks start, up to renumbering",
)
SERVED = SmallGraphs(
    lambda most: edge_pairs(_with(serving, 3, most, candidates=2), spared=0),
    "that differ in one tie of others, whoever is served, up to renumbering, where there are two "
    "candidates at least",
)
ASKED = SmallGraphs(
    lambda most: edge_pairs(_with(asking, 2, most)),
    "that differ in one tie, whoever asks and whichever two are infected, up to renumbering",
)
OTHERS = SmallGraphs(
    lambda most: edge_pairs(_with(scored, 2, most), spared=0),
    "that differ in one tie of others, whoever is served and whoever tested positive, up to "
    "renumbering",
)
HIDDEN = SmallGraphs(
    lambda most: (pair for one in _with(serving, 3, most, candidates=2) for pair in _hidden(one)),
    "that differ in a candidate's ties to contacts of who is served, up to renumbering",
)
EXCHANGED = SmallGraphs(
    lambda most: (pair for graph in _with(serving, 3, most) for pair in exchanged(graph)),
    "that exchange a tie of a protected person for another, whoever is protected, up to "
    "renumbering",
)


# What private searches lose under the relations of the literature, beside the protected one


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
