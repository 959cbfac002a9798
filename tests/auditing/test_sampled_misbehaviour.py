"""Mechanisms that misbehave end in a clear verdict, and nothing confirmed before is lost."""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pdpaudit
from pdpaudit.attacks.pair_families import planted_network
from pdpaudit.auditing import Config, audit
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.outputs import event_from_json
from pdpaudit.results.results import Result
from pdpaudit.sampling import engine


def made(function: Any, claims: tuple[float, ...] = (1.0,)) -> Any:
    """Make a mechanism with one pair, 0 and 1, of a function of input and rng."""
    promised = tuple(PrivacyClaim(epsilon, source="test") for epsilon in claims)
    body = {
        "claim": promised[0],
        "claims": promised,
        "pairs": lambda self: iter([(0, 1)]),
        "run": lambda self, instance, rng: function(instance, rng),
    }
    return type("Made", (), body)()


def ran(function: Any, claims: tuple[float, ...] = (1.0,)) -> Result:
    return audit(made(function, claims), [], Config(seed=1, samples=600), subject="made")


def test_what_always_raises_is_an_error_that_says_what() -> None:
    def broken(instance: int, rng: np.random.Generator) -> int:
        raise KeyError("no such vertex")

    claim = ran(broken).claims[0]
    assert claim.status == "error"
    assert "every run raised KeyError: 'no such vertex'" in claim.method
    assert claim.samples["discovery"] > 0


class Failing:
    """A search that fails on all networks, or on all but the one it knows."""

    claim = PrivacyClaim(1.0, source="test")

    def __init__(self, error: Exception, known: int = 0) -> None:
        self.error, self.known = error, known

    def run(self, instance: Any, rng: np.random.Generator) -> tuple[int, ...]:
        if len(instance.graph) != self.known:
            raise self.error
        return ()


#: Where a failing search fails.
PLACE = rf"\({Path(__file__).name}:\d+, `raise self.error`\)"

NETWORKS = [planted_network(4, size) for size in (16, 20, 24)]


def test_what_fails_on_all_of_many_pairs_is_an_error() -> None:
    result = audit(Failing(KeyError(3)), NETWORKS, Config(seed=1, samples=2000), subject="made")
    (claim,) = result.claims
    assert claim.status == "error"
    assert re.fullmatch(f"every run raised KeyError: 3 {PLACE}", claim.method)


def test_what_is_refused_on_all_of_many_pairs_is_a_wrong_request() -> None:
    with pytest.raises(InputError, match=r"^the statistic raised"):
        audit(
            Failing(InputError("the statistic raised")),
            NETWORKS,
            Config(seed=1, samples=2000),
            subject="made",
        )


def test_what_fails_on_most_networks_is_judged_with_a_remark() -> None:
    mechanism = Failing(KeyError(3), known=NETWORKS[0].n)
    result = audit(mechanism, NETWORKS, Config(seed=1, samples=20_000), subject="made")
    assert result.claims[0].status == "not_rejected"
    [remark] = result.remarks
    assert re.fullmatch(f"some runs raised KeyError: 3 {PLACE}; that counts as an output", remark)


def test_a_mechanism_that_refuses_every_input_is_a_wrong_request() -> None:
    def refusing(instance: int, rng: np.random.Generator) -> int:
        raise InputError("stop = 3: more than there are vertices")

    with pytest.raises(InputError, match="stop = 3: more than there are vertices"):
        ran(refusing)


def test_raising_on_one_input_more_often_is_a_violation() -> None:
    def touchy(instance: int, rng: np.random.Generator) -> int:
        if rng.random() < (0.6 if instance else 0.02):
            raise ValueError("too close")
        return 0

    result = ran(touchy)
    claim = result.claims[0]
    assert claim.status == "violated"
    assert claim.event.to_json()["side"] == "right"
    assert claim.event.words == "it raises ValueError"
    [remark] = result.remarks
    assert re.fullmatch(r"some runs raised ValueError: too close \(.*\); that counts.*", remark)


def test_randomness_from_elsewhere_cannot_be_replayed() -> None:
    elsewhere = np.random.default_rng(5)
    claim = ran(lambda instance, rng: int(elsewhere.integers(2))).claims[0]
    assert claim.status == "error"
    assert "draw everything from the rng it is given" in claim.method


@functools.cache
def shared_noise() -> float:
    return float(np.random.laplace())  # noqa: NPY002 - the generator that all share


class Remembering:
    """Adds noise that is drawn once; or once for each input, beside some that is fresh."""

    claim = PrivacyClaim(1.0, source="test")

    def __init__(self, how: str) -> None:
        self.how, self.known, self.calls = how, dict[object, float](), 0

    def pairs(self) -> list[tuple[int, int]]:
        return [(0, 1)]

    def run(self, x: int, rng: np.random.Generator) -> float:
        self.calls += 1
        if self.how == "everywhere":
            return x + shared_noise()
        if self.how == "late":  # after all that is looked at first
            return x + rng.laplace() + 3 * (1 - x) * (self.calls > 200)
        if self.how == "counted":
            return x + rng.laplace()
        key = None if self.how == "once" else x
        if key not in self.known:
            self.known[key] = float(rng.laplace())
        fresh = rng.laplace(scale=0.01) if self.how == "fresh too" else 0.0
        return x + self.known[key] + fresh


