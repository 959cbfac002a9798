"""Published claims: no verdict by heart, so a repaired mechanism in a claim's place flips it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from pdpaudit import __version__
from pdpaudit.algorithms.paper_claims.noisy_max import NoisyMaxWithValue, output
from pdpaudit.algorithms.searches.baselines import SFS
from pdpaudit.algorithms.searches.rounds import sfs
from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.auditing import exact_search
from pdpaudit.auditing.published_claims import (
    MechanismClaim,
    audit_claims,
    catalogue,
    composition_rows,
    paper_form_region,
)
from pdpaudit.auditing.small_networks import try_small_networks
from pdpaudit.core.errors import InputError, Misbehaviour
from pdpaudit.core.protocols import Law, LawUnavailable
from pdpaudit.replay import Terms, replay_claim
from pdpaudit.report.rendering import render_markdown
from pdpaudit.report.sources import dossier, published, source_from_json
from pdpaudit.results.results import Result


@pytest.fixture(autouse=True, scope="module")
def few_moves() -> Iterator[None]:
    """The families' pairs break these claims without climbing further."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_search, "MOVES", 1)
        patch.setattr(exact_search, "STARTS", 1)
        yield


def _never(*_: Any) -> Any:
    raise AssertionError("the networks are written out")


def _claim(name: str, **changes: Any) -> Any:
    (claim,) = catalogue([name])
    return replace(claim, **changes)  # type: ignore[type-var]


SMALLEST = partial(try_small_networks, vertices=3)
SMALL: dict[str, Any] = {"networks": lambda: [planted_network(8, 24)]}
LARGE: dict[str, Any] = {"networks": lambda: [planted_network(8, 2000)]}

#: The claim as it stands, and with a mechanism that keeps it in the place of the broken one.
FLIPS = {
    "C2": (LARGE, {**LARGE, "mechanism": "PTarget:repaired"}),
    "C3": (LARGE, {**LARGE, "mechanism": "PTarget:repaired"}),
    "C4": (
        {},
        {
            "mechanism": "PTarget:repaired",
            "parameters": {"epsilon": 20.0, "sop": "CN", "components": 2, "delta": 0.02},
            **SMALL,
        },
    ),
    "C5": (SMALL, {**SMALL, "mechanism": "PTarget:repaired"}),
    "C6": ({}, {"parameters": {"epsilon": 1.0, "functions": 5, "release": "index"}}),
    "C12": (SMALL, {**SMALL, "mechanism": "PTarget:repaired"}),
}


@pytest.mark.parametrize(
    "name", [name if name == "C6" else pytest.param(name, marks=pytest.mark.slow) for name in FLIPS]
)
def test_a_repaired_mechanism_flips_the_verdict(name: str) -> None:
    broken, mended = (_claim(name, **changes) for changes in FLIPS[name])
    result = audit_claims([broken], 1)
    assert result.claims[0].status == "violated"
    replay = replay_claim(
        json.loads(json.dumps(result.to_json()))["claims"][0],
        Terms(1, __version__, _never),
        {key: getattr(broken, key) for key in ("id", "statement", "source")},
    )
    assert replay.reproduced, replay.why
    (two,) = audit_claims([mended], 1).claims
    assert two.status == "not_rejected"
    assert two.witness is None


class ByDegree(SFS):
    """A search whose order depends on protected vertices: ties go to the smallest degree."""

    sample = None

    def run(self, instance: Any, rng: np.random.Generator) -> tuple[int, ...]:
        found = sfs(instance, instance.seeds)
        degree = np.diff(instance.adjacency.indptr)
        return tuple(sorted(found, key=lambda v: (degree[v], v)))

    def law(self, instance: Any) -> Law:
        return Law({self.run(instance.fresh(), np.random.default_rng(0)): 1.0})


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (Law({}, missing=1.0), "leaves outputs out"),
        (Law({0: 1.0 - 5e-7}), "leaves outputs out"),
        (Law({0: math.nan}), "the probability nan"),
    ],
)
def test_a_law_that_says_little_certifies_nothing(law: Law, said: str) -> None:
    class Silent(ByDegree):
        def law(self, instance: Any) -> Law:
            return law

    with pytest.raises((LawUnavailable, Misbehaviour), match=said):
        try_small_networks(Silent(), 3)


def test_small_networks_tell_equal_outputs_of_two_kinds_apart() -> None:
    class Kinds(ByDegree):
        def law(self, instance: Any) -> Law:
            return Law({True: 1.0}) if instance.adjacency.nnz else Law({1: 1.0})

    assert np.isinf(try_small_networks(Kinds(), 3).epsilon)


@pytest.mark.parametrize("name", ["C1", "C13"])
def test_small_networks_certify(name: str) -> None:
    (claim,) = audit_claims([_claim(name, exhaust=SMALLEST, **SMALL)], 1).claims
    assert claim.status == "certified"
    assert "up to 3 vertices" in claim.method


def test_small_networks_find_what_the_benchmark_networks_do_not_show() -> None:
    small = try_small_networks(ByDegree(), 4)
    assert np.isinf(small.epsilon)
    assert small.worst is not None
    left, right = small.worst.left.instance(), small.worst.right.instance()
    assert ByDegree().law(left) != ByDegree().law(right)
    broken = _claim("C1", mechanism=f"{__file__}:ByDegree", exhaust=SMALLEST, **SMALL)
    (claim,) = audit_claims([broken], 1).claims
    assert claim.status == "violated"
    assert claim.witness is not None


