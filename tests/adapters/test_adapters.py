"""Objects of other libraries as mechanisms; those that are not installed are skipped."""

from __future__ import annotations

import functools
import math
import re
import sys
import types
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdpaudit import PrivacyClaim, assert_private, audit
from pdpaudit.adapters import libraries
from pdpaudit.adapters import opendp as adapter_of_opendp
from pdpaudit.adapters.libraries import added, replaced, scalars, vectors
from pdpaudit.core import registry
from pdpaudit.core.errors import InputError
from pdpaudit.core.registry import UserCodeError, adapted, adapter_of, make_mechanism
from pdpaudit.core.specification import Specification
from pdpaudit.core.subject import Subject


def test_a_measurement_is_audited_by_its_map_and_domain() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    response = dp.m.make_randomized_response_bool(prob=0.75)
    # Its noise has no seed: wrong once in ten thousand.
    [claim] = audit(response, d_in=1, samples=2000, confidence=0.9999).claims
    assert claim.statement == "1.09861-DP"
    assert claim.status in ("not_rejected", "inconclusive")
    made, spec = make_mechanism("opendp:make_laplace", {"scale": 2.0, "d_in": 3})
    assert spec == Specification("opendp:make_laplace", {"scale": 2.0, "d_in": 3})
    assert made.claim.epsilon == 1.5
    assert ("", 0, 3) in Subject(made).pairs()


def test_a_measurement_that_claims_too_little_is_caught() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib", "honest-but-curious")
    wrong = dp.m.make_user_measurement(
        dp.atom_domain(T=bool), dp.discrete_distance(), dp.max_divergence(),
        lambda x: x, lambda d: 1.0 * d, TO=bool,
    )  # fmt: skip
    with pytest.raises(AssertionError, match="not private as claimed"):
        assert_private(wrong, d_in=1, samples=500)


def test_thresholds_are_built_by_name_over_the_metric_and_the_measure_that_fit() -> None:
    pytest.importorskip("opendp.prelude")
    given = {"scale": 1.0, "threshold": 5}
    names = ("make_noise_threshold", "make_laplace_threshold", "make_gaussian_threshold")
    noise, laplace, gaussian = (make_mechanism(f"opendp:{name}", given)[0] for name in names)
    for made in (noise, laplace):
        assert (made.claim.epsilon, made.claim.delta) == pytest.approx((1.0, 0.004925834))
    # ρ = 1/2 and a δ of 3.2e-5: ε = ρ + 2 √(ρ ln 10⁶) at 10⁻⁶ more.
    assert gaussian.claim.epsilon == pytest.approx(5.7565, abs=1e-4)
    assert gaussian.claim.delta == pytest.approx(3.267e-5, rel=1e-3)
    assert ({}, {"a": 1}) in [pair[1:] for pair in Subject.of(gaussian).pairs()]


def test_inputs_belong_to_the_domain_and_are_as_far_apart_as_the_claim_says() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    records, metric = dp.vector_domain, dp.symmetric_distance()
    ages, names = dp.atom_domain(bounds=(0.0, 100.0), nan=False), dp.atom_domain(T=str)
    mean = (records(ages, size=10), metric) >> dp.t.then_mean() >> dp.m.then_laplace(scale=10.0)
    count = (records(names), metric) >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0)
    flips = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=4), dp.discrete_distance(), f=0.5
    )
    for measurement, most in ((mean, 2), (count, 1), (flips, 1)):
        made = adapter_of_opendp.adapt(measurement)
        assert made.d_in == most
        assert made.claim.epsilon == pytest.approx(measurement.map(most))
        for pair in made.pairs():
            assert all(measurement.input_domain.member(side) for side in pair)
    for one, other in adapter_of_opendp.adapt(mean).pairs():
        assert isinstance(one, list)
        assert isinstance(other, list)
        assert len(one) == len(other) == 10
        assert sum(a != b for a, b in zip(one, other, strict=True)) == 1
    assert ([""], []) in adapter_of_opendp.adapt(count).pairs()
    with pytest.raises(InputError, match=r"opendp: a Measurement cannot be made: .*take d_in = 2"):
        adapted(mean, d_in=1)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("opendp:make_laplace", {}, "make_laplace cannot be made: .*'scale'"),
        ("opendp:make_nothing", {}, "no attribute 'make_nothing'"),
        ("diffprivlib:Laplace", {"epsilon": 1}, "Laplace cannot be made: .*'sensitivity'"),
        ("diffprivlib:Nothing", {}, "no mechanism, tool or model has that name"),
        ("sklearn:Nothing", {}, "hand over an estimator"),
        ("dp_accounting:Nothing", {}, "give it as claim="),
    ],
)
def test_a_wrong_name_or_argument_is_refused_in_a_line(
    name: str, parameters: dict[str, object], words: str
) -> None:
    """Nobody is told to fix a file of a library."""
    pytest.importorskip(name.partition(":")[0])
    with pytest.raises(InputError, match=words) as caught:
        make_mechanism(name, parameters)
    assert not isinstance(caught.value, UserCodeError)
    assert "\n" not in str(caught.value)


