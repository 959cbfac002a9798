"""Laws that misbehave end in a clear verdict, and nothing computed before is lost."""

from __future__ import annotations

import math
import signal
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import pdpaudit
from pdpaudit import __version__
from pdpaudit.auditing import Config, audit, exact_search
from pdpaudit.auditing.claim_results import Prover
from pdpaudit.auditing.proof import Unproved, prove, prove_claim
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import LargestLoss, Law, LawUnavailable, PrivacyClaim, ProvedBound
from pdpaudit.core.registry import make_mechanism
from pdpaudit.core.subject import Subject
from pdpaudit.replay import Terms, finder, replay_claim
from pdpaudit.report.findings import claim_words
from pdpaudit.results.results import Result
from pdpaudit.testing.baseline import measure_growth

FAIR = Law({0: 0.5, 1: 0.5})
SKEW = Law({0: 0.9, 1: 0.1})


class Made:
    """A mechanism with pairs of its own, whose law on an input is what is given for it."""

    def __init__(self, *laws: Any, claims: tuple[float, ...] = (1.0,), **parts: Any) -> None:
        self.laws = laws
        self.claims = tuple(PrivacyClaim(epsilon, source="test") for epsilon in claims)
        self.claim = self.claims[0]
        for name, part in parts.items():
            setattr(self, name, part)

    def pairs(self) -> list[tuple[int, int]]:
        return [(0, i) for i in range(1, len(self.laws))]

    def run(self, instance: int, rng: Any) -> int:
        law = self.laws[instance]
        return int(rng.random() < (law.probabilities[1] if isinstance(law, Law) else 0.5))

    def law(self, instance: int) -> Law:
        law = self.laws[instance]
        if isinstance(law, BaseException):
            raise law
        return law


def ran(made: Made, prover: Prover | None = None, **options: Any) -> Result:
    return audit(made, [], Config(1, **options), subject="made", prover=prover)


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (ValueError("no such\nvertex"), "its law raised ValueError: no such vertex"),
        (SystemExit(2), "its law raised SystemExit: 2"),
        (None, "its law is no Law"),
        (Law({0: math.nan, 1: 0.5}), "its law gives 0 the probability nan"),
        (Law({0: 0.4}), "add up to 0.4, not 1"),
    ],
)
def test_a_law_that_misbehaves_is_an_error_that_says_where_and_what(law: Any, said: str) -> None:
    result = ran(Made(FAIR, law))
    (claim,) = result.claims
    assert claim.status == "error"
    assert claim.method.startswith("pair 1 (0 → 1), on the right: ")
    assert said in claim.method
    assert "`samples`" in claim.method
    assert result.error_budget == "exact output laws: no sampling error"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_a_law_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "LIMIT_S", 0.2)
    made = Made(FAIR, FAIR)
    made.law = lambda instance: time.sleep(30)  # type: ignore[method-assign]
    result = ran(made)
    # A law that takes too long costs its pair; where no pair has one, samples decide.
    assert result.claims[0].status == "not_rejected"
    assert result.claims[0].exact is None
    assert any("its law did not end within 0.2 s" in one for one in result.remarks)


def test_a_law_may_take_as_long_as_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "LIMIT_S", 0.01)
    made = Made(FAIR, FAIR)
    made.law = lambda instance: time.sleep(0.05) or FAIR  # type: ignore[method-assign]
    assert ran(made, time_limit=60.0).claims[0].status == "not_rejected"


def test_what_was_computed_before_is_kept() -> None:
    result = ran(Made(FAIR, SKEW, ValueError("second"), claims=(0.5, 2.0)))
    broken, other = result.claims
    assert broken.status == "violated"
    assert broken.exact == pytest.approx(math.log(5))
    assert other.status == "error"
    assert "pair 2 (0 → 2), on the right: its law raised ValueError: second" in other.method
    (remark,) = result.remarks
    assert remark.startswith("the search for a pair ended at pair 2 (0 → 2)")


def test_with_samples_the_law_is_not_asked() -> None:
    made = Made(ValueError("no"), ValueError("no"))
    assert ran(made, samples=600).claims[0].status == "not_rejected"


def test_no_law_is_asked_for_twice() -> None:
    made, calls = Made(FAIR, SKEW, Law({0: 0.7, 1: 0.3}), claims=(0.5, 2.0)), []

    def law(instance: int) -> Law:
        calls.append(instance)
        return made.laws[instance]

    made.law = law  # type: ignore[method-assign]
    assert [claim.status for claim in ran(made).claims] == ["violated", "not_rejected"]
    assert calls == [0, 1, 0, 2]


