"""Enclosures: closed form against quadrature, the double-precision law, and known digits."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpaudit.algorithms.laws import closed_form
from pdpaudit.algorithms.laws.closed_form import enclose_round
from pdpaudit.algorithms.laws.networks import ExactRound
from pdpaudit.algorithms.laws.noise import Laplace
from pdpaudit.algorithms.laws.one_round import (
    RoundScores,
    first_target_law,
    search_com_law,
)
from pdpaudit.algorithms.laws.verify import enclose_by_quadrature
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LawUnavailable

from .losses import agree, enclose_loss, search_com_round, verify_loss


def squeeze(m, n, threshold, score):
    return search_com_round(
        [score] * m,
        [(0, n)],
        impact_cardinality=2 * (m + 1) + 1,
        threshold=threshold,
    )


@pytest.mark.slow
def test_the_lemma_fails_and_two_proofs_say_so():
    pair = squeeze(8, 2000, 1000, 0), squeeze(8, 2000, 1000, 1)
    proof = enclose_loss(*pair, None)
    known, rounding = Fraction("1.9637394630037"), Fraction("5e-14")
    assert known - rounding <= proof[0] <= proof[1] <= known + rounding
    assert float(enclose_round(pair[0], None)[0]) == pytest.approx(4.293e-3, abs=5e-7)
    second = verify_loss(*pair, None)
    assert second[0] > 1
    assert agree(second, proof)


def test_the_main_text_claim_fails_and_two_proofs_say_so():
    near = ExactRound.of([1] + [0] * 9, 1)
    far = ExactRound.of([0] + [1] * 9, 1)
    proof = enclose_loss(near, far, (1, 0))
    assert float(proof[0]) == pytest.approx(1.9450, abs=5.1e-5)
    second = verify_loss(near, far, (1, 0))
    assert second[0] > 1
    assert agree(second, proof)


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
    question = search_com_round(
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
        assert float(ball[0]) == pytest.approx(probability, rel=1e-10)
        other = enclose_by_quadrature(question, event)
        assert agree(other, ball)


def test_threshold_stop_and_certain_answers():
    law = first_target_law([1.0, 0.0], Laplace(2.0), stop_score=0.5)
    question = ExactRound.of([1, 0], 2, stop_score=Fraction(1, 2))
    assert float(enclose_round(question, None)[0]) == pytest.approx(law.none, rel=1e-11)
    assert float(enclose_round(question, 1)[0]) == pytest.approx(law.found[0], rel=1e-11)
    assert float(enclose_by_quadrature(question, 0)[0]) == pytest.approx(law.found[1], rel=1e-7)
    tied = ExactRound.of([1, 1], 2, stop_score=1)
    third = enclose_round(tied, None)
    assert third[0] <= Fraction(1, 3) <= third[1]
    assert enclose_round(ExactRound.of([1], 1), None) == (0, 0)
    assert enclose_round(squeeze(0, 5, 2, 0), None) == (1, 1)
    with pytest.raises(LawUnavailable, match="probability 0"):
        enclose_loss(ExactRound.of([1], 1), ExactRound.of([1], 1), None)


def test_main_text_enclosure_contains_the_double_precision_law():
    scores = [3.0, 1.0, 1.0, 0.25]
    law = first_target_law(scores, Laplace(0.75))
    for score, probability in zip(scores, law.found, strict=True):
        ball = enclose_round(ExactRound.of(scores, 0.75), score)
        assert float(ball[0]) == pytest.approx(probability, rel=1e-12)


def test_a_false_claim_is_not_confirmed():
    # true loss 0.9648: neither road may show that it exceeds 0.965
    near, far = ExactRound.of([1, 0], 1), ExactRound.of([0, 1], 1)
    assert enclose_loss(near, far, (1, 0))[0] <= Fraction("0.965")
    assert Fraction("0.9648") < verify_loss(near, far, (1, 0))[0] <= Fraction("0.965")


@pytest.mark.parametrize("scale", [2, 40])
def test_scores_far_apart_and_tiny_probabilities(scale):
    """One event is all but impossible, and the pieces between scores differ by many orders."""
    question = search_com_round(
        [0, 300],
        [(0, 17), (1, 20), (-300, 80)],
        epsilon=Fraction(4, scale),
        impact_cardinality=1,
        threshold=20,
    )
    for event in (0, 300, None):
        ball, other = enclose_round(question, event), enclose_by_quadrature(question, event)
        assert agree(ball, other)
        assert other[1] - other[0] <= Fraction(1, 10**10) * other[0]


def test_too_large_a_closed_form_is_refused_with_the_alternative(monkeypatch):
    monkeypatch.setattr(closed_form, "MAX_WORK", 10)
    question = search_com_round([0], [(0, 10), (1, 10)], impact_cardinality=1, threshold=3)
    with pytest.raises(LawUnavailable, match="quadrature"):
        enclose_round(question, None)


def test_precision_has_a_limit(monkeypatch):
    monkeypatch.setattr(closed_form, "MAX_BITS", 100)
    with pytest.raises(LawUnavailable, match="bits"):
        enclose_round(squeeze(2, 50, 20, 0), None, relative=1e-90)


def test_refuses_bad_questions():
    with pytest.raises(InputError, match="score 5"):
        enclose_round(ExactRound.of([1], 1), 5)
    with pytest.raises(LawUnavailable, match="no noise"):
        ExactRound.of([1], 0)
