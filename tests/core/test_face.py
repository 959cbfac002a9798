"""What a program imports from the package, and what it gets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pdpaudit
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
    assert spec["claimed"] == {"epsilon": 0.25, "delta": 0.0, "source": "the call"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"pairs": [(0, 1)]}, "leaky: it claims nothing; give it epsilon="),
        ({"epsilon": -1, "pairs": [(0, 1)]}, "epsilon = -1: a claim needs epsilon >= 0"),
        ({"epsilon": 1, "pairs": [0, 1]}, "which is no pair"),
        ({"epsilon": 1, "pairs": []}, "gives none"),
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