@pytest.mark.parametrize(
    ("law", "status"),
    [
        (Law({}, missing=1.0), "inconclusive"),
        (Law({0: 0.25, 1: 0.25}, missing=0.5), "inconclusive"),
        (Law({0: 0.5 - 1e-6, 1: 0.5 - 1e-6}, missing=2e-6), "not_rejected"),
        (Law({0: 0.5, 1: 0.5 - 5e-7}), "not_rejected"),
        (Law({0: 0.5, 1: 0.5}, missing=1e-15), "not_rejected"),
        (Law({0: 0.5, 1: 0.5}, error=0.9), "inconclusive"),
    ],
)
def test_what_a_law_leaves_open_is_open(law: Law, status: str) -> None:
    """Between both networks nothing is known but that the laws listed are the same."""
    claim = ran(Made(law, law)).claims[0]
    assert claim.status == status
    assert claim.event.law is not None
    most = claim.event.law.at_most
    # But for rounding it is said what is left out.
    assert (most is None) == (law.missing == 1e-15)
    words = claim_words(claim)
    if status == "inconclusive":
        assert "leave it open whether the claim of 1 holds: the loss is at least 0.0000" in words
    else:
        assert "on every pair tried the loss is at most 0.0000" in words
    lacking = 1.0 - sum(law.probabilities.values())
    if lacking > 1e-9:
        slack = f"a slack of δ = {lacking:.3g}, for the laws leave out outputs of probability"
        assert slack in words
    assert "any loss above it would have been seen" not in words or most is None


def test_of_several_pairs_none_loses_more_than_is_said() -> None:
    """The pair with the largest loss listed is not the one of which least is known."""
    vague = Law({0: 0.5, 1: 0.5}, error=0.3)
    claim = ran(Made(FAIR, Law({0: 0.6, 1: 0.4}), vague)).claims[0]
    assert claim.pair.to_json()["number"] == 1
    assert claim.event.law is not None
    assert claim.event.law.at_most is not None
    assert claim.event.law.at_most.epsilon == pytest.approx(-math.log(0.7))
    assert claim.status == "not_rejected"


def test_a_pair_that_surely_breaks_the_claim_is_judged_before_one_that_may() -> None:
    vague, sure = Law({0: 0.9, 1: 0.1}, error=0.9), Law({0: 0.82, 1: 0.18})
    claim = ran(Made(FAIR, vague, sure)).claims[0]
    assert (claim.status, claim.pair.to_json()["number"]) == ("violated", 2)


@pytest.mark.parametrize(
    ("part", "kind", "epsilon", "said"),
    [
        ("proved_bound", ProvedBound, 1.0, "its proved_bound is 1, and by its law the pair loses"),
        ("proved_bound", ProvedBound, math.nan, "its proved_bound is nan, which is no loss"),
        ("proved_bound", ProvedBound, -1.0, "its proved_bound is -1.0, which is no loss"),
        ("proved_bound", ProvedBound, "2", "its proved_bound is '2', which is no loss"),
        ("largest_loss", LargestLoss, math.nan, "its largest_loss is nan, which is no loss"),
        ("largest_loss", LargestLoss, -0.5, "its largest_loss is -0.5, which is no loss"),
    ],
)
@pytest.mark.parametrize("claimed", [0.5, 2.0])
def test_what_it_says_of_its_own_loss_must_agree_with_its_law(
    part: str, kind: Any, epsilon: Any, said: str, claimed: float
) -> None:
    made = Made(FAIR, SKEW, claims=(claimed,), **{part: lambda _: kind(epsilon, "by faith")})
    claim = ran(made).claims[0]
    assert claim.status == "error"
    assert claim.method.startswith(f"pair 1 (0 → 1), {said}")


@pytest.mark.parametrize("epsilon", [math.log(5), math.log(5) - 1e-12, 7.0, math.inf])
def test_a_bound_that_agrees_with_the_law_is_shown(epsilon: float) -> None:
    made = Made(FAIR, SKEW, proved_bound=lambda _: ProvedBound(epsilon, "by proof"))
    claim = ran(made).claims[0]
    assert claim.status == "violated"
    assert claim.event.to_json()["proved_bound"]["epsilon"] == epsilon


