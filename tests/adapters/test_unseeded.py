"""Randomness of a mechanism's own: sampled like any other, and drawn anew by replay."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from pdpaudit import PrivacyClaim, audit
from pdpaudit.replay import finder, replay_result, terms_of
from pdpaudit.results.results import Result

SYSTEM = random.SystemRandom()

#: No test can pin a seed here: each verdict is wrong at most once in ten thousand times.
SURE = 0.9999


class Response:
    """Randomised response with a generator of the operating system."""

    seedable = False

    def __init__(self, prob: float = 0.75, epsilon: float = 1.0986123) -> None:
        self.prob, self.epsilon = prob, epsilon

    @property
    def claim(self) -> PrivacyClaim:
        return PrivacyClaim(self.epsilon)

    def pairs(self) -> list[tuple[bool, bool]]:
        return [(False, True)]

    def run(self, x: bool, rng: object) -> bool:
        return x if SYSTEM.random() < self.prob else not x


class Seedable(Response):
    """Draws from the generator it is given."""

    seedable = True

    def run(self, x: bool, rng: Any) -> bool:
        return x if rng.random() < self.prob else not x


class Remembers(Response):
    """A generator of its own that every copy has."""

    def __init__(self) -> None:
        super().__init__()
        self.own = np.random.default_rng(0)

    def run(self, x: bool, rng: object) -> bool:
        return x if self.own.random() < self.prob else not x


def replayed(result: Result, change: dict[str, object] | None = None) -> tuple[bool | None, str]:
    body = json.loads(json.dumps(result.to_json()))
    for key, value in (change or {}).items():
        body["claims"][0]["event"][key] = body["claims"][0]["witness"].get(key, value)
        body["claims"][0]["event"][key] = value
    body.pop("digest", None)

    def read(body: object, seed: int) -> Any:
        raise AssertionError

    terms = terms_of(body, "f", read, find=finder(trust=True))
    [one] = replay_result(body, "f", terms)
    return one.reproduced, one.why


def test_a_violation_is_found_and_drawn_anew() -> None:
    # Loses log(9) = 2.197 and claims 1.1; there is no seed to pin, so it fails once in 10,000.
    result = audit(Response(0.9), samples=3000, confidence=SURE)
    [claim] = result.claims
    assert claim.status == "violated"
    assert 1.5 < (claim.lower_bound or 0) < 2.2
    assert claim.inference.to_json()["advantage"]["attained"] > 0.7
    assert "no seed" in result.remarks[0]
    assert claim.witness is not None
    assert claim.witness.unseeded is True
    same, why = replayed(result)
    assert same, why
    assert why.startswith("drawn anew, ")


def test_counts_that_no_such_mechanism_gives_are_not_reproduced() -> None:
    result = audit(Response(0.9), samples=3000, confidence=SURE)
    same, why = replayed(result, {"inside": 2950})
    assert not same
    assert why.endswith("which is not the same mechanism")


def test_a_staged_audit_replays_to_the_same_verdict() -> None:
    for prob, status in ((0.9, "violated"), (0.75, "not_rejected")):
        result = audit(Response(prob), confidence=SURE)
        assert result.claims[0].status == status
        same, why = replayed(result)
        assert same, why


def test_a_mechanism_that_can_be_seeded_is_replayed_to_the_bit() -> None:
    result = audit(Seedable(0.9), samples=3000, seed=1)
    assert result.claims[0].witness is not None
    assert result.claims[0].witness.unseeded is None
    assert replayed(result)[1].endswith(f"lower bound {result.claims[0].lower_bound:.6g}")


def test_copies_that_repeat_each_other_are_refused_where_there_are_workers(
    repetitions: Callable[[int, int], int],
) -> None:
    [claim] = audit(Remembers(), samples=100, jobs=2, seed=1).claims
    assert claim.status == "error"
    assert "workers would repeat each other" in claim.method
    assert audit(Remembers(), samples=100, jobs=1, seed=1).claims[0].status == "inconclusive"
    # Copies that do not repeat each other are refused 4 times in a million.
    for _ in range(repetitions(1, 20)):
        assert audit(Response(), samples=100, jobs=2, seed=1).claims[0].status != "error"


def test_what_cannot_be_copied_has_no_equal_copies() -> None:
    class Locked(Response):
        def __init__(self) -> None:
            super().__init__(0.9)
            self.lock = threading.Lock()

    [claim] = audit(Locked(), samples=3000, jobs=2, confidence=SURE).claims
    assert claim.status == "violated"


def test_a_mechanism_that_does_not_say_so_is_refused_as_before() -> None:
    class Silent(Response):
        seedable = True

    # Two counts of 32 answers agree one time in nine; all sixteen counts of two, in 4 of a million.
    for _ in range(20):
        [claim] = audit(Silent(), samples=100, seed=1).claims
        assert claim.status == "error"
        assert "seedable = False" in claim.method


def test_global_generators_are_seeded_from_the_stream_and_put_back() -> None:
    class Global(Response):
        def run(self, x: bool, rng: object) -> bool:
            draw = random.random() + np.random.random()  # noqa: NPY002
            return x if draw % 1 < self.prob else not x

    state, legacy = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002
    result = audit(Global(0.9), samples=500, seed=1)
    again = audit(Global(0.9), samples=500, seed=1)
    assert result.claims[0].event == again.claims[0].event
    assert random.getstate() == state
    np.testing.assert_equal(np.random.get_state(legacy=False), legacy)  # noqa: NPY002