def test_mechanisms_tools_and_models_of_diffprivlib() -> None:
    library = pytest.importorskip("diffprivlib")
    from diffprivlib.mechanisms import Geometric
    from diffprivlib.tools import histogram

    made = Subject(adapted(Geometric(epsilon=2.0, sensitivity=3)))
    assert made.claim.epsilon == 2.0
    assert ("", 0, 3) in made.pairs()
    assert isinstance(made.run(0, np.random.default_rng(1)), int)
    weighted = functools.partial(histogram, range=(0, 1), bins=2, weights=10.0)
    assert audit(weighted, seed=1, budget="quick").claims[0].status == "violated"
    model = Subject(adapted(library.models.StandardScaler(epsilon=1.0, bounds=(0.0, 5.0))))
    _, records, _ = model.pairs()[0]
    once, again = (model.run(records, np.random.default_rng(3)) for _ in range(2))
    assert isinstance(once, dict)
    assert isinstance(again, dict)
    assert once["mean_"] == again["mean_"]


def test_what_an_estimator_learns_is_its_output() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    result = audit(linear.Ridge(), epsilon=1.0, samples=300, seed=1)
    assert result.violated


@pytest.mark.parametrize("make", [added, replaced])
def test_of_many_pairs_some_of_every_size_and_value_are_kept(make: Any) -> None:
    for count in range(3, 9):
        values = [float(i) for i in range(count - 1)] + [math.nan]
        pairs = make(values)
        assert len(pairs) <= 60
        assert {len(max(pair, key=len)) for pair in pairs} == {2, 3, 6}
        changed = {repr(max(pair, key=len)[-1]) for pair in pairs}
        assert changed | {repr(pair[1][-1]) for pair in pairs} >= {*map(repr, values)}


def test_estimators_within_estimators_are_seen_whole() -> None:
    library = pytest.importorskip("diffprivlib")
    forest = library.models.RandomForestClassifier(
        n_estimators=2, max_depth=2, bounds=(0, 1), classes=[0, 1]
    )
    made = libraries.of_diffprivlib(forest)
    assert isinstance(made, libraries.Estimator)
    records = [([0.0], 0.0), ([1.0], 1.0)]
    once, again, other = (made.run(records, np.random.default_rng(i)) for i in (3, 3, 4))
    assert repr(once) == repr(again) != repr(other)
    assert "object at 0x" not in repr(once)


class Learner:
    """As estimators are, for where the library is not."""

    def __init__(self, epsilon: float = 1.0, random_state: int | None = None) -> None:
        self.epsilon, self.random_state = epsilon, random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "random_state": self.random_state}

    def fit(self, features: list[list[float]], labels: list[float]) -> Learner:
        noise = np.random.default_rng(self.random_state).laplace(scale=0.2)
        self.mean_, self.seen = float(np.sum(features) + noise), features
        return self


def test_an_estimator_learns_from_records_that_are_replaced() -> None:
    made = libraries.estimator(Learner(epsilon=2.0), bounds=(0.0, 3.0))
    assert made.claim == PrivacyClaim(2.0, source="epsilon")
    assert made.run([([3.0], 0.0)], np.random.default_rng(1)).keys() == {"mean_"}
    assert audit(made, seed=1, budget="quick").claims[0].status == "violated"
    with pytest.raises(ValueError, match="hand over an estimator"):
        libraries.estimator("Ridge")


