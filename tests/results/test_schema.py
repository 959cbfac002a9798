"""Every result is what the published schema says, and the schema refuses what no result is."""

from __future__ import annotations

import contextlib
import copy
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import pdpaudit
from pdpaudit.auditing import benchmark_networks
from pdpaudit.checks import Options
from pdpaudit.cli import main
from pdpaudit.results.results import Result

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads(files("pdpaudit.results").joinpath("schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

COMMANDS = (
    "audit zoo:SVT5 --seed 1",
    "audit zoo:Laplace --samples 500 --seed 1",
    "audit zoo:Laplace --claim zcdp:0.5 --samples 500 --seed 1",
    "audit zoo:Laplace --sequential --samples 500 --seed 1",
    "check CN --max-vertices 3 --examples 20 --seed 1",
    "claims --select C6 --seed 1",
)


def errors(body: object) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(body)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder = tmp_path_factory.mktemp("results")
    bodies: list[Any] = []
    for number, command in enumerate(COMMANDS):
        file = folder / f"{number}.json"
        with contextlib.suppress(SystemExit):
            main([*command.split(), "--quiet", "--json", str(file)])
        bodies.append(json.loads(file.read_text(encoding="utf-8")))
    return bodies


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_what_commands_write_is_what_it_says(written: list[Any]) -> None:
    assert len(written) == len(COMMANDS)
    assert [errors(body) for body in written] == [[]] * len(COMMANDS)


def test_what_is_read_is_written_again_as_it_was(written: list[Any]) -> None:
    for body in written:
        read = Result.from_json(body, "it").claims
        assert json.loads(json.dumps([one.to_json() for one in read])) == body.get("claims", [])


def test_what_functions_return_is_what_it_says() -> None:
    karate = next(one for one in benchmark_networks() if one.title == "karate club")
    checked = pdpaudit.check("CN", options=Options(max_vertices=3, examples=20, seed=1))
    simulated = pdpaudit.simulate(["SFS"], karate, runs=2, budget=5, seed=1)
    for result in (checked, simulated):
        assert errors(json.loads(json.dumps(result.to_json()))) == []


@pytest.mark.parametrize("name", ["statistics/tables", "paper/claims", "benchmark/auditor"])
def test_published_results_are_what_it_says(name: str) -> None:
    body = json.loads((ROOT / "reports" / f"{name}.json").read_text(encoding="utf-8"))
    assert errors(body) == []


@pytest.mark.parametrize("key", ["format", "command", "subject", "seed", "status"])
def test_a_result_without_one_of_these_is_none(written: list[Any], key: str) -> None:
    body = copy.deepcopy(written[0])
    del body[key]
    assert errors(body)


@pytest.mark.parametrize(
    ("key", "value"),
    [("status", "fine"), ("lower_bound", "large"), ("samples", {"confirmation": -1})],
)
def test_a_wrong_claim_is_refused(written: list[Any], key: str, value: object) -> None:
    body = copy.deepcopy(written[0])
    body["claims"][0][key] = value
    assert errors(body)
