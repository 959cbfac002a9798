"""The geometry of the pictures, held against independent computations."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError
from pdpaudit.outputs import Membership
from pdpaudit.outputs.columns import Column
from pdpaudit.report.charts import Loss, loss_chart, trade_off_chart
from pdpaudit.report.findings import chances
from pdpaudit.report.pair_drawing import MOST, draw_pair, draw_witness
from pdpaudit.report.sources import source_from_json
from pdpaudit.results.measurements import ClaimEvent, Counts
from pdpaudit.results.pairs import OwnPair, pair_from_json
from pdpaudit.results.results import ClaimResult


def sampled(x: int, y: int, n: int, delta: float = 0.0) -> ClaimResult:
    event = ClaimEvent(counts=Counts(x, y, n))
    claimed = PrivacyClaim(1.0, delta)
    return ClaimResult("a", "", "", "not_rejected", claimed, confidence=0.95, event=event)


@given(st.integers(1, 400), st.data())
def test_the_limits_are_those_of_clopper_and_pearson(n: int, data: st.DataObject) -> None:
    x, y = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    seen = chances(sampled(x, y, n), 2)
    assert seen is not None
    for hits, low, high in ((x, seen.p_low, seen.p_high), (y, seen.q_low, seen.q_high)):
        # 0.05 over two claims and two sides; proportion_ci is given both ends.
        expected = stats.binomtest(hits, n).proportion_ci(1 - 2 * 0.05 / 4, method="exact")
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_an_event_never_seen_otherwise_has_an_open_end() -> None:
    claim = sampled(500, 0, 1000)
    seen = chances(claim, 1)
    assert seen is not None
    assert seen.loss(0.0) == math.inf
    high = seen.highest_loss(0.0)
    row = Loss("a", "not_rejected", 1.0, 0.5, seen.loss(0.0), high, None, False)
    assert loss_chart([row], "a").count("<text") >= 4


@pytest.mark.parametrize("x", [150, 300])
def test_a_chart_obeys_the_policy_of_a_page_and_its_dark_mode(x: int) -> None:
    seen = chances(sampled(x, 1, 300), 1)
    assert seen is not None
    text = trade_off_chart(PrivacyClaim(1.0), seen, ((0, 1), (1, 0)), "here", kind="violated")
    root = ElementTree.fromstring(text)
    ids = [one.attrib["id"] for one in root.iter() if "id" in one.attrib]
    assert len(ids) == len(set(ids))
    assert all(name.startswith("here") for name in ids)
    for one in root.iter():
        assert "style" not in one.attrib
        assert one.tag != "style"
        for key in ("fill", "stroke"):
            assert one.attrib.get(key, "none").startswith(("var(--", "none", "currentColor"))
        reference = one.attrib.get("href", "#here")
        assert reference == "#here" or reference[1:] in ids
    assert "false-negative rate" in "".join(root.itertext())


@given(
    st.floats(0, 5), st.sampled_from([0.0, 1e-6, 0.1]), st.floats(0, 1)
)  # randomised response attains the curve at two points, and mixing them all of it
def test_the_curve_is_what_the_worst_mechanism_attains(
    epsilon: float, delta: float, alpha: float
) -> None:
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    # The dominating pair: with probability delta one output tells everything.
    left = [delta, (1 - delta) * keep, (1 - delta) * (1 - keep), 0.0]
    right = [0.0, (1 - delta) * (1 - keep), (1 - delta) * keep, delta]
    # Neyman and Pearson: accuse on the outputs that speak most for the left.
    rest, miss = alpha, 1.0
    for p, q in zip(left, right, strict=True):
        share = 1.0 if q <= rest else rest / q
        miss, rest = miss - share * p, max(0.0, rest - share * q)
    assert float(PrivacyClaim(epsilon, delta).trade_off(alpha)) == pytest.approx(miss, abs=1e-9)


@given(st.floats(0, 8), st.sampled_from([0.0, 1e-3]), st.integers(0, 300), st.integers(0, 300))
def test_a_bound_beyond_the_claim_is_a_corner_below_the_curve(
    epsilon: float, delta: float, x: int, y: int
) -> None:
    seen = chances(sampled(x, y, 300, delta), 1)
    assert seen is not None
    alpha, beta = seen.q_high, 1 - seen.p_low
    below = beta < float(PrivacyClaim(epsilon, delta).trade_off(alpha)) - 1e-12
    # The event and its complement are judged by one curve.
    events = (seen.p_low, seen.q_high), (1 - seen.q_high, 1 - seen.p_low)
    bounds = [math.log((p - delta) / q) if p > delta and q > 0 else 0.0 for p, q in events]
    if all(abs(bound - epsilon) > 1e-9 for bound in bounds):
        assert below == (max(bounds) > epsilon)


def test_a_pair_is_drawn_towards_the_likelier_side(audit_body: dict[str, Any]) -> None:
    claim = source_from_json(audit_body, "a.json").result.claims[0]
    assert claim.witness is not None
    pair = claim.witness.pair
    drawn = draw_pair(pair, claim.event.definition)
    assert drawn is not None
    groups = {role: [drawn.name(v) for v in found] for role, found in drawn.groups.items()}
    assert groups == {"lost": ["Cosette", "Enjolras"], "kept": ["Valjean"], "gained": ["Marius"]}
    picture = drawn.picture("a")
    assert picture.caption == "Javert loses Cosette, Enjolras; gains Marius; keeps Valjean."
    assert picture.note == ""  # nothing is left out
    signs = {drawn.name(v): drawn.signs(v) for v in drawn.drawn}
    assert set(signs) == {"Valjean", "Cosette", "Marius", "Javert", "Fantine", "Enjolras"}
    assert {name for name, found in signs.items() if "targeted" in found} == {
        "Cosette", "Valjean", "Marius",
    }  # fmt: skip
    assert "where the search starts" in signs["Valjean"]
    assert "named by the event" in signs["Marius"]
    assert signs["Javert"] == {"rewired, protected"}
    words = "".join(ElementTree.fromstring(picture.draw("a")).itertext())
    for said in (*signs, "contact lost", "contact gained", "contact kept", "other contacts"):
        assert said in words
    turned = draw_pair(pair, replace(claim.witness.event, side="right"))
    assert turned is not None
    assert (turned.groups["lost"], turned.groups["gained"]) == (
        drawn.groups["gained"],
        drawn.groups["lost"],
    )


def test_of_a_network_that_is_only_named_the_rewired_are_drawn(audit_body: dict[str, Any]) -> None:
    base = {"n": 1_000_000, "seeds": [0], "file": {"edges": "big.csv"}}
    pair = pair_from_json({**audit_body["claims"][0]["pair"], "base": base})
    drawn = draw_pair(pair, Membership("right", Column("first"), frozenset({2})))
    assert drawn is not None
    picture = drawn.picture("a")
    # Vertex 0 is kept, and only its number is known.
    assert picture.caption == "Javert loses Marius; gains Cosette, Enjolras; keeps 0."
    assert picture.note.endswith("only those rewired are drawn.")


@pytest.mark.parametrize("broken", [{"vertex": "a"}, {"left": 3}, {"base": {}}, {"lost": [1]}])
def test_what_is_no_pair_is_refused(audit_body: dict[str, Any], broken: dict[str, Any]) -> None:
    audit_body["claims"][0]["witness"]["pair"] |= broken
    with pytest.raises(InputError, match=r"claims\[0\].witness.pair is .*, not a pair"):
        source_from_json(audit_body, "a.json")


def test_of_a_pair_without_its_network_nothing_is_drawn(audit_body: dict[str, Any]) -> None:
    claim = source_from_json(audit_body, "a.json").result.claims[0]
    assert draw_pair(claim.pair, None) is None
    assert draw_pair(OwnPair("0 → 1", 1), None) is None


@given(
    st.sets(st.integers(1, 900), max_size=200),
    st.sets(st.integers(1, 900), max_size=200),
    st.sets(st.tuples(st.integers(1, 900), st.integers(1, 900)), max_size=50),
)
def test_a_large_pair_is_cut_to_what_matters(
    left: set[int], right: set[int], edges: set[tuple[int, int]]
) -> None:
    base = {"n": 901, "seeds": [900], "targeted": [900], "edges": [list(e) for e in edges]}
    pair = pair_from_json(
        {"vertex": 0, "left": sorted(left), "right": sorted(right), "network": "a", "base": base}
    )
    drawn = draw_pair(pair, None)
    assert drawn is not None
    assert len(drawn.drawn) == len(set(drawn.drawn)) <= MOST + 1
    more = sum(int(label[1:].split()[0]) for _, v, label in drawn.ring if v is None and label)
    around = sum(role != "other" and v is not None for role, v, _ in drawn.ring)
    assert around + more == len(left | right)
    if len(left | right) <= MOST:
        assert not more
    assert drawn == draw_pair(pair, None)


def test_a_counterexample_shows_scores_before_and_after(check_body: dict[str, Any]) -> None:
    drawn = draw_witness(check_body["checks"][1]["witness"])
    assert drawn is not None
    assert {drawn.label(v) for v in drawn.drawn} == {"0: 0 → 1", "1: 0 → 1", "2: 0 → 2", "3: 0"}
    assert drawn.groups["gained"] == [0, 1, 2]
    words = "".join(ElementTree.fromstring(drawn.picture("a").draw("a")).itertext())
    for said in ("in S", "not in S", "0: 0 → 1"):
        assert said in words


def test_a_single_graph_is_drawn_without_a_centre(check_body: dict[str, Any]) -> None:
    known = {"format": "pdpaudit-statistic-witness/1", "property": "finite"}
    drawn = draw_witness({**known, "n": 3, "edges": [[0, 1]], "targets": [2], "vertex": None})
    assert drawn is not None
    assert drawn.drawn == [0, 1, 2]
    picture = drawn.picture("a")
    assert picture.caption == ""
    assert "contact gained" not in picture.draw("a")
