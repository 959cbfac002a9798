"""Proofs: from nothing but the mechanism to a certificate; replay refuses a forged one."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pdpaudit import __version__
from pdpaudit.algorithms.laws.networks import view_again, view_of_round
from pdpaudit.algorithms.searches.noisy_max import PTargetMainText, PTargetRepaired
from pdpaudit.algorithms.searches.search_com import PTarget, SearchCom
from pdpaudit.algorithms.statistics import CN, Flow, Path
from pdpaudit.attacks.pair_families import karate_club, les_miserables, planted_network
from pdpaudit.auditing import Config, audit, exact_search
from pdpaudit.auditing.proof import Unproved, prove, prove_claim
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LawUnavailable, PrivacyClaim
from pdpaudit.core.specification import Specification
from pdpaudit.replay import Terms, replay_claim
from pdpaudit.results.results import Result

SPEC = {"epsilon": 1.0, "sop": "CN"}

#: An enclosure is rigorous, a law is not: it adds up some thousand products of doubles up to 1,
#: each right to 1.1e-16, and each processor rounds in its own order.
ROUNDED = 1e-12


def _never(*_: Any) -> Any:
    raise AssertionError("the network is written out")


def _proved(mechanism: Any, name: str, networks: list[Any], **parameters: Any) -> dict[str, Any]:
    spec = Specification(name, {**SPEC, **parameters})
    asked: dict[str, Any] = {"subject": name, "spec": spec, "prover": prove_claim}
    result = audit(mechanism, networks, Config(1), **asked)
    body: dict[str, Any] = result.to_json()["claims"][0]
    return body


@pytest.fixture(autouse=True, scope="module")
def few_moves() -> Iterator[None]:
    """The families' pairs break these claims without climbing further."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_search, "MOVES", 1)
        patch.setattr(exact_search, "STARTS", 1)
        yield


@pytest.fixture(scope="module")
def main_text() -> dict[str, Any]:
    mechanism = PTargetMainText(sop=CN())
    return _proved(mechanism, "PTarget:main-text", [planted_network(5, 4)], components=2)


def test_the_main_text_is_broken_and_proved_to_be(main_text: dict[str, Any]) -> None:
    assert main_text["status"] == "violated"
    assert main_text["method"] == "enclosure"
    proof = main_text["event"]["proof"]
    assert proof["words"] == "this is a theorem about this pair"
    low, high = map(float, proof["loss"])
    assert main_text["exact"] == pytest.approx((low + high) / 2, abs=1e-9)
    assert float(proof["excess"][0]) > 0.7
    replay = replay_claim(main_text, Terms(1, __version__, _never))
    assert replay.reproduced, replay.why
    assert "theorem" in replay.why


def test_search_com_is_broken_and_proved_to_be() -> None:
    claim = _proved(SearchCom(sop=CN()), "SearchCom", [planted_network(8, 2000)])
    assert (claim["status"], claim["method"]) == ("violated", "enclosure")
    assert None not in claim["witness"]["certificate"]["outputs"]
    replay = replay_claim(claim, Terms(1, __version__, _never))
    assert replay.reproduced, replay.why


FORGERIES = {
    "probability_other": [1e-6, 1e-9],
    "probability": [1e-6, 1e-9],
    "loss": [1e-3, 1e-9],
    "excess": [1e-3, 1e-9],
}


@pytest.mark.parametrize("key", FORGERIES)
@pytest.mark.parametrize("both", [False, True], ids=["certificate", "and told"])
def test_a_forged_certificate_is_refused(main_text: dict[str, Any], key: str, both: bool) -> None:
    for by in FORGERIES[key]:
        claim = copy.deepcopy(main_text)
        ends = claim["witness"]["certificate"][key]
        forged = [repr(float(end) * (1 + by)) for end in ends]
        claim["witness"]["certificate"][key] = forged
        if both:
            claim["event"]["proof"][key] = forged
        assert not replay_claim(claim, Terms(1, __version__, _never)).reproduced


