"""What a person's own code needs to be replayed, and what else is said of it."""

from __future__ import annotations

import json
import math
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pdpaudit.cli import main
from pdpaudit.core.errors import InputError
from pdpaudit.core.protocols import PrivacyClaim
from pdpaudit.replay.trust import finder, no_mechanism
from pdpaudit.report.sources import read_source, replay_of
from pdpaudit.results.files import Fields, load, sealed
from pdpaudit.results.results import ClaimResult, Result

COIN = """
from pdpaudit.core.protocols import Law, PrivacyClaim


class Coin:
    claim = PrivacyClaim(0.5)

    def pairs(self):
        return [("bent", 0.9, 0.1)]

    def run(self, p, rng):
        return bool(rng.random() < p)

    def law(self, p):
        return Law({True: p, False: 1 - p})


class Sure(Coin):
    def pairs(self):
        return [("sure", 1.0, 0.5)]
"""

SOP = """
from pdpaudit.core.statistic import statistic


@statistic(sensitivity=0.5, impact_cardinality=99)
def shared(graph, vertex, targets):
    return sum(len({*graph[vertex]} & {*graph[target]}) for target in targets)
"""


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main([*arguments])
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("own_coin", "own_sop"):
        sys.modules.pop(name, None)
    (tmp_path / "own_coin.py").write_text(COIN)
    (tmp_path / "own_sop.py").write_text(SOP)
    return tmp_path