@pytest.mark.parametrize(
    ("name", "member", "bound"),
    [
        ("C7", ("Flow_2", 3), lambda k, degree: 0),
        ("C8", ("Path_2", 3), lambda k, degree: degree / 3),
        ("C9", ("CN", 3), lambda k, degree: 0),
        ("C10", ("CN", 3), lambda k, degree: 0.5),
        ("C11", ("Path_2", 3), lambda k, degree: 0),
    ],
)
@pytest.mark.usefixtures("few_graphs")
def test_a_bound_that_does_not_hold_is_broken(
    name: str, member: Any, bound: Any, repetitions: Callable[[int, int], int]
) -> None:
    claim, vertices = _claim(name), repetitions(3, 4)
    # Path_4 on a complete graph takes about as long as one call may.
    sops = [sop for sop, _ in claim.members if sop != "Path_4"]
    small = replace(claim, members=tuple((sop, vertices) for sop in sops))
    assert {check.status for check in audit_claims([small], 1).checks} == {"certified"}
    (check,) = audit_claims([replace(small, members=(member,), bound=bound)], 1).checks
    assert check.status == "violated"


def test_the_catalogue_is_complete_and_says_what_is_not_there() -> None:
    assert [claim.id for claim in catalogue()] == [f"C{i}" for i in range(1, 14)]
    with pytest.raises(InputError, match="no claim 'C99'"):
        catalogue(["C99"])
    assert [claim.id for claim in catalogue(paper="graph")] == [f"G{i}" for i in range(1, 41)]


def test_noisy_max_has_the_law_it_samples() -> None:
    mechanism = NoisyMaxWithValue(epsilon=0.8, functions=3)
    rng = np.random.default_rng(11)
    for _, *sides in mechanism.pairs():
        for side in sides:
            law = mechanism.law(side).probabilities
            assert sum(law.values()) == pytest.approx(1, abs=1e-12)
            outputs = [mechanism.run(side, rng) for _ in range(4000)]
            # Six standard deviations for each of 66 cells: false alarm below 1e-6.
            for told, mass in law.items():
                spread = 6 * np.sqrt(mass * (1 - mass) / 4000) + 1e-3
                assert abs(outputs.count(told) / 4000 - mass) < spread


def test_noisy_max_encloses_its_law() -> None:
    mechanism = NoisyMaxWithValue(epsilon=1.0, functions=3)
    law = mechanism.law((0, 1, 0)).probabilities
    event = frozenset(output(j, cell) for j in range(3) for cell in range(-5, 1))
    mass = sum(law[told] for told in event)
    for low, high in (
        mechanism.enclose((0, 1, 0), event),
        mechanism.enclose_again((0, 1, 0), event),
    ):
        assert low <= high
        assert float(low) == pytest.approx(mass, rel=1e-12)


def test_composition_reproduces_the_known_points() -> None:
    rows = {(row["epsilon"], row["rounds"], row["delta"]): row for row in composition_rows()}
    for point, paper, optimal in [
        ((1.0, 300, 1e-3), 128.76, 183.744),
        ((2.0, 100, 1e-3), 148.68, 187.199),
        ((0.5, 1000, 1e-6), 166.23, 193.504),
    ]:
        bounds = {bound["form"]: bound for bound in rows[point]["bounds"]}
        assert bounds["paper"]["epsilon"] == pytest.approx(paper, abs=5e-3)
        assert bounds["optimal"]["epsilon"] == pytest.approx(optimal, abs=5e-4)
        assert not bounds["paper"]["valid"]
        assert bounds["general"]["valid"]
    for row in paper_form_region():
        assert row["proved_up_to"] <= (row["holds_up_to"] or 1e9)


@pytest.mark.usefixtures("few_graphs")
def test_the_dossier_is_a_function_of_rounded_numbers() -> None:
    result = audit_claims([_claim("C5", **SMALL), _claim("C11")], 3)
    body = published(result.to_json())
    assert "versions" not in body
    assert "elapsed_s" not in body
    body["context"]["dossier"] = dossier(result, "COMMAND", "REPLAY")
    text = render_markdown([source_from_json(body, "claims.json")])
    # Just above a tie, and at it once it is rounded to eight digits.
    near = replace(result.claims[0], exact=118.1432500001)
    known = replace(result, claims=(near, *result.claims[1:]))
    again = Result.from_json(published(known.to_json()), "claims.json")
    assert dossier(known, "COMMAND", "REPLAY") == dossier(again, "COMMAND", "REPLAY")
    noisy = json.loads(json.dumps(body))
    noisy["claims"][0]["exact"] *= 1 + 1e-15
    noisy["elapsed_s"], noisy["versions"] = 3.0, {"numpy": "x"}
    assert published(noisy) == body
    for words in ("C5", "theorem about this pair", "COMMAND", "REPLAY", "183.744", "certified"):
        assert words in text
    assert "| C5 |" in text


def test_a_claim_can_be_made_of_any_mechanism() -> None:
    claim = MechanismClaim(
        id="X",
        statement="says",
        source="here",
        mechanism="PTarget:repaired",
        parameters={"epsilon": 0.5, "sop": "CN"},
        networks=lambda: [planted_network(3, 5)],
    )
    result = audit_claims([claim], 2)
    assert result.claims[0].id == "X"
    assert result.status == "not_rejected"