def test_a_law_of_what_cannot_be_read_is_an_error() -> None:
    deep: Any = ()
    for _ in range(100):
        deep = (deep,)
    claim = ran(Made(FAIR, Law({deep: 1.0}))).claims[0]
    assert claim.status == "error"
    assert "its law lists something nested" in claim.method


def test_a_law_that_refuses_with_an_input_error_is_a_wrong_request() -> None:
    with pytest.raises(InputError, match="stop = 3"):
        ran(Made(FAIR, InputError("stop = 3: more than there are vertices")))


def test_what_else_it_says_of_itself_is_left_out_if_it_makes_no_sense() -> None:
    def lost(instance: int) -> Any:
        raise KeyError("lost")

    result = ran(Made(FAIR, SKEW, largest_loss=lost, proved_bound=lambda instance: 3.0))
    assert result.claims[0].status == "violated"
    assert "largest_found" not in result.claims[0].event.to_json()
    lost_words, bound_words = result.remarks
    assert lost_words.startswith(
        "its largest_loss raised KeyError: 'lost' (test_exact_misbehaviour"
    )
    assert lost_words.endswith("; it was left out")
    assert bound_words == "its proved_bound is no ProvedBound; it was left out"


def test_a_beginning_that_misbehaves_is_named() -> None:
    def beginning() -> Any:
        raise ValueError("none")

    # It is asked only where the whole output has no law.
    assert ran(Made(FAIR, SKEW, beginning=beginning)).claims[0].status == "violated"
    (claim,) = ran(Made(FAIR, LawUnavailable("too many"), beginning=beginning)).claims
    assert claim.status == "error"
    assert claim.method.startswith("its beginning raised ValueError: none")


@pytest.mark.parametrize(
    ("enclose", "said"),
    [
        (lambda instance, outputs: 0.5, "no interval of two fractions"),
        (lambda instance, outputs: 1 // 0, "its enclose raised ZeroDivisionError"),
    ],
)
def test_an_enclosure_that_misbehaves_proves_nothing(enclose: Any, said: str) -> None:
    made = Made(FAIR, SKEW, enclose=enclose, enclose_again=enclose)
    with pytest.raises(Unproved, match=said):
        prove(made, 0, 1, frozenset({1}), made.claim)
    assert said in ran(made, prove_claim).claims[0].event.unproved


def test_an_enclosure_that_makes_sense_proves() -> None:
    def enclose(instance: int, outputs: frozenset[int]) -> tuple[Fraction, Fraction]:
        law = made.laws[instance].probabilities
        exact = sum((Fraction(str(law[o])) for o in outputs), Fraction(0))
        return exact, exact

    made = Made(FAIR, SKEW, enclose=enclose, enclose_again=enclose)
    assert ran(made, prove_claim).claims[0].method == "enclosure"


def test_no_certificate_is_written_that_replay_refuses() -> None:
    """The second way to enclose, which replay asks, does not agree, or cannot be had."""

    def enclose(instance: int, outputs: frozenset[int]) -> tuple[Fraction, Fraction]:
        law = made.laws[instance].probabilities
        exact = sum((Fraction(str(law[o])) for o in outputs), Fraction(0))
        return exact, exact

    def other(instance: int, outputs: frozenset[int]) -> tuple[Fraction, Fraction]:
        return Fraction(1, 3), Fraction(1, 3)

    def unable(instance: int, outputs: frozenset[int]) -> tuple[Fraction, Fraction]:
        raise LawUnavailable("too many")

    for again, said in ((other, "by separate code"), (unable, "cannot be enclosed again")):
        made = Made(FAIR, SKEW, enclose=enclose, enclose_again=again)
        (claim,) = ran(made, prove_claim).claims
        assert claim.method == "exact law"
        assert claim.witness is not None
        assert claim.witness.certificate is None
        assert said in claim.event.unproved


def test_each_law_is_computed_once_whatever_is_made_of_it() -> None:
    """The search keeps the worst pair's laws; neither the verdict nor the proof asks again."""
    asked: list[int] = []

    class Counted(Made):
        def law(self, instance: int) -> Law:
            asked.append(instance)
            return super().law(instance)

    def enclose(instance: int, outputs: frozenset[int]) -> tuple[Fraction, Fraction]:
        law = made.laws[instance].probabilities
        exact = sum((Fraction(str(law[o])) for o in outputs), Fraction(0))
        return exact, exact

    made = Counted(FAIR, SKEW, FAIR, enclose=enclose, enclose_again=enclose)
    assert ran(made, prove_claim).claims[0].method == "enclosure"
    assert sorted(asked) == [0, 0, 1, 2]  # two pairs, two sides each


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ((), "Made: its claims are (); give it a tuple of PrivacyClaim"),
        (1.0, "Made: its claims are 1.0; give it a tuple of PrivacyClaim"),
        ((PrivacyClaim(1.0), 2.0), "Made: it claims 2.0; write PrivacyClaim(2.0)"),
    ],
)
def test_what_is_no_claim_is_named(claims: Any, said: str) -> None:
    made = Made(FAIR, SKEW)
    made.claims = claims
    with pytest.raises(InputError) as caught:
        ran(made)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (list, "its pairs() gives none"),
        (lambda: [3], "its pairs() gives 3, which is no pair"),
        (lambda: [(3,)], "which is no pair"),
        (lambda: iter([(0, 1), 1 // 0]), "its pairs() raised ZeroDivisionError"),
        (lambda: None, "its pairs() gives None; give a list"),
        (lambda: {0: 1}, "its pairs() gives {0: 1}; give a list"),
    ],
)
def test_what_are_no_pairs_is_named(pairs: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        ran(Made(FAIR, SKEW, pairs=pairs))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([], "pairs: none; give a list"),
        (3, "pairs: 3; give a list"),
        ([3], "pairs: 3, which is no pair"),
        ("ab", "pairs: 'ab'; give a list"),
    ],
)
def test_what_a_caller_gives_for_pairs_is_called_so(pairs: Any, said: str) -> None:
    with pytest.raises(InputError, match=f"^{said}"):
        pdpaudit.audit(lambda given, rng: 0, pairs=pairs, epsilon=1)