def test_events_of_dp_accounting_are_claims() -> None:
    import dp_accounting as library

    def noisy(x: float, rng: np.random.Generator) -> float:
        return x + float(rng.normal(scale=0.5))

    def claim_of(event: object) -> PrivacyClaim:
        claim = adapted(event)
        assert isinstance(claim, PrivacyClaim)
        return claim

    known = {
        library.GaussianDpEvent(2.0): PrivacyClaim.gaussian(0.5).statement,
        library.LaplaceDpEvent(0.5): "2-DP",
    }
    for event, statement in known.items():
        assert claim_of(event).statement == statement
    composed = library.SelfComposedDpEvent(library.LaplaceDpEvent(1.0), 2)
    # Two Laplace mechanisms lose 2 at most, and less than the sum at other δ.
    assert claim_of(composed).delta_at(2.0) < 1e-3 < claim_of(composed).delta_at(1.0)
    [claim] = audit(noisy, claim=library.GaussianDpEvent(1.0), pairs=[(0.0, 1.0)], seed=1).claims
    assert claim.status == "violated"
    with pytest.raises(InputError, match="a list is no claim"):
        audit(noisy, claim=[], pairs=[(0.0, 1.0)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ModuleNotFoundError("No module named 'absent'", name="absent"),
            "absent: No module named 'absent'; install it",
        ),
        (
            ImportError("cannot import name 'X' from 'other'", name="other"),
            "absent: cannot import name 'X' from 'other'; install the versions it needs",
        ),
    ],
)
def test_a_library_that_cannot_be_imported_is_named(
    monkeypatch: pytest.MonkeyPatch, error: ImportError, words: str
) -> None:
    point = EntryPoint("absent", "tests_absent:adapt", "pdpaudit.adapters")
    module: Any = types.ModuleType("tests_absent")
    monkeypatch.setitem(sys.modules, "tests_absent", module)

    def adapt(target: object, **parameters: object) -> object:
        raise error

    module.adapt = adapt
    monkeypatch.setattr(registry, "registered", lambda group: [point])
    with pytest.raises(InputError, match=re.escape(words)):
        make_mechanism("absent:thing", {})


def test_adapters_are_found_by_the_library_of_a_name_or_an_object() -> None:
    assert adapter_of("opendp:make_laplace") is not None
    assert adapter_of("opendp") is None
    assert adapter_of("zoo:Laplace") is None
    assert adapted(object()) is None
    assert adapted(lambda x, rng: x) is None
    known: dict[str, Any] = {"__name__": None}  # as in a notebook's or a page's code
    exec("def noisy(x, rng): return x", known)
    assert adapted(known["noisy"]) is None
    with pytest.raises(InputError, match="no adapter knows a float"):
        audit(1.0, d_in=1)


@pytest.mark.parametrize(
    ("domain", "metric", "distance", "pair"),
    [
        ("AtomDomain(T=bool)", "DiscreteDistance()", 1, (False, True)),
        ("AtomDomain(T=i32)", "AbsoluteDistance(i32)", 2, (0, 2)),
        ("AtomDomain(T=f64)", "AbsoluteDistance(f64)", 1, (0.0, 1.0)),
        ("VectorDomain(AtomDomain(T=i32))", "L1Distance(i32)", 2, ([0, 0, 0], [2, 0, 0])),
        ("VectorDomain(AtomDomain(T=i32), size=2)", "LInfDistance(T=i32)", 1, ([0, 1], [1, 0])),
        ("VectorDomain(AtomDomain(bounds=[0, 10], T=i32), size=2)", "ChangeOneDistance()", 1,
         ([10, 0], [10, 5])),
        ("VectorDomain(AtomDomain(T=i32))", "SymmetricDistance()", 1, ([8, 8], [8])),
        ("BitVectorDomain(weight=1)", "DiscreteDistance()", 1, (b"\0", b"\x80")),
        ("MapDomain { key_domain: AtomDomain(T=String), value_domain: AtomDomain(T=i32) }",
         "L01InfDistance(AbsoluteDistance(i32))",
         (1, 1, 1), ({}, {"a": 1})),
    ],
)  # fmt: skip
def test_pairs_of_a_domain_under_a_metric(
    domain: str, metric: str, distance: Any, pair: tuple[Any, Any]
) -> None:
    assert pair in adapter_of_opendp.pairs_under(domain, metric, distance, None)


def test_neighbours_differ_in_one_record_only() -> None:
    for one, other in replaced([0, 1, 2]):
        assert len(one) == len(other)
        assert sum(a != b for a, b in zip(one, other, strict=True)) == 1
    for more, less in added([0, 1]):
        assert more[:-1] == less
    assert scalars([0, 5], 2) == [(0, 2), (5, 7), (-2, 0)]
    assert all(abs(a - b) <= 3 for pair in vectors(3) for a, b in zip(*pair, strict=True))


def test_an_object_in_a_file_is_made_by_another_interpreter(tmp_path: Path) -> None:
    """As reports/wild does: an adapter needs nothing of pdpaudit there."""
    pytest.importorskip("opendp.prelude")
    file = tmp_path / "measured.py"
    file.write_text(
        "import opendp.prelude as dp\ndp.enable_features('contrib')\n"
        "response = dp.m.make_randomized_response_bool(prob=0.9)\n"
    )
    result = audit(f"{file}:response", python=sys.executable, claim="eps=1", samples=1000)
    assert result.violated


def test_a_name_that_a_library_does_not_have_is_refused() -> None:
    pytest.importorskip("diffprivlib")
    with pytest.raises(ValueError, match="no mechanism, tool or model"):
        libraries.of_diffprivlib("Nothing")
