"""How accurate a private recommendation can be, and how accurate the mechanisms are.

Machanavajjhala, Korolova and Das Sarma, "Personalized social recommendations: accurate or
private?", 2011: the definition of accuracy, the lemma of the general lower bound, and its corollary
that bounds accuracy. *Accuracy* is the expected utility over the largest one.

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
from collections.abc import Iterator, Sequence

import networkx as nx

from pdpaudit.core.graphs import Graph
from pdpaudit.core.protocols import LawfulMechanism
from pdpaudit.outputs.records import JSON
from pdpaudit.report.blocks import Table
from pdpaudit.report.sources import section

from .recommendation import (
    ExponentialRecommendation,
    NoisyRecommendation,
    favourite,
    shared_contacts,
)

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
        (str(contacts - 1), f"{epsilon:g}", *_shown(_row(favourite(contacts, OTHERS), epsilon)))
        for epsilon in EPSILONS
        for contacts in CONTACTS
    )
    real = []
    for name, network in known_networks():
        for epsilon in EPSILONS:
            rows = [_row(graph, epsilon) for graph in served_graphs(network)]
            means = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
            real.append((name, str(len(rows)), f"{epsilon:g}", *_shown(means)))
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


def _shown(values: Sequence[float]) -> list[str]:
    return [f"{value:.4f}" for value in values]
