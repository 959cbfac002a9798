"""What mechanisms lose on all small graphs, and how accurate recommendations are: for the dossier.

How much noise is wasted; what one tie, and all of one person's contacts, cost.

*Accuracy* of a recommendation is the expected utility over the largest one: Machanavajjhala,
Korolova and Das Sarma, "Personalized social recommendations: accurate or private?", 2011: the
definition of accuracy, the lemma of the general lower bound, and its corollary on accuracy.

The bound. Let k of n candidates have a utility above v, and u be the largest. If the expected
utility is at least (1 - δ)·u, all others together have probability δ/c at most, for c = 1 - v/u,
and one of them δ/(c(n - k)) at most. Ties that make that one as useful as the best, t of them, give
it the probability of the best, so at least an average share of what the k + 1 best have,
(1 - δ/c)/(k + 1), if a recommendation depends on utilities alone and never prefers the lower. By
ε-privacy the two differ by a factor e^(εt) at most, so the accuracy on one of the two graphs is at
most ``1 - c(n - k)/(n - k + (k + 1)e^(εt))``.

The paper makes that candidate the only best one, which takes t = u + 1, or u + 2 where u is the
number of contacts. To be as useful as the best is enough, and takes t = u: that is our bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, cast

import networkx as nx
from scipy.optimize import brentq

from pdpaudit.auditing.published_claims import MechanismClaim
from pdpaudit.core.graphs import (
    Graph,
    GraphPair,
    coloured_graphs,
    edge_pairs,
    labelled_graphs,
    rewired_pairs,
    small_graphs,
)
from pdpaudit.core.protocols import LawfulMechanism
from pdpaudit.core.registry import make_mechanism
from pdpaudit.outputs.records import JSON
from pdpaudit.report.blocks import Table
from pdpaudit.report.sources import section

from .degrees import AscendingDegrees, NoisyDegrees, NoisyJointDegrees, NoisyJointDegreesSmooth
from .personalised_pagerank import CappedPageRank, NoisyPageRank
from .projections import FlowTies, ProjectedTies, ProjectedTriangles
from .randomised_response import RandomisedNotification, RandomisedTies, RiskScore
from .recommendation import (
    ExponentialRecommendation,
    NoisyRecommendation,
    ProtectedPrediction,
    favourite,
    shared_contacts,
)
from .small_graphs import VERTICES, Losses, SmallGraphs, asking, four_digits, scored, serving
from .subgraph_counts import (
    NoisyStars,
    NoisyStarsSmooth,
    NoisyTies,
    NoisyTriangles,
    NoisyTrianglesSmooth,
)

#: A claim is loose if it exceeds the loss by more than this.
TIGHT = 1e-6

#: ε up to which one is looked for at which a mechanism loses what it claims at 1.
MOST = 64.0


def losses_by_size(mechanism: LawfulMechanism, pairs: Sequence[GraphPair]) -> dict[int, float]:
    """Return the largest loss among each number of people, of the larger side."""
    losses, largest = Losses(mechanism), dict[int, float]()
    for pair in pairs:
        largest[pair.left.vertices] = max(largest.get(pair.left.vertices, 0.0), losses.of(pair))
    return largest


def tight_epsilon(make: Callable[[float], LawfulMechanism], pairs: Sequence[GraphPair]) -> float:
    """Return the ε with which a mechanism loses 1 on these pairs; it loses less at ε = 1."""

    def excess(epsilon: float) -> float:
        return Losses(make(epsilon)).largest(pairs) - 1.0

    return float(brentq(excess, 1.0, MOST, rtol=1e-7))


def loose_sections(claims: Sequence[MechanismClaim]) -> tuple[JSON, ...]:
    """Return what is wasted by each claim that nothing violates, as a section of the dossier."""
    sizes, rows, tight = range(2, VERTICES + 1), [], []
    for claim in claims:
        if not isinstance(claim.exhaust, SmallGraphs) or claim.known_violated:
            continue
        mechanism = _made(claim, 1.0)
        pairs = list(claim.exhaust.pairs(claim.exhaust.most))
        losses = losses_by_size(mechanism, pairs)
        largest = max(losses.values())
        if largest > 1 - TIGHT:
            tight.append(claim.id)
            continue
        least = tight_epsilon(partial(_made, claim), pairs)
        by_size = (f"{losses[n]:.4f}" if n in losses else "" for n in sizes)
        name = f"{claim.id}: {claim.mechanism.partition(':')[2]}"
        rows.append((name, *by_size, f"{1 / largest:.3f}", f"{least:.4f}"))
    text = [
        "The largest loss at ε = 1 among each number of people, over all pairs of the claim's "
        "relation that are looked at, in the unit of the claim. Where it stays below 1, the claim "
        "is that many times too careful, and the same mechanism made with the ε of the last column "
        "loses 1 on these pairs. On larger graphs a recommendation's loss (G1, G2) comes near its "
        "ε as candidates and shared contacts are added, so that nothing is wasted there in the "
        "end; why G21, G25 and G33 are loose on all graphs is shown in their modules.",
        f"Attained, so that no noise is wasted: {', '.join(tight)}.",
    ]
    columns = ("claim", *(f"{n} people" for n in sizes), "times too careful", "ε that loses 1")
    table = Table("Claims that small graphs do not attain", columns, tuple(rows), numeric=True)
    return (section("Noise that is wasted", text=text, tables=[table]),)


def _made(claim: MechanismClaim, epsilon: float) -> LawfulMechanism:
    made, _ = make_mechanism(claim.mechanism, {**claim.parameters, "epsilon": epsilon})
    return cast("LawfulMechanism", made)


# One tie, or one person's contacts


class Compared(NamedTuple):
    """A mechanism, and its loss among n people, worked out by hand.

    A protected person goes from no contacts to all others, who know each other. ``roles`` are those
    of mechanisms that serve vertex 0, whose contacts are not changed. Graphs have at most ``most``
    vertices; they are all labelled ones where numbers matter.
    """

    make: Callable[[float], LawfulMechanism]
    claimed: str
    formula: str
    loss: Callable[[int], float]
    roles: Callable[[int], Sequence[int]] | None = None
    most: int = VERTICES
    numbered: bool = False

    def graphs(self, vertices: int) -> Iterable[Graph]:
        """Return one graph of each class, or all."""
        if self.numbered:
            return labelled_graphs(vertices)
        if self.roles is None:
            return small_graphs(vertices, vertices)
        return coloured_graphs(self.roles(vertices))


_PEOPLE = ("(n - 1)·ε at most", lambda n: n - 1)  # one tie after the other
_ALL = ("∞", lambda n: math.inf)

#: What is compared; the loss is at ε = 1, and at most that for the rounded degrees.
COMPARED = (
    Compared(NoisyTies, "edge", "(n - 1)·ε", lambda n: n - 1),
    Compared(NoisyTriangles, "edge", "(n - 1)·ε/2", lambda n: (n - 1) / 2),
    Compared(NoisyTrianglesSmooth, "edge", *_PEOPLE),
    Compared(ProjectedTriangles, "edge", *_PEOPLE, most=4, numbered=True),
    Compared(NoisyStars, "edge", "3(n - 1)·ε/4", lambda n: 3 * (n - 1) / 4),
    Compared(NoisyStarsSmooth, "edge", *_PEOPLE),
    Compared(NoisyDegrees, "edge", *_PEOPLE),
    Compared(AscendingDegrees, "edge", *_PEOPLE, most=4),
    Compared(NoisyJointDegrees, "edge", *_PEOPLE),
    Compared(NoisyJointDegreesSmooth, "edge, with δ = 1e-6", *_PEOPLE, most=3),
    Compared(RandomisedTies, "edge", "(n - 1)·ε", lambda n: n - 1),
    # Whoever is served is there at least with the probability p that a walk stops at once.
    Compared(NoisyPageRank, "edge", "p·ε at most, p = 0.15", lambda n: 0.15, serving),
    Compared(CappedPageRank, "edge", *_PEOPLE, serving),
    Compared(ExponentialRecommendation, "edge, of others", *_ALL, asking),
    Compared(NoisyRecommendation, "edge, of others", *_ALL, asking),
    Compared(ProtectedPrediction, "a candidate's ties to contacts", *_ALL, serving),
    Compared(RandomisedNotification, "edge", "ε", lambda n: 1.0, asking),
    # Of normal noise the divergence grows by the square of how far the logarithm moves: each other
    # contact's message moves it by what the noise is for, the person's own, gone, by 1.146 times.
    Compared(
        RiskScore,
        "edge, of others, order 2",
        "(n - 0.854)²·ε at most",
        lambda n: (n - 2 + math.log(0.52) / math.log(0.52 / 0.92)) ** 2,
        scored,
    ),
    Compared(FlowTies, "vertex", "ε at most", lambda n: 1.0),
    Compared(ProjectedTies, "one person's ties", "ε at most", lambda n: 1.0, most=5),
)


def losses(one: Compared, vertices: int) -> tuple[float, float]:
    """Return the loss of a tie, and of one person's contacts, on all graphs of n vertices.

    It is in the unit of what the mechanism claims.
    """
    known, served = Losses(one.make(1.0)), None if one.roles is None else 0
    graphs = list(one.graphs(vertices))
    if one.loss(vertices) == math.inf:
        # A person tied to everybody is recommended nobody.
        everybody = {(0, other) for other in range(1, vertices)}
        kept = [graph for graph in graphs if not everybody <= set(graph.ties)]
        rewired = (
            pair for pair in rewired_pairs(kept, spared=0) if not everybody <= set(pair.right.ties)
        )
        return known.largest(edge_pairs(kept, spared=0)), known.largest(rewired)
    others = served if "of others" in one.claimed else None
    return (
        known.largest(edge_pairs(graphs, spared=others)),
        known.largest(rewired_pairs(graphs, spared=served)),
    )


def relation_sections() -> tuple[JSON, ...]:
    """Return the table as a section of the dossier."""
    rows = []
    for one in COMPARED:
        name = getattr(one.make, "__name__", "")
        found = four_digits(losses(one, one.most))
        rows.append((name, one.claimed, str(one.most), *found, one.formula))
    contacts_of = "one person's contacts"
    columns = ("mechanism", "claims ε of", "vertices", "one tie", contacts_of, "among n people")
    text = (
        "Losses at ε = 1 on all graphs of the stated size, by exact laws: of one tie, and of one "
        "protected person's contacts, all of which may change while everybody stays. Who is "
        "served or asks is not the protected person. The last column is worked out by hand. The "
        "loss of a recommendation is infinite, as a contact of who is served is no candidate. A δ "
        "is the same for one tie and for several. 3-stars are left out, which are as 2-stars."
    )
    table = Table("Loss under two relations", columns, tuple(rows))
    return (section("One tie, or one person's contacts", text=[text], tables=[table]),)


# How accurate a recommendation can be


#: Losses that are compared; the paper's figures have 0.5, 1 and 3.
EPSILONS = (0.5, 1.0, 3.0)

#: Contacts of who is served, of whom the favourite shares all but one, and the other candidates.
CONTACTS, OTHERS = (2, 3, 5, 9, 17), 1000


def accuracy(mechanism: LawfulMechanism, graph: Graph) -> float:
    """Return the expected utility over the largest, which is not 0."""
    utilities, chances = shared_contacts(graph), mechanism.law(graph).probabilities
    expected = sum(utility * chances[one] for one, utility in utilities.items())
    return expected / max(utilities.values())


def paper_ties(most: int, contacts: int) -> int:
    """Return how many ties make a candidate the only best one."""
    return most + 1 + (most == contacts)


def our_ties(most: int) -> int:
    """Return how many ties make a candidate as useful as the best."""
    return most


def accuracy_bound(utilities: Sequence[int], ties: int, epsilon: float) -> float:
    """Return the least of the bounds for each level of utility; the largest utility is not 0."""
    most, n = max(utilities), len(utilities)
    bounds = [1.0]
    for level in set(utilities) - {most}:
        high = sum(utility > level for utility in utilities)
        share = (n - high) / (n - high + (high + 1) * math.exp(epsilon * ties))
        bounds.append(1 - (1 - level / most) * share)
    return min(bounds)


def _row(graph: Graph, epsilon: float) -> tuple[float, ...]:
    """Return both bounds and the accuracy of both mechanisms."""
    exponential, noisy = ExponentialRecommendation(epsilon), NoisyRecommendation(epsilon)
    utilities = list(shared_contacts(graph).values())
    most, contacts = max(utilities), len(graph.contacts()[0])
    bounds = (
        accuracy_bound(utilities, ties, epsilon)
        for ties in (paper_ties(most, contacts), our_ties(most))
    )
    return (*bounds, accuracy(exponential, graph), accuracy(noisy, graph))


def known_networks() -> Iterator[tuple[str, nx.Graph]]:
    """Yield networks of people that networkx brings along."""
    yield "karate club (Zachary 1977), 34 people", nx.karate_club_graph()
    yield "Les Misérables (Knuth 1993), 77 people", nx.les_miserables_graph()


def served_graphs(network: nx.Graph) -> Iterator[Graph]:
    """Yield the network with everybody in turn as vertex 0, where there is someone to recommend."""
    names = sorted(network)
    for served in names:
        number = {name: i for i, name in enumerate(sorted(names, key=lambda one: one != served))}
        ties = (sorted((number[a], number[b])) for a, b in network.edges)
        graph = Graph(len(names), tuple(sorted((a, b) for a, b in ties)))
        utilities = shared_contacts(graph).values()
        if len(utilities) > 1 and max(utilities) > 0:
            yield graph


def accuracy_sections() -> tuple[JSON, ...]:
    """Return the bounds and the accuracies as a section of the dossier."""
    columns = ("ε", "paper's bound", "our bound", "exponential", "Laplace")
    made = tuple(
        (
            str(contacts - 1),
            f"{epsilon:g}",
            *four_digits(_row(favourite(contacts, OTHERS), epsilon)),
        )
        for epsilon in EPSILONS
        for contacts in CONTACTS
    )
    real = []
    for name, network in known_networks():
        for epsilon in EPSILONS:
            rows = [_row(graph, epsilon) for graph in served_graphs(network)]
            means = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
            real.append((name, str(len(rows)), f"{epsilon:g}", *four_digits(means)))
    text = [
        "Expected utility of a recommendation by common neighbours over that of the best candidate "
        "(Machanavajjhala, Korolova, Das Sarma 2011): how much any private recommendation that "
        "depends on utilities alone can have at most, by the corollary of the paper's lemma and "
        "by our sharper form of it, and what both mechanisms have, by exact laws. The paper "
        "makes an unlikely candidate the only best one; that it is as good as the best is "
        "enough, and takes a tie or two less. A bound is about the worse of two graphs: this one, "
        "and one in which an unlikely candidate was made one of the best. It is attained: where "
        "one contact is shared, and three candidates at most share it, the best private "
        "recommendation of all, by a linear programme, has .7311 at ε = 1, just our bound.",
    ]
    tables = [
        Table(
            f"One candidate shares contacts, {OTHERS:,} others none",
            ("shared contacts", *columns),
            made,
            numeric=True,
        ),
        Table("Mean over who is served", ("network", "served", *columns), tuple(real)),
    ]
    return (section("Accuracy of a private recommendation", text=text, tables=tables),)
