"""Enclosures: closed form against quadrature, the double-precision law, and known digits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.algorithms.laws import closed_form
from pdpaudit.algorithms.laws.closed_form import enclose_round
from pdpaudit.algorithms.laws.exact_round import (
    Enclosure,
    exact_first_target,
    exact_search_com,
    exact_threshold_stop,
)
from pdpaudit.algorithms.laws.noise import Laplace
from pdpaudit.algorithms.laws.one_round import (
    RoundScores,
    first_target_law,
    search_com_law,
    threshold_stop_law,
)
from pdpaudit.algorithms.laws.verify import enclose_by_quadrature
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LawUnavailable

from .losses import enclose_loss, verify_loss


def squeeze(m, n, threshold, score):
    return exact_search_com(
        [score] * m,
        [(0, n)],
        epsilon=1,
        sensitivity=1,
        impact_cardinality=2 * (m + 1) + 1,
        threshold=threshold,
    )


@pytest.mark.slow
def test_the_lemma_fails_and_two_proofs_say_so():
    pair = squeeze(8, 2000, 1000, 0), squeeze(8, 2000, 1000, 1)
    proof = enclose_loss(*pair, None)
    known = Enclosure("1.9637394630037", "5e-14")
    assert proof.loss.lower >= known.lower
    assert proof.loss.upper <= known.upper
    assert proof.loss.exceeds(1)
    assert float(Fraction(proof.first.mid)) == pytest.approx(4.293e-3, abs=5e-7)
    second = verify_loss(*pair, None)
    assert second.loss.exceeds(1)
    assert second.agrees_with(proof.loss)


def test_the_main_text_claim_fails_and_two_proofs_say_so():
    near = exact_first_target([1] + [0] * 9, 1)
    far = exact_first_target([0] + [1] * 9, 1)
    proof = enclose_loss(near, far, (1, 0))
    assert proof.loss.exceeds(1)
    assert float(proof.loss.lower) == pytest.approx(1.9450, abs=5.1e-5)
    second = verify_loss(near, far, (1, 0))
    assert second.loss.exceeds(1)
    assert second.agrees_with(proof.loss)


LEVELS = st.sampled_from([Fraction(k, 2) for k in range(-2, 7)])


@settings(max_examples=25, deadline=None)
@given(
    targets=st.lists(LEVELS, min_size=1, max_size=4),
    protected=st.dictionaries(LEVELS, st.integers(1, 12), max_size=4),
    epsilon=st.sampled_from([Fraction(1, 2), 1, 3]),
    impact=st.integers(0, 4),
    threshold=st.integers(-1, 20),
)
def test_three_roads_agree(targets, protected, epsilon, impact, threshold):
    question = exact_search_com(
        targets,
        protected.items(),
        epsilon=epsilon,
        sensitivity=1,
        impact_cardinality=impact,
        threshold=threshold,
    )
    law = search_com_law(
        RoundScores.from_levels(
            [float(s) for s in targets], [float(s) for s in protected], list(protected.values())
        ),
        noise=Laplace(float(question.scale)),
        threshold=threshold,
        threshold_noise=Laplace(float(question.threshold_scale)),
    )
    for event, probability in [(None, law.none), (targets[0], law.found[0])]:
        if probability == 0.0:
            continue
        ball = enclose_round(question, event)
        assert float(ball.lower) == pytest.approx(probability, rel=1e-10)
        other = enclose_by_quadrature(question, event)
        assert other.lower <= ball.upper
        assert ball.lower <= other.upper


def test_threshold_stop_and_certain_answers():
    law = threshold_stop_law([1.0, 0.0], 0.5, Laplace(2.0))
    question = exact_threshold_stop([1, 0], Fraction(1, 2), 2)
    assert float(enclose_round(question, None).lower) == pytest.approx(law.none, rel=1e-11)
    assert float(enclose_round(question, 1).lower) == pytest.approx(law.found[0], rel=1e-11)
    assert float(enclose_by_quadrature(question, 0).lower) == pytest.approx(law.found[1], rel=1e-7)
    tied = exact_threshold_stop([1, 1], 1, 2)
    third = enclose_round(tied, None)
    assert third.lower <= Fraction(1, 3) <= third.upper
    assert enclose_round(exact_first_target([1], 1), None) == Enclosure("0", "0")
    assert enclose_round(squeeze(0, 5, 2, 0), None) == Enclosure("1", "0")
    with pytest.raises(LawUnavailable, match="probability 0"):
        enclose_loss(exact_first_target([1], 1), exact_first_target([1], 1), None)


def test_main_text_enclosure_contains_the_double_precision_law():
    scores = [3.0, 1.0, 1.0, 0.25]
    law = first_target_law(scores, Laplace(0.75))
    for score, probability in zip(scores, law.found, strict=True):
        ball = enclose_round(exact_first_target(scores, 0.75), score)
        assert float(ball.lower) == pytest.approx(probability, rel=1e-12)


def test_without_noise():
    question = exact_search_com(
        [1, 1], [(1, 3)], epsilon=1, sensitivity=0, impact_cardinality=1, threshold=1, ahead=2
    )
    for enclose in (enclose_round, enclose_by_quadrature):
        found = enclose(question, 1)
        assert float(found.lower) == pytest.approx(0.5 * np.exp(-0.5), rel=1e-14)
        assert float(enclose(question, None).lower) == pytest.approx(
            1 - 0.5 * np.exp(-0.5), rel=1e-14
        )


def test_a_false_claim_is_not_confirmed():
    # true loss 0.9648: neither road may show that it exceeds 0.965
    near, far = exact_first_target([1, 0], 1), exact_first_target([0, 1], 1)
    assert not enclose_loss(near, far, (1, 0)).loss.exceeds("0.965")
    assert not verify_loss(near, far, (1, 0)).loss.exceeds("0.965")
    assert verify_loss(near, far, (1, 0)).loss.exceeds("0.9648")


@given(
    mid=st.fractions(max_denominator=10**30),
    rad=st.fractions(min_value=0, max_value=10**6, max_denominator=10**30),
    digits=st.integers(1, 30),
)
def test_printing_is_outward(mid, rad, digits):
    printed = Enclosure.around(mid, rad, digits)
    assert printed.lower <= mid - rad
    assert printed.upper >= mid + rad
    # not needlessly: a unit of the last digit, and six digits of the radius
    assert printed.upper - printed.lower <= 2 * (
        rad * Fraction(101, 100) + 2 * abs(mid) * Fraction(10) ** (1 - digits)
    )


def test_too_large_a_closed_form_is_refused_with_the_alternative(monkeypatch):
    monkeypatch.setattr(closed_form, "_MAX_WORK", 10)
    question = exact_search_com(
        [0], [(0, 10), (1, 10)], epsilon=1, sensitivity=1, impact_cardinality=1, threshold=3
    )
    with pytest.raises(LawUnavailable, match="quadrature"):
        enclose_round(question, None)


def test_precision_has_a_limit(monkeypatch):
    monkeypatch.setattr(closed_form, "_MAX_BITS", 100)
    with pytest.raises(LawUnavailable, match="bits"):
        enclose_round(squeeze(2, 50, 20, 0), None, relative=1e-90)


def test_refuses_bad_questions():
    with pytest.raises(InputError, match="score 5"):
        enclose_round(exact_first_target([1], 1), 5)
    with pytest.raises(InputError, match="scale"):
        exact_first_target([1], 0)
    with pytest.raises(InputError, match="finite"):
        exact_first_target([float("nan")], 1)
    with pytest.raises(InputError, match="epsilon"):
        exact_search_com([1], [], epsilon=0, sensitivity=1, impact_cardinality=1, threshold=1)
