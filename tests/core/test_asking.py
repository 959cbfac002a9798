"""What a mechanism says of itself is believed where it makes sense, and named where it does not."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from pdpaudit.core.asking import ask, enclosure_of, law_of
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import Law, LawUnavailable
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
    assert law_of(saying(law), "instance") is law


def test_what_the_probabilities_lack_counts_as_missing() -> None:
    assert law_of(saying(Law({0: 0.5, 1: 0.5 - 5e-7})), None).missing == pytest.approx(5e-7)
    assert law_of(saying(Law({0: 0.5, 1: 0.4}, missing=0.1 - 5e-7)), None).missing == (
        pytest.approx(0.1)
    )
    with_rounding = Law(dict.fromkeys(range(10), 0.1))
    assert law_of(saying(with_rounding), None) is with_rounding


def test_it_is_asked_about_the_instance() -> None:
    asked = []
    mechanism = SimpleNamespace(law=lambda instance: asked.append(instance) or FAIR)
    law_of(mechanism, "this one")
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
        law_of(saying(answer), None)
    assert said in str(caught.value)


@pytest.mark.parametrize("refusal", [LawUnavailable("too large"), InputError("stop = 9: too many")])
def test_a_refusal_is_an_answer(refusal: Exception) -> None:
    with pytest.raises(type(refusal)) as caught:
        law_of(raising(refusal), None)
    assert caught.value is refusal


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no\n  such thing"), "its law raised ValueError: no such thing"),
        (SystemExit(3), "its law raised SystemExit: 3"),
        (MemoryError(), "its law raised MemoryError"),
    ],
)
def test_what_it_raises_is_told_in_one_line(error: BaseException, said: str) -> None:
    with pytest.raises(Misbehaviour) as caught:
        law_of(raising(error), None)
    assert str(caught.value) == said


def test_an_interruption_is_no_misbehaviour() -> None:
    with pytest.raises(KeyboardInterrupt):
        law_of(raising(KeyboardInterrupt()), None)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_what_does_not_end_is_stopped() -> None:
    began = time.monotonic()
    with pytest.raises(Misbehaviour, match=r"its law did not end within 0\.2 s"):
        law_of(SimpleNamespace(law=lambda _: time.sleep(30)), None, limit=0.2)
    assert time.monotonic() - began < 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_what_forks_and_comes_back_twice_is_stopped() -> None:
    def law(instance: Any) -> Law:
        os.fork()
        return FAIR

    with pytest.raises(Misbehaviour, match="it forked"):
        law_of(SimpleNamespace(law=law), None)


def test_what_it_prints_is_swallowed(capsys: pytest.CaptureFixture[str]) -> None:
    def law(instance: Any) -> Law:
        sys.stdout.write("hello")
        return FAIR

    assert law_of(SimpleNamespace(law=law), None) is FAIR
    assert capsys.readouterr().out == ""


def test_any_part_can_be_asked() -> None:
    assert ask("beginning", saying("shorter", "beginning")) == "shorter"
    with pytest.raises(Misbehaviour, match="its beginning raised TypeError"):
        ask("beginning", SimpleNamespace(beginning=lambda one: one))


@pytest.mark.parametrize("ends", [(Fraction(1, 3), Fraction(1, 2)), (0, 1), (Fraction(1, 2),) * 2])
def test_an_interval_is_returned_in_fractions(ends: Any) -> None:
    found = enclosure_of("enclose", saying(ends, "enclose"), None, frozenset())
    assert found == ends
    assert all(isinstance(end, Fraction) for end in found)


@pytest.mark.parametrize(
    "ends", [None, 0.5, (0.2, 0.3), (Fraction(1, 2), Fraction(1, 3)), (0,), (0, 0, 1)]
)
def test_what_is_no_interval_is_named(ends: Any) -> None:
    with pytest.raises(Misbehaviour, match="its enclose answered with no interval"):
        enclosure_of("enclose", saying(ends, "enclose"), None, frozenset())
