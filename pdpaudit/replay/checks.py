"""Re-run the counterexample of a check, and hold what is shown of the check against it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import networkx as nx

from pdpaudit.checks import check_names, name_of, replay_witness, require_statistic
from pdpaudit.checks.evaluation import advice, distinct
from pdpaudit.checks.witness import PAIR_PROPERTIES, slack_of
from pdpaudit.core.errors import InputError, described
from pdpaudit.core.making import Find
from pdpaudit.core.protocols import StatisticOfProximity
from pdpaudit.replay.claims import Replay
from pdpaudit.replay.compare import compared, differences
from pdpaudit.replay.trust import finder

__all__ = ["replay_check"]

#: How the sentence on a broken bound ends, and how that on a failure that was expected begins.
SEARCHED = ("no smaller network breaks it", "nothing can be left out of it")
EXCUSED = "expected failure ("

#: Vertices of the largest counterexample that a check writes.
MOST_VERTICES = 5000

#: Checks whose finding is exact on its own.
EXACT = ("targeted-sensitivity", "impact-cardinality")


def replay_check(check: Mapping[str, Any], find: Find | None = None) -> Replay:
    """Re-run the counterexample of one check of a statistic, by code of its own."""
    name, witness = str(check.get("name", "check")), check["witness"]
    find = finder(trust=False) if find is None else find
    try:
        _require_small(witness)
        shown = replay_witness(witness, find)
        if not shown.reproduced:
            return Replay(name, False, shown.detail)
        sop, _ = require_statistic(find("sops", witness["specification"]))
        now, recorded = _shown(check, witness, sop)
        wrong = list(differences(now, recorded, complete=True))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except Exception as error:  # whatever a field that was tampered with leads to
        raise InputError(
            f"{name}: its witness is damaged ({described(error)}); check again"
        ) from None
    return Replay(
        name, not wrong, f"{shown.detail}, but {compared(wrong)}" if wrong else shown.detail
    )


def _require_small(witness: Mapping[str, Any]) -> None:
    """Refuse a counterexample that no check writes, before a network of its size is built."""
    n = witness["n"]
    if type(n) is not int or not 0 <= n <= MOST_VERTICES:
        raise ValueError(f"there are at most {MOST_VERTICES} vertices in a counterexample")
    lists = [witness["targets"], *witness["edges"]]
    lists += [witness[side] for side in ("left", "right") if side in witness]
    for vertex in (vertex for one in lists for vertex in one):
        if type(vertex) is not int or not 0 <= vertex < n:
            raise ValueError("a vertex is named that there is not")


def _shown(
    check: Mapping[str, Any], witness: Mapping[str, Any], sop: StatisticOfProximity
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is shown of a check as it must be, and as it is."""
    of, name = witness["property"], str(check["name"])
    bound = of in EXACT and name != "own-network"
    excused = str(check["detail"]).startswith(EXCUSED)
    status = "skipped" if excused else "violated"
    now: dict[str, Any] = {"status": status, "statistic": name_of(sop), "exact": bound}
    recorded = {**{key: check[key] for key in ("status", "exact")}}
    recorded["statistic"] = witness["statistic"]
    # A published claim's finding is called by the claim; code that fails may do so in any check.
    names = (of, "own-network") if of in PAIR_PROPERTIES else check_names()
    if name in check_names() and name not in names:
        now["name"], recorded["name"] = of, name
    if of not in PAIR_PROPERTIES:
        now |= {"declared": None, "observed": None}
        return now, recorded | {key: check[key] for key in ("declared", "observed")}
    measured = _measured(witness, sop)
    now["witness"] = {key: measured[key] for key in ("declared", "values", "at")}
    if not bound:  # what is shown is of the whole network, the witness cut out of it
        return now, recorded | {"witness": {key: witness[key] for key in now["witness"]}}
    now["witness"]["observed"] = measured["observed"]
    recorded["witness"] = {key: witness[key] for key in now["witness"]}
    now |= {key: measured[key] for key in ("declared", "observed")}
    recorded |= {key: check[key] for key in ("declared", "observed")}
    sentence, opening = str(check["detail"]), _opening(witness, measured)
    smaller = (f"none with up to {n} vertices breaks it" for n in range(witness["n"]))
    whole = [opening + ending for ending in (*SEARCHED, *smaller)]
    known = tuple(f"): {words}" for words in whole)
    if name == of and sentence not in whole and not (excused and sentence.endswith(known)):
        now["detail"], recorded["detail"] = opening, sentence
    return now, recorded


def _opening(witness: Mapping[str, Any], measured: Mapping[str, Any]) -> str:
    """Return what is said of a broken bound, up to what was searched for a smaller network."""
    declared, observed = distinct(measured["declared"], measured["observed"])
    what = (
        f"vertex {measured['at']} moves by {observed}"
        if witness["property"] == "targeted-sensitivity"
        else f"{observed} vertices change"
    )
    what += advice(measured["declared"], measured["observed"])
    where = f"degree {witness['max_degree']}, {witness['n']} vertices"
    return f"{where}: declared {declared}, but {what}; "


def _measured(witness: Mapping[str, Any], sop: StatisticOfProximity) -> dict[str, Any]:
    """Evaluate a statistic on both networks of a counterexample, from the definitions."""
    n, vertex, targets = witness["n"], witness["vertex"], frozenset(witness["targets"])
    values: dict[str, list[float]] = {}
    for side in ("left", "right"):
        graph = nx.empty_graph(n)
        edges = [*witness["edges"], *([vertex, other] for other in witness[side])]
        graph.add_edges_from(sorted(sorted(edge) for edge in edges))
        values[side] = [float(sop(graph, v, targets)) for v in range(n)]
    changes = [abs(Fraction(a) - Fraction(b)) for a, b in zip(*values.values(), strict=True)]
    moves = {v: change for v, change in enumerate(changes) if v != vertex}
    most, at = max(moves.values(), default=Fraction(0)), witness["at"]
    if type(at) is not int or moves.get(at) != most:
        at = max(moves, key=moves.__getitem__)
    counted = witness["property"] == "impact-cardinality"
    declare = sop.impact_cardinality if counted else sop.sensitivity
    slack = slack_of(sop, witness["max_degree"])
    return {
        "declared": float(declare(witness["max_degree"])),
        "observed": float(sum(change > slack for change in changes) if counted else most),
        "values": values,
        "at": at,
    }