def test_the_command_that_a_report_prints_replays_a_persons_own_code(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("audit", "own_coin.py:Coin", "--seed", "1", "--json", "r.json") == 1
    command = replay_of(read_source(Path("r.json")))
    assert command == "pdpaudit replay r.json --trust"
    assert run(*shlex.split(command)[1:-1]) == 2
    assert "own_coin.py; give --trust" in capsys.readouterr().err
    assert run(*shlex.split(command)[1:]) == 0


def test_the_command_that_a_check_prints_replays_a_persons_own_statistic(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fast = ("--max-vertices", "4", "--examples", "0", "--seed", "1", "--jobs", "1")
    assert run("check", "own_sop.py:shared", *fast, "--json", "r.json") == 1
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("to replay")]
    assert line == "to replay: pdpaudit replay r.json --trust"
    assert run("replay", "r.json", "--trust") == 0


def test_a_registered_mechanism_needs_no_trust(mine: Path) -> None:
    assert run("audit", "zoo:SVT5", "--seed", "1", "--samples", "400", "--json", "r.json") == 1
    assert replay_of(read_source(Path("r.json"))) == "pdpaudit replay r.json"
    assert run("replay", "r.json") == 0


def test_a_change_of_the_source_is_said(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", "own_coin.py:Coin", "--seed", "1", "--json", "r.json") == 1
    body = load(Path("r.json"))
    assert body["written"].endswith("+00:00")
    Path("own_coin.py").write_text(f"{COIN}\n# the same, in other words\n")
    capsys.readouterr()
    assert run("replay", "r.json", "--trust") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"the code has changed since the result was written ({body['source']}, now " in shown


def test_an_infinite_loss_is_a_number_again(mine: Path) -> None:
    assert run("audit", "own_coin.py:Sure", "--seed", "1", "--json", "r.json") == 1
    body = load(Path("r.json"))
    assert body["claims"][0]["exact"] == "inf"
    claim = ClaimResult.from_json(Fields(body["claims"][0], "result", ""))
    assert claim.exact == claim.lower_bound == math.inf
    assert Result.from_json(body, "r.json").to_json() == {
        **body,
        "elapsed_s": body["elapsed_s"],
        "written": _now(body),
    }
    assert run("replay", "r.json", "--trust") == 0


def _now(body: Mapping[str, object]) -> str:
    return str(Result.from_json(body, "r.json").to_json()["written"])


class Late:
    """Claims only once it is made."""

    def __init__(self) -> None:
        self.claim = PrivacyClaim(1.0)

    def run(self, instance: Any, rng: Any) -> int:
        return 0


class Noted:
    claim: PrivacyClaim

    @staticmethod
    def run(instance: Any, rng: Any) -> int:
        return 0


@pytest.mark.parametrize("one", [Late, Noted, Late()], ids=["in __init__", "annotated", "object"])
def test_what_is_a_mechanism_is_recognised_without_making_it(one: Any) -> None:
    assert no_mechanism(one) == ""


@pytest.mark.parametrize("name", ["subprocess:Popen", "os:system", "nowhere.py:X", "nowhere:X", ""])
def test_nothing_unregistered_is_looked_up_without_trust(name: str) -> None:
    before = {*sys.modules}
    with pytest.raises(InputError, match="`trust`"):
        finder(trust=False)("mechanisms", name)
    assert {*sys.modules} == before


EDGES = "source,target\nann,bob\nbob,cat\ncat,dan\ndan,ann\neve,bob\n"
NODES = "id,label\nann,target\nbob,protected\ncat,target\ndan,protected\neve,target\n"


def test_a_network_is_read_beside_the_result_or_where_it_is_said_to_be(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pdpaudit.results.pairs.INLINE_EDGES", 0)
    (mine / "data").mkdir()
    (mine / "data/edges.csv").write_text(EDGES)
    (mine / "data/nodes.csv").write_text(NODES)
    where = ("--edges", "data/edges.csv", "--nodes", "data/nodes.csv")
    asked = ("--max-degree", "4", "--samples", "300", "--seed", "1", "--json", "r.json")
    assert run("audit", "PTarget:main-text", *where, *asked) in (0, 1)
    capsys.readouterr()
    assert run("replay", "r.json") == 2
    assert "not beside it; give --edges FILE" in capsys.readouterr().err
    assert run("replay", "r.json", *where) == 0
    Path("r.json").rename("data/r.json")
    assert run("replay", "data/r.json") == 0
    (mine / "data/edges.csv").write_text("secret,word\n")
    capsys.readouterr()
    assert run("replay", "data/r.json") == 2
    err = capsys.readouterr().err
    assert "cannot be read as the result says" in err
    assert "secret" not in err


@pytest.mark.parametrize(
    ("sop", "prove"), [("Path", []), ("CN", ["--prove"])], ids=["exact", "proved"]
)
def test_a_network_that_is_only_named_keeps_its_public_degree_bound(
    sop: str, prove: list[str], mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The noise follows the bound, so a law on the network read again without it is another."""
    monkeypatch.setattr("pdpaudit.results.pairs.INLINE_EDGES", 0)
    Path("edges.csv").write_text(EDGES)
    Path("nodes.csv").write_text(NODES)
    where = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--max-degree", "4")
    asked = ("--sop", sop, "--seed", "1", "--json", "r.json", *prove)
    assert run("audit", "PTarget:main-text", *where, *asked) in (0, 1)
    claim = load(Path("r.json"))["claims"][0]
    assert claim["witness"]["pair"]["base"]["file"]["edges"] == "edges.csv"
    assert claim["method"] == ("enclosure" if prove else "exact law")
    assert run("replay", "r.json") == 0


#: What a forger changes together, so that nothing on file contradicts another.
FORGERIES: dict[str, Any] = {
    "the claim": lambda claim, body: _claimed(claim, 9.0),
    "the confidence": lambda claim, body: (
        claim.update(confidence=0.1),
        claim["witness"].update(confidence=0.1, alpha=0.9),
    ),
    "the verdict": lambda claim, body: (
        claim.update(status="not_rejected"),
        body.update(status="not_rejected"),
    ),
    "the bound": lambda claim, body: claim.update(lower_bound=9.0),
    "the counts": lambda claim, body: claim["event"].update(inside=claim["event"]["inside"] + 1),
    "the power": lambda claim, body: claim.update(detectable_epsilon=0.01),
    "the attacker": lambda claim, body: claim["inference"]["advantage"].update(attained=0.9),
    "the side": lambda claim, body: [
        one["event"].update(side="right") for one in (claim, claim["witness"])
    ],
    "the pair's words": lambda claim, body: [
        one["pair"].update(words="a pair of another name") for one in (claim, claim["witness"])
    ],
    "the method": lambda claim, body: [
        one.update(method="clopper-pearson") for one in (claim, claim["witness"])
    ],
    "no witness": lambda claim, body: claim.update(witness=None),
}


def _claimed(claim: dict[str, Any], epsilon: float) -> None:
    claim["claimed"]["epsilon"] = epsilon
    claim["statement"] = f"{epsilon:.6g}-DP"


@pytest.mark.parametrize("name", FORGERIES)
def test_a_consistent_forgery_is_found_out(
    name: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ("own_coin.py:Coin", "--samples", "500", "--seed", "1")
    assert run("audit", *own, "--json", "r.json") == 1
    body = load(Path("r.json"))
    FORGERIES[name](body["claims"][0], body)
    Path("r.json").write_text(json.dumps(sealed(body)))
    capsys.readouterr()
    status = run("replay", "r.json", "--trust")
    shown = capsys.readouterr()
    assert status in (1, 2)
    assert "NOT REPRODUCED" in shown.out or "witness" in shown.err


TESTS = """
import pytest

from own_coin import Coin
from pdpaudit.testing import assert_private


@pytest.mark.pdp_audit(epsilon=0.25)
def test_coin():
    assert_private(Coin)
"""


def test_a_claim_that_a_test_makes_is_replayed_as_the_tests(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file says whose claim it is, and the mechanism's own cannot be passed off for it."""
    (mine / "test_own.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pdp-report", "out"],
        cwd=mine,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    (file,) = (mine / "out").glob("*.json")
    assert f"replay  pdpaudit replay out/{file.name} --trust" in done.stdout.replace("E   ", "")
    body = load(file)
    assert body["claims"][0]["claimed"]["epsilon"] == 0.25
    assert run("replay", str(file), "--trust") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "the claim is given by the test, the mechanism's own is 0.5-DP" in shown
    del body["claims"][0]["witness"]["mechanism"]["claimed"]
    file.write_text(json.dumps(sealed(body)))
    assert run("replay", str(file), "--trust") == 1