LATER = """
from pathlib import Path
from pdpaudit.core.protocols import LargestLoss, Law, LawUnavailable, PrivacyClaim, ProvedBound

class Later:
    claim = PrivacyClaim(1.0)

    def pairs(self):
        return [(0, 1)]

    def run(self, instance, rng):
        return int(rng.random() < 0.5 + 0.4 * instance)

    def law(self, instance):
        if Path("broken").exists():
            raise ValueError("law changed")
        return Law({0: 0.5 - 0.4 * instance, 1: 0.5 + 0.4 * instance})
"""


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, dict[str, Any]]:
    """Return a mechanism whose law fails from now on, and what an audit before told of it."""
    monkeypatch.chdir(tmp_path)
    Path("later.py").write_text(LATER)
    made, spec = make_mechanism("later.py:Later", {})
    result = audit(made, [], Config(1), subject="later", spec=spec)
    assert result.claims[0].status == "violated"
    Path("broken").touch()
    return made, result.to_json()["claims"][0]


def _never(body: Any, seed: int) -> Any:
    raise AssertionError("a mechanism with pairs of its own reads no network")


def test_a_law_that_fails_in_replay_is_not_reproduced(later: tuple[Any, dict[str, Any]]) -> None:
    replay = replay_claim(later[1], Terms(1, __version__, _never, find=finder(trust=True)))
    assert not replay.reproduced
    assert replay.why.startswith("its law raised ValueError: law changed (later.py:")


KINDS = """
from pdpaudit.core.protocols import Law, PrivacyClaim

class Kinds:
    claim = PrivacyClaim(1.0)

    def pairs(self):
        return [(1, True)]

    def run(self, instance, rng):
        return instance

    def law(self, instance):
        return Law({instance: 1.0})
"""


def test_equal_outputs_of_two_kinds_are_told_apart_in_replay_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kinds.py").write_text(KINDS)
    made, spec = make_mechanism("kinds.py:Kinds", {})
    claim = audit(made, [], Config(1), subject="kinds", spec=spec).to_json()["claims"][0]
    assert (claim["status"], claim["exact"]) == ("violated", "inf")
    replay = replay_claim(claim, Terms(1, __version__, _never, find=finder(trust=True)))
    assert replay.reproduced, replay.why


def test_a_law_that_fails_is_no_measure_of_growth(later: tuple[Any, dict[str, Any]]) -> None:
    made, claim = later
    entry = {
        "pair": claim["witness"]["pair"],
        "event": claim["witness"]["event"],
        "delta": 0.0,
        "loss": claim["exact"],
        "exact": True,
        "counts": None,
    }
    with pytest.raises(InputError, match="cannot be measured: its law raised ValueError"):
        measure_growth(
            entry,
            Subject.of(made),
            size=100,
            alpha=0.05,
            tolerance=0.0,
            seed=1,
            key=(),
            recorded_in=Path("b.json"),
        )