@pytest.mark.parametrize("samples", [None, 3000], ids=["staged", "fixed"])
@pytest.mark.parametrize("how", ["once", "each", "fresh too", "everywhere", "late"])
def test_runs_that_depend_on_earlier_ones_break_no_claim(how: str, samples: int | None) -> None:
    """The noise is right, and counts of runs that share it would show any loss."""
    shared_noise.cache_clear()
    claim = audit(Remembering(how), [], Config(seed=3, samples=samples), subject="made").claims[0]
    assert claim.status == "error", claim
    assert "remembers" in claim.method
    assert not claim.witness


def test_what_is_kept_and_changes_no_run_is_judged() -> None:
    claim = audit(Remembering("counted"), [], Config(seed=3), subject="made").claims[0]
    assert claim.status == "not_rejected"


@pytest.mark.parametrize("kind", [list, set, lambda who: {"who": who}, np.array])
def test_outputs_without_a_hash_are_judged(kind: Any) -> None:
    assert ran(lambda instance, rng: kind([1])).claims[0].status == "not_rejected"
    assert ran(lambda instance, rng: kind([1 + 2 * instance])).claims[0].status == "violated"


def test_outputs_that_cannot_be_read() -> None:
    claim = ran(lambda instance, rng: iter(int, 1)).claims[0]
    assert claim.status == "error"
    assert "a callable_iterator that gives more than 200,000 items" in claim.method
    assert "return numbers, texts, tuples" in claim.method


def test_printing_is_swallowed_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(instance: int, rng: np.random.Generator) -> int:
        print("hello")  # noqa: T201
        return int(rng.integers(2))

    result = ran(chatty)
    assert result.claims[0].status == "not_rejected"
    assert capsys.readouterr().out == ""
    assert result.remarks == ("it printed to standard output, which was swallowed",)


def test_a_batch_that_fails_is_told_once() -> None:
    mechanism = made(lambda instance, rng: int(rng.integers(2)))
    mechanism.sample = lambda instance, size, rng: [0] * (size - 1)
    result = audit(mechanism, [], Config(seed=1, samples=600), subject="made")
    assert result.claims[0].status == "not_rejected"
    (remark,) = result.remarks
    assert remark.startswith("its sample failed, ValueError: asked for ")
    assert remark.endswith("; it was run one by one")


@pytest.mark.parametrize("output", [math.nan, "x", None, (), (1, 2), [["a"]]])
def test_of_outputs_that_never_differ_it_is_said_that_they_do_not(output: Any) -> None:
    claim = ran(lambda instance, rng: output).claims[0]
    assert claim.status == "not_rejected"
    assert claim.event.words == "the outputs differ"


@pytest.mark.parametrize("kind", [frozenset, lambda who: b"abcdefghij"[: who[1]], tuple])
def test_sets_and_bytes_are_told_and_can_be_replayed(kind: Any) -> None:
    result = ran(lambda instance, rng: kind([3, 4 + 2 * instance]))
    claim = json.loads(json.dumps(result.to_json()))["claims"][0]
    assert claim["status"] == "violated"
    event = event_from_json(claim["witness"]["event"])
    outputs = [kind([3, 4]), kind([3, 6])]
    assert sorted(output in event for output in outputs) == [False, True]
    if kind is frozenset:
        assert claim["event"]["words"] in ("entry 2 is 4", "entry 2 is 6")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_hanging_on_one_input_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "LIMIT_S", 0.2)

    def slow(instance: int, rng: np.random.Generator) -> int:
        if instance:
            time.sleep(30)
        return 0

    claim = ran(slow).claims[0]
    assert claim.status == "error"
    assert "on the right: one run did not end within 0.2 s" in claim.method
    assert "not so on the other side" in claim.method


def test_what_was_confirmed_before_is_kept() -> None:
    calls = itertools.count()

    def later(instance: int, rng: np.random.Generator) -> Any:
        # Discovery and its tests take 1424 runs, and each claim 1200.
        return int(rng.random() < 0.5 + 0.3 * instance) if next(calls) < 3300 else iter(int, 1)

    result = ran(later, claims=(0.1, 0.2))
    assert [claim.status for claim in result.claims] == ["violated", "error"]
    told = result.claims[1]
    assert "so far" in told.method
    assert told.samples["confirmation"] > 0


@pytest.mark.parametrize(("noise", "status"), [("default_rng()", "error"), ("", "not_rejected")])
def test_noise_that_is_drawn_while_it_is_made_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: str, status: str
) -> None:
    name = f"made_{status}"
    (tmp_path / f"{name}.py").write_text(
        "from numpy.random import default_rng\n"
        "from pdpaudit import PrivacyClaim\n"
        "class Sum:\n"
        "    claim = PrivacyClaim(1.0)\n"
        "    def __init__(self, scale=2.0):\n"
        f"        self.scale, self.noise = scale, {noise or 'None'}{'.laplace()' * bool(noise)}\n"
        "    def pairs(self): return [(0.0, 1.0)]\n"
        "    def run(self, given, rng):\n"
        "        return given + (self.noise or rng.laplace(scale=self.scale))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    claim = pdpaudit.audit(f"{name}.py:Sum", samples=600, seed=1).claims[0]
    assert claim.status == status
    assert claim.method.startswith("made again, it gives another output") == bool(noise)