def test_a_certificate_of_another_event_is_refused(main_text: dict[str, Any]) -> None:
    outputs = main_text["witness"]["certificate"]["outputs"]
    (target,) = {output[-1] for output in outputs}
    for forged in ([[0, 1 if target != 1 else 2]], [[0, target, 99]], []):
        claim = copy.deepcopy(main_text)
        claim["witness"]["certificate"]["outputs"] = forged
        assert not replay_claim(claim, Terms(1, __version__, _never)).reproduced


def test_forged_surroundings_are_refused(main_text: dict[str, Any]) -> None:
    for where, key, value in [
        (("claimed",), "epsilon", 1.5),
        (("witness", "mechanism", "parameters"), "epsilon", 1.1),
        (("witness", "pair"), "right", [0]),
        ((), "exact", 3.0),
        ((), "status", "not_rejected"),
    ]:
        claim = copy.deepcopy(main_text)
        body = claim
        for step in where:
            body = body[step]
        assert body[key] != value
        body[key] = value
        assert not replay_claim(claim, Terms(1, __version__, _never)).reproduced, key
    del claim["witness"]["certificate"]["loss"]
    with pytest.raises(InputError, match="damaged"):
        replay_claim(claim, Terms(1, __version__, _never))


def test_a_rewired_targeted_vertex_is_no_pair(main_text: dict[str, Any]) -> None:
    claim = copy.deepcopy(main_text)
    claim["pair"]["vertex"] = claim["witness"]["pair"]["vertex"] = 1
    replay = replay_claim(claim, Terms(1, __version__, _never))
    assert not replay.reproduced
    assert "targeted" in replay.why


def test_what_cannot_be_enclosed_says_why() -> None:
    two = _proved(
        PTargetMainText(sop=CN(), components=3),
        "PTarget:main-text",
        [planted_network(4, 3)],
        components=3,
    )
    assert two["method"] == "exact law"
    assert "one search round" in two["event"]["unproved"]
    instance = planted_network(3, 5).instance()
    with pytest.raises(LawUnavailable, match="Laplace"):
        PTargetRepaired(sop=CN(), noise="gumbel").enclose(instance, frozenset({(0,)}))
    with pytest.raises(LawUnavailable, match="no noise"):
        PTargetMainText(sop=Path(1)).enclose(instance, frozenset({(0, 1)}))
    with pytest.raises(LawUnavailable, match="no output"):
        PTarget(sop=CN()).enclose(instance, frozenset({(1, 2)}))
    claim = PrivacyClaim(1.0, 0.9)
    with pytest.raises(Unproved, match="distinguished from"):
        prove(PTargetMainText(sop=CN()), instance, instance, frozenset({(0, 1)}), claim)


@pytest.mark.parametrize("explored", [False, True])
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("sop", [CN(), Path(2), Path(3)], ids=str)
def test_prover_and_checker_see_the_same_round(sop: Any, explored: bool, hidden: bool) -> None:
    if not explored and not hidden:
        return  # a round from the seeds alone is SearchCom's only
    for network in [*les_miserables(), *karate_club()]:
        instance = network.instance()
        ours = view_of_round(instance, sop, explored=explored, hidden=hidden)
        theirs = view_again(network.instance(), sop, explored=explored, hidden=hidden)
        assert ours.targets == theirs.targets
        assert ours.protected == theirs.protected
        mechanism = PTargetMainText(sop=sop) if explored else SearchCom(sop=sop)
        for output in mechanism.law(instance).probabilities:
            assert ours.winner(output) == theirs.winner(output)


def test_scores_that_may_be_rounded_prove_nothing() -> None:
    class Half:
        def __call__(self, graph: Any, vertex: int, targets: frozenset[int]) -> float:
            return 0.5

        def sensitivity(self, max_degree: int) -> float:
            return 1.0

        def impact_cardinality(self, max_degree: int) -> int:
            return 1

    instance = planted_network(2, 2).instance()
    with pytest.raises(LawUnavailable, match="whole numbers"):
        PTargetMainText(sop=Half()).enclose(instance, frozenset({(0, 1)}))
    assert math.isfinite(Flow(2).sensitivity(3))


