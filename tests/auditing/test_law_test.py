"""What is computed exactly rests on the law, so the law is compared with the runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pdpaudit.auditing import Config, audit, exact_search, law_test
from pdpaudit.auditing.candidate_pairs import CandidatePair, MeasuredPair
from pdpaudit.auditing.law_test import contradiction, deviation, pairs_to_compare
from pdpaudit.core.protocols import Law, PrivacyClaim
from pdpaudit.outputs import flatten
from pdpaudit.results.results import ClaimResult, Result

FAIR = Law({0: 0.5, 1: 0.5})
SKEW = Law({0: 0.9, 1: 0.1})

#: A level far below what any seed reaches by chance in these tests.
LEVEL = 1e-12


class Coin:
    """Shows what a law says on each input, and says that its laws are what is given."""

    claim = PrivacyClaim(3.0, source="test")

    def __init__(self, truth: list[Law], laws: list[Law], pairs: Any = ((0, 1),)) -> None:
        self.truth, self.laws, self.given, self.runs = truth, laws, pairs, 0

    def pairs(self) -> Any:
        return list(self.given)

    def law(self, instance: int) -> Law:
        return self.laws[instance]

    def _drawn(self, instance: int, size: int, rng: np.random.Generator) -> list[Any]:
        self.runs += size
        outputs, chances = zip(*self.truth[instance].probabilities.items(), strict=True)
        return [outputs[i] for i in rng.choice(len(outputs), size=size, p=chances)]

    def run(self, instance: int, rng: np.random.Generator) -> Any:
        return self._drawn(instance, 1, rng)[0]


class Batched(Coin):
    """The same, many at once."""

    def sample(self, instance: int, size: int, rng: np.random.Generator) -> Any:
        return self._drawn(instance, size, rng)


class AsArray(Coin):
    """The same, as an array of whatever numpy makes of it."""

    def sample(self, instance: int, size: int, rng: np.random.Generator) -> Any:
        return np.array(self._drawn(instance, size, rng))


def audited(mechanism: Any, seed: int = 1, **options: Any) -> Result:
    return audit(mechanism, [], Config(seed, **options), subject="coin")


def only(result: Result) -> ClaimResult:
    (claim,) = result.claims
    return claim


@pytest.mark.parametrize("kind", [Coin, Batched, AsArray])
@pytest.mark.parametrize("law", [FAIR, SKEW, Law({0.5: 0.25, 1.5: 0.75}), Law({(0, 1): 1.0})])
def test_a_law_that_is_right_is_believed(
    kind: type[Coin], law: Law, repetitions: Callable[[int, int], int]
) -> None:
    # By its promise this fails for one seed in a billion.
    for seed in range(repetitions(4, 20)):
        assert only(audited(kind([law, law], [law, law]), seed)).status == "not_rejected"


@pytest.mark.parametrize("outputs", [(False, True), (0, 1), (0.25, 1.0), ("a", "b")])
@pytest.mark.parametrize("kind", [Coin, Batched, AsArray])
def test_a_leak_that_the_law_does_not_see_is_named(kind: type[Coin], outputs: Any) -> None:
    """Whatever an output is, a number of finite support as well."""
    zero, one = outputs
    fair, leak = Law({zero: 0.5, one: 0.5}), Law({one: 1.0})
    claim = only(audited(kind([fair, leak], [fair, fair])))
    assert claim.status == "error"
    assert claim.method.startswith("pair 1 (0 → 1), on the right: its law and its runs disagree: ")
    assert claim.method.endswith("`samples` does without its law")


@pytest.mark.parametrize(("kind", "runs"), [(Coin, 100), (Batched, 1000)])
def test_a_law_that_is_not_that_of_the_runs_is_named(kind: type[Coin], runs: int) -> None:
    mechanism = kind([FAIR, Law({0: 0.1, 1: 0.9})], [FAIR, SKEW])
    claim = only(audited(mechanism, 3))
    assert claim.method.startswith(
        "pair 1 (0 → 1), on the right: its law and its runs disagree: 0 has probability 0.9 by "
        "the law"
    )
    assert f"of {runs} runs; `samples` does without its law" in claim.method
    # With samples the law is of no account.
    assert only(audited(mechanism, 3, samples=400)).status != "error"


@pytest.mark.parametrize(("kind", "most"), [(Coin, 6), (Batched, 16)])
@pytest.mark.parametrize("leaky", range(4))
def test_a_leak_is_named_on_whatever_pair_it_is(kind: type[Coin], most: int, leaky: int) -> None:
    """By the law the second pair is the worst; the leak may be where it loses nothing."""
    laws = [FAIR, FAIR, Law({0: 0.6, 1: 0.4}), FAIR, FAIR]
    truth = [*laws]
    truth[leaky + 1] = Law({0: 1.0})
    mechanism = kind(truth, laws, [(0, i) for i in range(1, 5)])
    claim = only(audited(mechanism))
    assert claim.status == "error"
    assert f"pair {leaky + 1} (0 → {leaky + 1}), on the right" in claim.method


def test_a_violation_stands_where_the_law_is_wrong_elsewhere_only() -> None:
    sure = Law({0: 0.99, 1: 0.01})
    for leaky, status in ((1, "error"), (2, "violated")):
        truth = [FAIR, sure, FAIR]
        truth[leaky] = Law({1: 1.0})
        mechanism = Batched(truth, [FAIR, sure, FAIR], [(0, 1), (0, 2)])
        assert only(audited(mechanism)).status == status


def test_every_pair_that_a_claim_is_judged_by_is_compared() -> None:
    """The worst at δ = 0 and at δ = 0.5 are two pairs, and the law of either may be wrong."""
    left = Law({0: 0.5, 1: 0.499, 2: 0.001})
    rare, often = Law({0: 0.5, 1: 0.5 - 1e-9, 2: 1e-9}), Law({0: 0.9, 1: 0.099, 2: 0.001})
    for leaky in (1, 2):
        truth = [left, rare, often]
        truth[leaky] = Law({0: 1.0})
        mechanism = Batched(truth, [left, rare, often], [(0, 1), (0, 2)])
        mechanism.claims = (PrivacyClaim(1.0), PrivacyClaim(0.01, 0.1))  # type: ignore[attr-defined]
        statuses = [claim.status for claim in audited(mechanism).claims]
        assert statuses == ["error" if leaky == n else "violated" for n in (1, 2)]


def test_the_result_says_what_was_compared_and_what_would_have_been_seen() -> None:
    for kind, runs in ((Coin, 100), (Batched, 1000)):
        mechanism = kind([FAIR] * 3, [FAIR] * 3, [(0, 1), (0, 2)])
        compared = audited(mechanism).law_compared
        assert compared is not None
        level = law_test.FALSE_ALARM / (2 * 2 * (4 * law_test.COMPARED + 1))
        assert compared.deviation == pytest.approx(deviation(runs, level), abs=1e-6)
        assert (compared.pairs, compared.runs_a_side) == (2, runs)
        assert sum((compared.which or {}).values()) == 2
        assert mechanism.runs == 2 * 2 * runs
    sampled = audited(Batched([FAIR] * 2, [FAIR] * 2), samples=300)
    assert sampled.law_compared is None


@pytest.mark.parametrize("runs", [100, 1000])
@pytest.mark.parametrize("chance", [0.0, 0.01, 0.2, 0.5, 0.8, 1.0])
def test_a_probability_that_is_off_by_so_much_is_seen(runs: int, chance: float) -> None:
    """Exactly: the probability of all counts that are not refused, at what is said to be seen."""
    law = Law({0: chance, 1: 1 - chance})
    passed = [
        k
        for k in range(runs + 1)
        if not contradiction(law, {flatten(0): k, flatten(1): runs - k}, runs, LEVEL)
    ]
    off = deviation(runs, LEVEL)
    for truth in (chance - off, chance + off):
        if 0 <= truth <= 1:
            missed = np.sum(stats.binom.pmf(passed, runs, truth))
            assert missed <= law_test.MISSED


@pytest.mark.parametrize("pairs", [1, 16])
@pytest.mark.parametrize("chance", [0.5, 0.01])
def test_the_level_is_kept_by_the_union_of_all_counts(pairs: int, chance: float) -> None:
    """Exactly: the probability that a right law is refused on some pair is below 1e-9."""
    runs = law_test.AT_ONCE[0]
    level = law_test.FALSE_ALARM / (pairs * 2 * (4 * law_test.COMPARED + 1))
    law = Law({0: 1 - chance, 1: chance})
    refused = [
        k
        for k in range(runs + 1)
        if contradiction(law, {flatten(0): runs - k, flatten(1): k}, runs, level)
    ]
    total = 2 * pairs * float(np.sum(stats.binom.pmf(refused, runs, chance)))
    assert 0 < total <= law_test.FALSE_ALARM


def test_outputs_that_the_law_does_not_know_are_named() -> None:
    claim = only(audited(Coin([FAIR, FAIR], [FAIR, Law({0: 1.0})])))
    assert " of 100 runs gave what the law leaves out, such as 1;" in claim.method
    half = Law({0: 0.5}, missing=0.5)
    assert only(audited(Coin([FAIR, FAIR], [half, half]))).status == "inconclusive"
    claim = only(audited(Coin([FAIR, Law({1: 1.0})], [FAIR, FAIR])))
    assert "0 has probability 0.5" in claim.method


def test_outputs_of_another_kind_are_other_outputs() -> None:
    """By the law 1, by the runs True: the two sides would be told apart at once."""
    one = Law({1: 1.0})
    claim = only(audited(Coin([one, Law({True: 1.0})], [one, one])))
    assert "100 of 100 runs gave what the law leaves out, such as True" in claim.method


def test_an_output_of_no_probability_never_comes_up() -> None:
    law = Law({0: 0.999, 1: 0.001, 2: 0.0})
    counts = Counter({flatten(0): 99, flatten(2): 1})
    said = contradiction(law, counts, 100, LEVEL)
    assert said == "2 has probability 0 by the law, and came up in 1 of 100 runs"
    assert contradiction(law, {flatten(0): 99, flatten(1): 1}, 100, LEVEL) == ""


def test_what_a_law_may_be_off_by_is_granted() -> None:
    off: Any = {1: 0.05, 0: 0.95}
    truth = Law({1: 0.25, 0: 0.75})
    assert only(audited(Batched([truth] * 2, [Law(off)] * 2))).status == "error"
    wide = Law(off, error=4.0)
    assert only(audited(Batched([truth] * 2, [wide] * 2))).status == "inconclusive"


def test_only_so_many_outputs_are_compared_and_the_likely_ones_are() -> None:
    many: Any = dict.fromkeys(range(1000), 0.5 / 1000)
    law, truth = Law({**many, "often": 0.5}), Law(dict.fromkeys(range(1000), 1 / 1000))
    claim = only(audited(Batched([truth] * 2, [law] * 2)))
    assert "often has probability 0.5 by the law, and came up in 0 of" in claim.method


class Real(Coin):
    """Shows real numbers, whatever its law lists."""

    def run(self, instance: int, rng: np.random.Generator) -> Any:
        return float(rng.random()) + 5 * instance


@pytest.mark.parametrize("wrapped", [False, True], ids=["number", "in a tuple"])
def test_a_law_that_cannot_be_compared_decides_nothing(wrapped: bool) -> None:
    mechanism = Real([FAIR] * 2, [FAIR] * 2)
    if wrapped:
        inner = mechanism.run
        mechanism.run = lambda *given: ("value", inner(*given))  # type: ignore[method-assign]
    result = audited(mechanism, default_samples=2_000)
    claim = only(result)
    assert (claim.exact, claim.status) == (None, "violated")
    (remark,) = result.remarks
    assert remark == (
        "its law cannot be compared with its runs: outputs are real numbers, which no law can "
        "list; it was sampled instead"
    )
    assert result.law_compared is None


def test_a_few_real_numbers_among_listed_outputs_are_a_contradiction() -> None:
    counts = Counter({flatten(0): 990, **{flatten(i + 0.5): 1 for i in range(10)}})
    assert "10 of 1000 runs gave" in contradiction(Law({0: 1.0}), counts, 1000, LEVEL)


def test_runs_are_counted_and_never_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that leaps makes no difference to what is compared."""
    ticks = iter(range(0, 10**9, 3))  # a call may take 120 s
    monkeypatch.setattr("time.monotonic", lambda: float(next(ticks)))
    slow = Coin([FAIR] * 2, [FAIR] * 2)
    assert only(audited(slow)).status == "not_rejected"
    assert slow.runs == 2 * law_test.ONE_BY_ONE[0]


