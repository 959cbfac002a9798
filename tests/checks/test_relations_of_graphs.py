"""Who is served, and which ties are secret: pairs by the definitions, on all small graphs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from pdpaudit import audit, check
from pdpaudit.adapters.worker import Described
from pdpaudit.checks import sensitivity
from pdpaudit.checks.graphs import kinds_of_pairs, labelled_pairs
from pdpaudit.checks.sensitivity import Question, check_sensitivity
from pdpaudit.core.domains import Graphs, unchanged
from pdpaudit.core.errors import InputError
from pdpaudit.core.graphs import Graph, Tie, labelled_graphs
from pdpaudit.replay.checks import _neighbours

Sides = tuple[Graph, Graph]


def to_contacts(vertices: int, contacts: frozenset[int]) -> list[list[Tie]]:
    """The ties of one candidate to contacts with an odd number, the higher end first."""
    candidates = [one for one in range(1, vertices) if one not in contacts]
    return [[(max(v, c), min(v, c)) for c in contacts if c % 2] for v in candidates]


SERVED, SECRET = (
    Graphs((2, 7), unchanged, served=True),
    Graphs((2, 7), unchanged, secret=to_contacts),
)
RELATIONS = [
    *((Graphs((2, 7)), relation) for relation in ("edge", "vertex", "rewired")),
    *((SERVED, relation) for relation in ("edge", "vertex", "rewired")),
    (SECRET, "secret"),
]


def contacts(graph: Graph) -> set[int]:
    return {sum(tie) for tie in graph.ties if 0 in tie}


def by_definition(
    domain: Graphs, relation: str, left: Graph, right: Graph, *, anyone: bool = False
) -> bool:
    """Two graphs are neighbours: of a pair with a vertex more, the left one has it."""
    ours, theirs = ({frozenset(tie) for tie in side.ties} for side in (left, right))
    last = left.vertices - 1
    if relation == "vertex":
        for gone in range(left.vertices) if anyone else [last]:
            rest = {frozenset(v - (v > gone) for v in tie) for tie in ours if gone not in tie}
            hidden = domain.served and (gone == 0 or {0, gone} in ours)
            if right.vertices == last and theirs == rest and not hidden:
                return True
        return False
    moved = ours ^ theirs
    if left.vertices != right.vertices or not moved:
        return False
    if domain.served and contacts(left) != contacts(right):
        return False
    if relation == "edge":
        return len(moved) == 1
    if relation == "rewired":
        return any(all(one in tie for tie in moved) for one in range(left.vertices))
    known = {one for one in contacts(left) if one % 2}
    candidates = set(range(1, left.vertices)) - contacts(left)
    return any(all(one in tie and tie - {one} <= known for tie in moved) for one in candidates)


def every(domain: Graphs, relation: str, n: int, *, anyone: bool = False) -> set[Sides]:
    """All ordered pairs of all numbered graphs that are neighbours by the definition."""
    others = list(labelled_graphs(n - (relation == "vertex")))
    return {
        (left, right)
        for left in labelled_graphs(n)
        for right in others
        if by_definition(domain, relation, left, right, anyone=anyone)
    }


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize(("domain", "relation"), RELATIONS)
def test_all_numberings_are_all_pairs_by_definition(domain, relation, n):
    wanted = every(domain, relation, n)
    found: list[Any] = list(labelled_pairs(domain, relation, n))
    if relation == "edge":  # once each, the graph without the tie first
        assert len(found) == len(set(found)) == len(wanted) // 2
        found += [(right, left) for left, right in found]
    assert set(found) == wanted
    others = list(labelled_graphs(n - (relation == "vertex")))
    for pair in itertools.product(labelled_graphs(n), others):
        assert _neighbours(domain, relation, *pair) == (pair in wanted)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("domain", [Graphs((2, 7)), SERVED])
def test_anyone_vanishes_where_later_ones_move_up(domain, n):
    wanted = every(domain, "vertex", n, anyone=True)
    found: list[Any] = list(labelled_pairs(domain, "vertex", n, anyone=True))
    assert set(found) == wanted
    for pair in itertools.product(labelled_graphs(n), labelled_graphs(n - 1)):
        assert _neighbours(domain, "vertex", *pair, anyone=True) == (pair in wanted)


def kind(pair: Sides, *, served: bool, vanishes: bool, odd: bool) -> tuple[Any, ...]:
    """What pairs have in common that are the same but for their numbers, and their order.

    Where ties to odd numbers are secret these stay odd.
    """
    n, fixed = pair[0].vertices, [0] * served
    free = range(len(fixed), n - vanishes)
    last = [n - 1] * vanishes
    forms = []
    for order in ([*fixed, *middle, *last] for middle in itertools.permutations(free)):
        if odd and any((one - other) % 2 for one, other in enumerate(order)):
            continue
        moved = [
            tuple(sorted(tuple(sorted((order[a], order[b]))) for a, b in g.ties)) for g in pair
        ]
        forms.append(tuple(moved if vanishes else sorted(moved)))
    return min(forms)


@pytest.mark.parametrize(
    ("domain", "relation", "n"),
    [
        (domain, relation, n)
        for domain, relation in RELATIONS
        for n in ((3, 4) if relation == "rewired" or not domain.served else (3, 4, 5))
    ],
)
def test_one_of_each_kind_is_all_but_for_numbers(domain, relation, n):
    """No pair of numbered graphs is of another kind, and no kind is no pair."""
    how = {
        "served": domain.served,
        "vanishes": relation == "vertex",
        "odd": relation == "secret",
    }
    pairs: Any = labelled_pairs(domain, relation, n)
    wanted = {kind(pair, **how) for pair in pairs}
    yielded: list[Any] = list(kinds_of_pairs(domain, relation, n))
    assert all(by_definition(domain, relation, *pair) for pair in yielded)
    assert {kind(pair, **how) for pair in yielded} == wanted


def test_roles_are_those_that_a_secret_tells_apart():
    assert SECRET.roles("secret", 7) == [0, 1, 2, 1, 2, 1, 2]
    assert SERVED.roles("edge", 4) == [0, 1, 1, 1]
    assert Graphs().roles("vertex", 3) == [1, 1, 1]

    def of_each(vertices: int, contacts: frozenset[int]) -> list[list[Tie]]:
        return [[(1, 2)], *([(3, one)] for one in range(4, vertices) if one in contacts)]

    assert Graphs((2, 7), secret=of_each).roles("secret", 7) == [0, 1, 1, 3, 4, 4, 4]


@pytest.mark.parametrize(("domain", "relation"), RELATIONS)
def test_pairs_to_audit_are_neighbours(domain, relation):
    pairs: list[Any] = domain.pairs(relation)
    assert len(pairs) > 20
    assert all(by_definition(domain, relation, *pair) for pair in pairs)
    if domain.served:
        # The middle of a star is served, and one of its leaves is.
        assert len({len(contacts(left)) for left, _ in pairs}) > 3


def many(graphs: Any) -> Any:
    """Contacts of vertex 0 that each candidate has."""
    shared = (graphs[:, :1].astype(int) @ graphs)[:, 0]
    shared[graphs[:, 0]] = shared[:, 0] = 0
    return shared


def shared(graph: Graph) -> list[int]:
    mine = contacts(graph)
    each = [len(mine & around) for around in graph.contacts()]
    return [0 if one in mine or one == 0 else count for one, count in enumerate(each)]


def checked(domain: Graphs, relation: str, declared: Any, values: Any = many, **more: Any) -> Any:
    def function(graph: Graph) -> Any:
        return shared(graph)

    if values is not None:
        vars(function)["values"] = values
    return check_sensitivity(Question.of(function, relation, domain, declared), **more)


#: What moves between neighbours among n people, by hand: a tie gives one candidate a contact; who
#: is tied to m contacts has them or not, or is a contact of n - 2 candidates.
MOVED: list[tuple[Graphs, str, Callable[[int], int]]] = [
    (SERVED, "edge", lambda n: 1),
    (SERVED, "vertex", lambda n: n - 2),
    (SERVED, "rewired", lambda n: n - 2),
    (SECRET, "secret", lambda n: min(n // 2, n - 2)),
]


def counted(relation: str) -> int:
    """How many pairs there are, by formula: graphs, and what else the ties in one set can be."""
    if relation == "edge":
        return sum(math.comb(n - 1, 2) << math.comb(n, 2) - 1 for n in range(2, 8))
    if relation == "vertex":
        return sum(1 << math.comb(n, 2) - 1 for n in range(3, 8))
    pairs = 0
    for n in range(2, 8):
        for known in itertools.product((0, 1), repeat=n - 1):  # the contacts of vertex 0
            sets, size = n - 1 - sum(known), sum(known[::2])
            sets, size = (n - 1, n - 2) if relation == "rewired" else (sets, size)
            pairs += sets * ((1 << size) - 1) << math.comb(n - 1, 2)
    return pairs


@pytest.mark.parametrize(("domain", "relation", "known"), MOVED)
def test_shared_contacts_move_as_by_hand_among_7(domain, relation, known):
    result = checked(domain, relation, lambda degree: known(degree + 1))
    assert (result.status, result.observed) == ("certified", known(7))
    said = f"{relation}, ties of vertex 0 public: all graphs of 2 to 7 vertices, all numberings"
    assert result.scope == f"{said}, by the fast path"
    assert f"({counted(relation):,} pairs)" in result.detail
    less = checked(domain, relation, lambda degree: known(degree + 1) - 1)
    assert less.status == "violated"


@pytest.mark.parametrize(
    ("domain", "relation", "known", "most"),
    [
        pytest.param(*case, most, marks=[pytest.mark.slow] * (most > 5 and case[1] != "edge"))
        for case in MOVED
        for most in (5, 6, *[7] * (case[1] == "secret"))
    ],
)
def test_without_a_fast_path_it_is_the_same(domain, relation, known, most):
    result = checked(domain, relation, lambda degree: known(degree + 1), None, most=most)
    assert (result.status, result.observed) == ("certified", known(most))
    every = min(most, 6 if relation == "secret" else 5)
    alone = f"{relation}, ties of vertex 0 public: all graphs of 2 to {every} vertices"
    assert result.scope.startswith(f"{alone}, all numberings")
    assert (f"; one of each kind of {most} vertices, which is all" in result.scope) == (
        most > every
    )


def test_secrets_are_looked_at_in_one_numbering_of_each_kind():
    """As in all numberings; not where there are too many, or where the value depends on them."""
    with patch.multiple(sensitivity, LABELLED_MATTERS=4):
        result = checked(SECRET, "secret", 2, None, most=5)
        assert (result.status, result.observed) == ("certified", 2)
        assert "; one of each kind of 5 vertices, which is all" in result.scope
        less = checked(SECRET, "secret", 1, None, most=5)
        assert (less.status, less.witness) == (
            "violated",
            checked(SECRET, "secret", 1, None, most=4).witness,
        )

        def of_2(graph: Graph) -> int:
            return 3 * sum(2 in tie for tie in graph.ties)

        matters = check_sensitivity(Question.of(of_2, "secret", SECRET, 6), most=5)
        assert (matters.status, matters.observed) == ("certified", 6)
        assert matters.scope.endswith(
            "2 to 4 vertices, all numberings; none larger: the change depends on how the vertices "
            "are numbered, seen at 5"
        )
        with patch.multiple(sensitivity, PLACED=1):
            many = checked(SECRET, "secret", 2, None, most=5)
        assert many.scope.endswith(
            "2 to 4 vertices, all numberings; none larger: what is secret depends on how the "
            "vertices are numbered"
        )


def test_where_a_number_matters_one_of_each_kind_is_not_enough():
    def of_3(graph: Graph) -> int:
        return sum(3 in tie for tie in graph.ties)

    result = check_sensitivity(Question.of(of_3, "edge", SERVED, 1), most=6)
    assert "numbered, seen at 6" in result.scope
    # It does not matter that who is served has one of its own.
    question = Question.of(lambda graph: len(contacts(graph)), "edge", SERVED, 0)
    served = check_sensitivity(question, most=6)
    assert (served.status, served.observed) == ("certified", 0)


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        (
            lambda n, known: [[(0, 1)]],
            r"^secret = 0-1 of 2 vertices: give ties of vertices 1 to 1$",
        ),
        (lambda n, known: [[(1, n)]], r"^secret = 1-2 of 2 vertices: give ties"),
        (lambda n, known: [[(1, 1)]], r"^secret = 1-1 of 2 vertices: give ties"),
        (lambda n, known: [(1, 2)], r"^secret = 2 vertices: TypeError: "),
        (lambda n: [], r"^secret = 2 vertices: TypeError: .* takes 1 positional argument"),
    ],
)
def test_what_is_no_secret_is_refused_in_one_line(secret, said):
    with pytest.raises(InputError, match=said) as caught:
        check(shared, relation="secret", domain=Graphs((2, 3), secret=secret), sensitivity=1)
    assert "\n" not in str(caught.value)


def test_other_wrong_choices_are_refused_in_one_line():
    with pytest.raises(InputError, match=r"^relation = secret: .*edge, vertex, rewired"):
        check(shared, relation="secret", domain=SERVED, sensitivity=1)
    with pytest.raises(InputError, match=r"^served = 0: give True where vertex 0"):
        Graphs(served=0)  # type: ignore[arg-type]


class Recommended:
    """The candidate of the most shared contacts, by the exponential mechanism."""

    def __init__(self, domain: Graphs) -> None:
        from pdpaudit import PrivacyClaim

        self.claim, self.domain = PrivacyClaim(1.0), domain

    def law(self, graph: Graph) -> Any:
        from pdpaudit.core.protocols import Law

        candidates = set(range(1, graph.vertices)) - contacts(graph) or {0}
        weights = np.exp([shared(graph)[one] for one in sorted(candidates)])
        return Law(dict(zip(sorted(candidates), (weights / weights.sum()).tolist(), strict=True)))

    def run(self, graph: Graph, rng: np.random.Generator) -> int:
        law = self.law(graph).probabilities
        return int(rng.choice(list(law), p=list(law.values())))


def test_an_audit_says_under_which_relation_a_recommendation_is_private():
    found = audit(Recommended(Graphs((2, 6), unchanged, served=True)), relation="all", seed=1)
    verdicts = {one.statement.rpartition(", ")[2]: one.status for one in found.claims}
    assert verdicts == {"edge": "not_rejected", "vertex": "violated", "rewired": "violated"}
    hidden = audit(Recommended(SECRET), seed=1)
    assert hidden.violated  # all ties of a candidate to contacts move its utility by 3
    assert "secret: graphs of 2 to 7 vertices, ties of vertex 0 public" in str(hidden.to_json())
    whole = audit(Recommended(Graphs((2, 6), unchanged)), relation="edge", seed=1).claims[0]
    assert whole.exact == math.inf  # a tie of vertex 0 makes a candidate of a contact


def test_a_function_of_another_python_is_refused():
    with pytest.raises(ValueError, match=r"^secret: a function stays in its Python; bring pairs"):
        Described("Graphs", (2, 6), secret=to_contacts)
    assert Described("Graphs", (2, 6), served=True).options == {"served": True}