@pytest.mark.parametrize(
    "mechanism",
    [
        SearchCom(sop=CN()),
        PTarget(sop=CN()),
        PTargetMainText(sop=CN()),
        PTargetRepaired(sop=CN()),
    ],
    ids=lambda one: type(one).__name__,
)
def test_enclosures_hold_the_law(mechanism: Any) -> None:
    for network in [*karate_club(), planted_network(3, 30)]:
        instance = network.instance()
        law = mechanism.law(instance).probabilities
        for output in list(law)[:2] + list(law)[-1:]:
            if law[output] == 0:
                continue
            low, high = mechanism.enclose(instance, frozenset({output}))
            again = mechanism.enclose_again(instance, frozenset({output}))
            assert low <= high
            assert again[0] <= again[1]
            assert max(low, again[0]) <= min(high, again[1])
            assert float(low) == pytest.approx(law[output], rel=1e-9)
        low, high = mechanism.enclose(instance, frozenset(o for o in law if law[o] > 0))
        assert low <= 1 <= high + ROUNDED


def test_true_bound_and_curves_are_told(main_text: dict[str, Any]) -> None:
    event = main_text["event"]
    assert event["proved_bound"]["epsilon"] == 2.0
    curve = event["hockey_stick"]
    assert curve["epsilon"][0] == 0
    assert curve["delta"][-1] == pytest.approx(0, abs=1e-9)
    assert all(a >= b for a, b in zip(curve["delta"], curve["delta"][1:], strict=False))
    # The trade-off's total variation is δ(0), by another road.
    gaps = [
        1 - a - b
        for a, b in zip(event["trade_off"]["false_alarm"], event["trade_off"]["miss"], strict=True)
    ]
    assert max(gaps) == pytest.approx(curve["delta"][0], abs=1e-9)


def test_losses_stay_below_the_proved_bound() -> None:
    for mechanism in (SearchCom(sop=CN()), PTarget(sop=CN()), PTargetMainText(sop=CN())):
        result: Result = audit(mechanism, [planted_network(6, 24)], Config(3), subject="m")
        claim = result.claims[0]
        assert claim.exact is not None
        assert claim.exact <= claim.event.to_json()["proved_bound"]["epsilon"] + 1e-9


@pytest.mark.parametrize("again", [False, True])
def test_the_first_round_is_enclosed_and_later_ones_are_not(again: bool) -> None:
    instance = planted_network(5, 24).instance()
    nobody = frozenset({tuple(sorted(instance.seeds))})
    few = PTarget(sop=CN(), components=2, max_degree=28)
    many = replace(few, components=5)
    assert many.beginning() == few
    enclosed = [one.enclose_again if again else one.enclose for one in (few, many)]
    low, high = enclosed[0](instance, nobody)
    (output,) = nobody
    law = few.law(instance).probabilities[output]
    assert low - ROUNDED <= law <= high + ROUNDED
    with pytest.raises(LawUnavailable, match="one search round"):
        enclosed[1](instance, nobody)


@pytest.mark.slow
def test_a_search_of_two_rounds_is_broken_by_its_first_and_that_is_proved() -> None:
    mechanism = PTarget(sop=CN(), epsilon=8.0, components=3)
    claim = _proved(mechanism, "PTarget", [planted_network(12, 600)], epsilon=8.0, components=3)
    assert claim["claimed"]["epsilon"] == 16.0
    assert claim["status"] == "violated"
    assert 16.0 < claim["exact"] <= claim["event"]["proved_bound"]["epsilon"]
    assert claim["witness"]["mechanism"]["beginning"] is True
    assert claim["method"] == "enclosure"
    assert replay_claim(claim, Terms(1, __version__, _never)).reproduced
