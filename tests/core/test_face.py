"""What a program imports from the package, and what it gets."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import pdpaudit
from pdpaudit.auditing import benchmark_networks
from pdpaudit.core.claim import PrivacyClaim
from pdpaudit.core.errors import InputError
from pdpaudit.core.network import SearchInstance
from pdpaudit.relations import Bounded, Records
from pdpaudit.results.files import save
from pdpaudit.results.results import Result

FACE = [
    "InputError",
    "Network",
    "PrivacyClaim",
    "Result",
    "__version__",
    "assert_private",
    "assert_statistic",
    "audit",
    "check",
    "load",
    "read_network",
    "simulate",
    "statistic",
]


def leaky(x: float, rng: np.random.Generator) -> float:
    """Release x with too little noise."""
    return float(x + rng.laplace(scale=0.25))


@pytest.fixture(scope="module")
def violated() -> Result:
    return pdpaudit.audit(leaky, epsilon=1, pairs=[("near", 0.0, 1.0)], samples=2000, seed=1)


def test_the_package_shows_its_face_and_nothing_else() -> None:
    assert dir(pdpaudit) == FACE == pdpaudit.__all__
    assert all(getattr(pdpaudit, name) is not None for name in FACE)
    with pytest.raises(AttributeError, match="no attribute 'grounds'"):
        _ = pdpaudit.grounds


def test_importing_it_imports_no_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import pdpaudit; "
        "print(sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "scipy", "networkx", "rich", "typer"} & set(eval(done.stdout))


def test_a_function_is_audited_on_pairs_that_are_given(violated: Result) -> None:
    assert violated.violated
    assert violated.status == "violated"
    assert 1 < violated.lower_bound < 4
    assert violated.claims[0].statement == "1-DP"
    assert "near" in violated.claims[0].pair.words


def test_what_it_says_in_one_line_and_in_several(violated: Result) -> None:
    line = f"audit of leaky: violated, loss at least {violated.lower_bound:.4g}, 1 claimed"
    assert repr(violated) == f"<Result: {line}>"
    said = violated.summary().splitlines()
    assert said[0] == line
    assert any(row.endswith(" violated") for row in said[1:])
    assert all(len(row) <= 100 for row in said)
    assert line in violated._repr_html_()


def test_what_failed_or_was_only_measured_claims_no_loss() -> None:
    failed = pdpaudit.audit(
        lambda given, rng: 1 / 0, pairs=[(0, 1)], epsilon=1, samples=100, seed=1
    )
    assert failed.status == "error"
    assert repr(failed).startswith("<Result: audit of <lambda>: error, every run raised ZeroDiv")
    known = benchmark_networks()[0]
    measured = pdpaudit.simulate(["SFS"], known, runs=1, seed=1)
    assert repr(measured) == "<Result: simulate of SFS>"
    assert repr(known) == "<Network: karate club, 34 vertices, 48 edges, 17 targeted>"
    named = replace(known, names=tuple(f"Ann {i}" for i in range(known.n)))
    assert "Ann" not in repr(named)


@pytest.mark.parametrize(("name", "begins"), [("a.html", "<!doctype html>"), ("a.md", "#")])
def test_a_report_is_written(violated: Result, tmp_path: Path, name: str, begins: str) -> None:
    path = violated.report(tmp_path / name)
    assert path.read_text(encoding="utf-8").lower().startswith(begins)


def test_a_report_has_a_known_ending(violated: Result, tmp_path: Path) -> None:
    with pytest.raises(pdpaudit.InputError, match=r"end the name in \.html or \.md"):
        violated.report(tmp_path / "a.pdf")


def test_a_result_is_read_again(violated: Result, tmp_path: Path) -> None:
    save(tmp_path / "a.json", violated.to_json())
    again = pdpaudit.load(tmp_path / "a.json")
    assert (again.lower_bound, again.status) == (violated.lower_bound, violated.status)
    with pytest.raises(pdpaudit.InputError, match="check the path"):
        pdpaudit.load(tmp_path / "b.json")


def test_the_same_seed_gives_the_same_result(violated: Result) -> None:
    again = pdpaudit.audit(leaky, epsilon=1, pairs=[("near", 0.0, 1.0)], samples=2000, seed=1)
    assert json.dumps(again.to_json()["claims"]) == json.dumps(violated.to_json()["claims"])


def test_a_mechanism_by_name_keeps_its_law_under_another_claim() -> None:
    result = pdpaudit.audit("zoo:TruncatedGeometric", epsilon=0.25, seed=1)
    assert result.violated
    assert result.claims[0].exact == result.lower_bound
    assert result.claims[0].witness is not None
    spec = result.claims[0].witness.mechanism
    assert spec is not None
    assert spec.claimed == PrivacyClaim(0.25, source="the call")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"pairs": [(0, 1)]}, "leaky: it claims nothing; give it epsilon="),
        ({"epsilon": -1, "pairs": [(0, 1)]}, "epsilon = -1: a claim needs epsilon >= 0"),
        ({"epsilon": 1, "pairs": [0, 1]}, "which is no pair"),
        ({"epsilon": 1, "pairs": []}, "pairs: none"),
        ({"epsilon": "1", "pairs": [(0, 1)]}, "epsilon = '1': give a number"),
        ({"epsilon": 1, "domain": 3}, "domain = 3: give one of pdpaudit.relations"),
        ({"epsilon": 1, "pairs": [(0, 1)], "domain": Records(Bounded(0, 1))}, "and not both"),
        ({"epsilon": 1, "pairs": [(0, 1)], "relation": "replace"}, "and not both"),
        ({"epsilon": 1, "networks": 3}, "networks: give a Network or several"),
        ({"epsilon": 1, "networks": []}, "networks: give a Network or several"),
        ({"claim": "eps=1", "seed": "a"}, "seed = 'a': give a whole number"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(pdpaudit.InputError) as caught:
        pdpaudit.audit(leaky, **asked)
    assert said in str(caught.value)


def test_it_says_which_line_parts_the_two_sides() -> None:
    result = pdpaudit.audit(
        leaky, epsilon=1, pairs=[(0.0, 1.0)], samples=2000, seed=1, explain=True
    )
    place = result.claims[0].first_difference
    assert place is not None
    assert place.places[0].file.endswith("test_face.py")


@pytest.mark.parametrize("given", [Fraction, Decimal, np.float32, np.float64, np.int64, np.int8])
def test_a_number_of_any_type_is_that_number(violated: Result, given: Callable[[int], Any]) -> None:
    asked = {
        "epsilon": given(1),
        "delta": given(0),
        "samples": 2 * np.int64(1000),
        "seed": given(1),
    }
    one = pdpaudit.audit(leaky, pairs=[("near", 0.0, 1.0)], time_limit=given(99), **asked)
    plain = json.loads(json.dumps(one.to_json()))
    assert one.lower_bound == violated.lower_bound
    assert PrivacyClaim.from_json(plain["claims"][0]["claimed"]) == PrivacyClaim(1.0)
    for claim in (PrivacyClaim.zcdp(given(1)), PrivacyClaim.renyi(given(2), given(1))):
        assert PrivacyClaim.from_json(json.loads(json.dumps(claim.to_json()))) == claim
        assert PrivacyClaim.parse(claim.text or "") == claim


@pytest.mark.parametrize("name", ["seed", "samples", "jobs", "tries"])
@pytest.mark.parametrize("value", ["7", 2.5, [1], math.nan, math.inf, object])
def test_what_is_no_whole_number_is_refused(name: str, value: object) -> None:
    asked: dict[str, Any] = {"samples": 100, name: value}
    with pytest.raises(pdpaudit.InputError, match=f"^{name} = .*: give a whole number"):
        pdpaudit.audit(leaky, epsilon=1, pairs=[(0.0, 1.0)], **asked)


@pytest.mark.parametrize("name", ["confidence", "time_limit", "detect"])
@pytest.mark.parametrize("value", ["0.9", [1], 1j])
def test_what_is_no_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(pdpaudit.InputError, match=f"^{name} = .*: give a number"):
        pdpaudit.audit(leaky, epsilon=1, pairs=[(0.0, 1.0)], **{name: value})  # type: ignore[arg-type]


def test_an_argument_that_nothing_looks_at_is_refused() -> None:
    asked: dict[str, Any] = {"sample": 100}
    for function in (pdpaudit.audit, pdpaudit.assert_private):
        with pytest.raises(TypeError, match=r"has no argument 'sample'; it has .*samples"):
            function(leaky, epsilon=1, **asked)
    with pytest.raises(pdpaudit.InputError, match="give that too"):
        pdpaudit.check(len, domain=Records(Bounded(0, 1)), sensitivity=1)


def test_a_function_with_arguments_filled_in_is_a_function() -> None:
    def noisy(scale: float, x: float, rng: np.random.Generator) -> float:
        return float(x + rng.laplace(scale=scale))

    given: dict[str, Any] = {"epsilon": 1, "pairs": [(0.0, 1.0)], "samples": 2000, "seed": 1}
    found = pdpaudit.audit(partial(noisy, 0.25), **given)
    assert found.lower_bound == pdpaudit.audit(leaky, **given).lower_bound


def test_an_object_that_is_called_is_told_how_to_be_handed_over() -> None:
    class Called:
        def __call__(self, x: float, rng: np.random.Generator) -> float:
            return leaky(x, rng)

    with pytest.raises(pdpaudit.InputError, match="hand over its __call__"):
        pdpaudit.audit(Called(), epsilon=1, pairs=[(0.0, 1.0)])


def test_pairs_in_an_attribute_are_not_passed_over() -> None:
    class Listed:
        claim = PrivacyClaim(1.0)
        pairs: ClassVar = [(0.0, 1.0)]
        run = staticmethod(leaky)

    with pytest.raises(pdpaudit.InputError, match=r"def pairs\(self\)"):
        pdpaudit.audit(Listed(), samples=100, seed=1)


@pytest.mark.filterwarnings("error")
def test_what_is_never_awaited_is_no_output() -> None:
    async def waiting(x: float, rng: np.random.Generator) -> float:
        return leaky(x, rng)

    found = pdpaudit.audit(waiting, epsilon=1, pairs=[(0.0, 1.0)], samples=100, seed=1)
    assert found.claims[0].status == "error"
    assert "a coroutine, which nothing awaits" in str(found.claims[0].method)


def test_a_search_that_claims_nothing_can_be_simulated() -> None:
    def first(instance: SearchInstance, rng: np.random.Generator) -> list[int]:
        return [int(rng.integers(instance.adjacency.shape[0]))]

    two: Any = np.int64(2)
    network = next(one for one in benchmark_networks() if one.title == "karate club")
    found = pdpaudit.simulate({"first": first}, network, runs=two, seed=two)
    assert found.context["simulation"]["searches"][0]["private"] is False
    with pytest.raises(pdpaudit.InputError, match="name at least one"):
        pdpaudit.simulate([], network)
    nothing: Any = None
    with pytest.raises(pdpaudit.InputError, match="network: a NoneType is none"):
        pdpaudit.simulate(["SFS"], nothing)


def test_options_of_a_check_are_refused_by_name() -> None:
    given: Any = {"max_vertices": 3}
    with pytest.raises(InputError, match=r"options.*pdpaudit\.checks\.Options"):
        pdpaudit.check("CN", options=given)
