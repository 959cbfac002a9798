"""What a mechanism says of itself is believed where it makes sense, and named where it does not."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar, get_args

import pytest

from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, LawUnavailable, PrivacyClaim
from pdpaudit.core.subject import Part, Subject
from pdpaudit.core.variants import Variant, refuse_without_claim
from pdpaudit.sampling import Misbehaviour

FAIR = Law({True: 0.5, False: 0.5})


def saying(answer: Any, part: str = "law") -> Any:
    """Make a mechanism whose part answers so, whatever it is asked."""
    return SimpleNamespace(**{part: lambda *_: answer})


def raising(error: BaseException) -> Any:
    def law(instance: Any) -> Law:
        raise error

    return SimpleNamespace(law=law)


@pytest.mark.parametrize(
    "law",
    [
        FAIR,
        Law({0: 1}),
        Law({0: 0.2, 1: 0.3}, missing=0.5),
        Law({}, missing=1.0),
        Law({0: 1.0 + 1e-9, 1: 0.0}),
    ],
)
def test_a_law_is_returned_as_it_is(law: Law) -> None:
    assert Subject(saying(law)).law("instance") is law


def test_what_the_probabilities_lack_counts_as_missing() -> None:
    assert Subject(saying(Law({0: 0.5, 1: 0.5 - 5e-7}))).law(None).missing == pytest.approx(5e-7)
    assert Subject(saying(Law({0: 0.5, 1: 0.4}, missing=0.1 - 5e-7))).law(None).missing == (
        pytest.approx(0.1)
    )
    with_rounding = Law(dict.fromkeys(range(10), 0.1))
    assert Subject(saying(with_rounding)).law(None) is with_rounding


def test_it_is_asked_about_the_instance() -> None:
    asked = []
    mechanism = SimpleNamespace(law=lambda instance: asked.append(instance) or FAIR)
    Subject(mechanism).law("this one")
    assert asked == ["this one"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "its law is no Law of a mapping from outputs to probabilities, but None"),
        ({True: 1.0}, "but a dict"),
        (Law([0.5, 0.5]), "but a list"),  # type: ignore[arg-type]
        (Law({0: 0.5, 1: 0.4}), "its law gives probabilities that add up to 0.9, not 1"),
        (Law({0: 0.5, 1: 0.6}), "add up to 1.1, not 1"),
        (Law({0: 0.5, 1: 0.3}, missing=0.1), "add up to 0.8, not 1"),
        (Law({0: 1.5, "b": -0.5}), "its law gives 0 the probability 1.5"),
        (Law({0: 1.0, "b": -0.5}), "its law gives 'b' the probability -0.5"),
        (Law({0: 0.5, 1: math.nan}), "its law gives 1 the probability nan"),
        (Law({0: "half"}), "its law gives probabilities that are not numbers"),  # type: ignore[dict-item]
        (Law({0: 1j}), "its law gives probabilities that are not numbers"),  # type: ignore[dict-item]
        (Law({0: 1.0}, missing=-0.1), "its law says missing = -0.1, not a number of at least 0"),
        (Law({0: 1.0}, error=math.nan), "its law says error = nan"),
        (Law({0: 1.0}, work=math.inf), "its law says work = inf"),
        (Law({0: 1.0}, work="long"), "its law says work = 'long'"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_law_is_named(answer: Any, said: str) -> None:
    with pytest.raises(Misbehaviour) as caught:
        Subject(saying(answer)).law(None)
    assert said in str(caught.value)


@pytest.mark.parametrize("refusal", [LawUnavailable("too large"), InputError("stop = 9: too many")])
def test_a_refusal_is_an_answer(refusal: Exception) -> None:
    with pytest.raises(type(refusal)) as caught:
        Subject(raising(refusal)).law(None)
    assert caught.value is refusal


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no\n  such thing"), "its law raised ValueError: no such thing (test_subject"),
        (SystemExit(3), "its law raised SystemExit: 3 (test_subject.py:"),
        (MemoryError(), "its law needs more memory than there is"),
    ],
)
def test_what_it_raises_is_said_in_one_line_with_its_place(error: BaseException, said: str) -> None:
    with pytest.raises(Misbehaviour) as caught:
        Subject(raising(error)).law(None)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_an_interruption_is_no_misbehaviour() -> None:
    with pytest.raises(KeyboardInterrupt):
        Subject(raising(KeyboardInterrupt())).law(None)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_what_does_not_end_is_stopped() -> None:
    began = time.monotonic()
    with pytest.raises(Misbehaviour, match=r"its law did not end within 0\.2 s"):
        Subject(SimpleNamespace(law=lambda _: time.sleep(30))).law(None, limit=0.2)
    assert time.monotonic() - began < 25


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_what_forks_and_comes_back_twice_is_stopped() -> None:
    def law(instance: Any) -> Law:
        os.fork()
        return FAIR

    with pytest.raises(Misbehaviour, match="it forked"):
        Subject(SimpleNamespace(law=law)).law(None)


def test_what_it_prints_is_swallowed(capsys: pytest.CaptureFixture[str]) -> None:
    def law(instance: Any) -> Law:
        sys.stdout.write("hello")
        return FAIR

    assert Subject(SimpleNamespace(law=law)).law(None) is FAIR
    assert capsys.readouterr().out == ""


def test_any_part_can_be_asked() -> None:
    assert Subject(saying("shorter", "beginning")).ask("beginning") == "shorter"
    with pytest.raises(Misbehaviour, match="its beginning raised TypeError"):
        Subject(SimpleNamespace(beginning=lambda one: one)).ask("beginning")


@pytest.mark.parametrize("ends", [(Fraction(1, 3), Fraction(1, 2)), (0, 1), (Fraction(1, 2),) * 2])
def test_an_interval_is_returned_in_fractions(ends: Any) -> None:
    found = Subject(saying(ends, "enclose")).enclosure("enclose", None, frozenset())
    assert found == ends
    assert all(isinstance(end, Fraction) for end in found)


@pytest.mark.parametrize(
    "ends", [None, 0.5, (0.2, 0.3), (Fraction(1, 2), Fraction(1, 3)), (0,), (0, 0, 1)]
)
def test_what_is_no_interval_is_named(ends: Any) -> None:
    with pytest.raises(Misbehaviour, match="its enclose answered with no interval"):
        Subject(saying(ends, "enclose")).enclosure("enclose", None, frozenset())


class Everything:
    """A mechanism that has all that a mechanism may have, and a mark on each of its parts."""

    claims = (PrivacyClaim(1.0, source="first"), PrivacyClaim(2.0))
    repeatable = False
    wording: ClassVar[dict[str, str]] = {"number": "the answer"}

    def run(self, instance: Any, rng: Any) -> str:
        return f"run on {instance}"

    def __getattr__(self, name: str) -> Any:
        if name in get_args(Part):
            return lambda *arguments: (name, *arguments)
        raise AttributeError(name)


@pytest.mark.parametrize("name", get_args(Part))
def test_another_claim_keeps_every_part_of_the_mechanism(name: Part) -> None:
    again = Variant(Everything(), claim=PrivacyClaim(5.0))
    assert again.has(name)
    assert again.ask(name, 3) == (name, 3)


def test_another_claim_changes_the_claim_alone() -> None:
    promise = PrivacyClaim(5.0)
    again = Variant(Variant(Everything(), pairs=[(0, 1)]), claim=promise)
    assert again.claims == (promise,)
    assert not again.repeatable
    assert again.wording == Everything.wording
    assert again.run("it", None) == "run on it"
    assert again.pairs() == [("", 0, 1)]
    assert isinstance(again.origin, Everything)


def test_what_it_lacks_it_does_not_have() -> None:
    coin = Variant(SimpleNamespace(run=lambda instance, rng: 0), claim=PrivacyClaim(0.5))
    assert not any(coin.has(name) for name in get_args(Part))
    with pytest.raises(Misbehaviour, match="it has no law"):
        coin.law(None)


def test_a_class_and_a_function_are_mechanisms() -> None:
    assert Subject(Everything).claims == Everything.claims
    assert Subject(lambda x, rng: x + 1).run(2, None) == 3
    with pytest.raises(InputError, match="Law cannot be made without arguments"):
        Subject(Law)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ((), "its claims are ()"),
        (3, "its claims are 3"),
        ((0.5,), "it claims 0.5"),
        (None, "it claims nothing"),
    ],
)
def test_what_is_no_claim_is_named(claims: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        _ = Subject(SimpleNamespace(claims=claims, claim=None)).claims
    assert str(caught.value).removeprefix("SimpleNamespace: ").startswith(said)


def test_one_claim_or_several_is_a_claim() -> None:
    promise = PrivacyClaim(1.0)
    for one in (SimpleNamespace(claim=promise), SimpleNamespace(claims=(promise,))):
        refuse_without_claim(one, "Made")
    with pytest.raises(InputError, match="Made: it claims nothing"):
        refuse_without_claim(SimpleNamespace(run=print), "Made")