def test_runs_that_cannot_be_had_are_an_error() -> None:
    class Endless(Coin):
        def run(self, instance: int, rng: np.random.Generator) -> Any:
            return iter(int, 1)

    claim = only(audited(Endless([FAIR] * 2, [FAIR] * 2)))
    assert claim.status == "error"
    assert "gives more than" in claim.method


def _found(labels: str, laws: bool = True) -> list[MeasuredPair]:
    law = (FAIR, FAIR) if laws else None
    return [
        MeasuredPair(CandidatePair(label, lambda: (0, 1), number=1), laws=law) for label in labels
    ]


def test_the_pairs_compared_are_the_judged_the_least_and_a_spread() -> None:
    found = _found("aabacbbd")
    chosen = pairs_to_compare(found, [found[1]], 3)
    assert [*map(id, chosen)] == [*map(id, (found[1], found[-1], found[0]))]
    labels = [one.candidate.label for one in pairs_to_compare(found, [found[0]], 16)]
    assert set(labels) == set("abcd")
    # Only laws that were kept can be compared.
    assert len(pairs_to_compare([*found[:1], *_found("xyz", laws=False)], found[:1], 16)) == 1
    # The judged ones are never left out.
    assert len(pairs_to_compare(found, found, 2)) == len(found)


def test_the_laws_of_the_worst_are_kept_however_many_outputs_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exact_search, "KEPT", 4)
    laws = [FAIR, FAIR, Law({0: 0.6, 1: 0.4}), SKEW, Law({0: 0.7, 1: 0.3})]
    mechanism = Batched(laws, laws, [(0, i) for i in range(1, 5)])
    result = audited(mechanism)
    assert only(result).exact == pytest.approx(math.log(5))
    assert result.law_compared.pairs == 2  # the first, and the worst
