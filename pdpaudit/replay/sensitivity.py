"""Run the counterexample of a declared sensitivity again."""

from __future__ import annotations

import itertools

from pdpaudit.checks.sensitivity import FORMAT, LARGEST, Question, broken_words
from pdpaudit.core.domains import Domain, Movable
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.graph_domain import Graphs
from pdpaudit.core.graphs import Graph
from pdpaudit.core.registry import Find
from pdpaudit.replay.claims import Replay
from pdpaudit.results.results import CheckResult
from pdpaudit.sampling.encoding import decode

__all__ = ["replay_sensitivity"]


def replay_sensitivity(check: CheckResult, find: Find) -> Replay:
    """Call a function on both sides of its counterexample, and compare with what is shown."""
    witness = check.witness or {}
    try:
        if witness.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        if not witness.get("specification"):
            raise InputError("the witness does not name its function; check again with --json")
        function = find("functions", witness["specification"])
        question = Question.of(function, witness["relation"], None, witness["sensitivity"])
        left, right = (_input(side, question.domain) for side in witness["sides"])
        if not _neighbours(question.domain, question.relation, left, right):
            return Replay(check.name, False, f"its two inputs are no {question.relation} pair")
        words = broken_words(question, (left, right))
        broken = question.excess((left, right)) > 0
        declared = question.allowed((left, right))
    except InputError as error:
        raise InputError(f"{check.name}: {error}") from None
    except Exception as error:  # whatever a field that was tampered with leads to
        raise InputError(
            f"{check.name}: its witness is damaged ({described(error)}); check again"
        ) from None
    if not broken:
        return Replay(check.name, False, f"{words}: that is within what is declared")
    if (
        check.status != "violated"
        or check.declared != declared
        or not check.detail.startswith(words)
    ):
        return Replay(check.name, False, f"{words}, which is not what is shown")
    return Replay(check.name, True, words)


def _input(written: str, domain: Domain) -> object:
    """Return a side of a pair; a graph is its number of vertices and its ties."""
    value = decode(written.encode("ascii"))
    if not isinstance(domain, Graphs):
        return value
    vertices, ties = value
    places = {*itertools.combinations(range(min(vertices, LARGEST)), 2)}
    if not 0 <= vertices <= LARGEST or not places.issuperset(ties) or list(ties) != sorted({*ties}):
        raise ValueError("a side is no small graph")
    return Graph(vertices, ties)


def _neighbours(domain: Domain, relation: str, left: object, right: object) -> bool:
    """Say whether two inputs are of a domain and neighbours, by the definitions."""
    if isinstance(left, Graph) and isinstance(right, Graph):
        changed = [{*tie} for tie in {*left.ties} ^ {*right.ties}]
        if relation == "vertex":
            return left.vertices == right.vertices + 1 and right == left.without_last()
        alike = relation == "edge" and len(changed) == 1
        alike = alike or (relation == "rewired" and bool(changed and set.intersection(*changed)))
        return left.vertices == right.vertices and alike
    if isinstance(domain, Movable):
        return domain.neighbours(relation, left, right)
    return repr((left, right)) in map(repr, domain.pairs(relation))
