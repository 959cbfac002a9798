"""JUnit, the job summary and the report folder, whatever the names are."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pdpaudit.testing.session import Settings
from pdpaudit.testing.summary import MOST_ROWS, summary_markdown

from .conftest import Project, out

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "rtl": "\u202e\u05d3\u05e0\u05d9",
    "emoji": "\U0001f469\u200d\U0001f52c",
    "long": "x" * 10_000,
    "formula": "=HYPERLINK(A1)|+1`@x",
    "control": "a\x00b\x1b[31m]]>&\r\n# b",
}

#: Everybody found, most contacts first: it leaks whatever is rewired.
PEOPLE = """
import numpy as np
from pdpaudit.core.protocols import Law, PrivacyClaim
from pdpaudit.core.network import Network, adjacency_from_edges
from names import HOSTILE

names = tuple(HOSTILE.values()) + ("a", "b")

def network():
    edges = np.array([[0, 1], [0, 2], [0, 3], [1, 4], [2, 5], [3, 4], [6, 7], [0, 6]])
    targeted = np.isin(np.arange(8), [0, 1, 2, 3])
    matrix = adjacency_from_edges(8, edges[:, 0], edges[:, 1])
    return Network(matrix, targeted, (0,), names, HOSTILE["script"])

class Popular:
    claim = PrivacyClaim(0.5, source=HOSTILE["formula"] + HOSTILE["control"])
    def run(self, instance, rng):
        ranked = sorted(instance.graph, key=instance.graph.degree, reverse=True)
        return tuple(v for v in ranked if instance.oracle(v))
    def law(self, instance):
        return Law({self.run(instance.fresh(), None): 1.0})

@pytest.mark.parametrize("name", HOSTILE.values(), ids=str)
def test_leaks(name):
    assert_private(Popular(), networks=network())
"""


@pytest.fixture
def hostile(project: Project) -> pytest.Pytester:
    it = project(PEOPLE)
    it.makepyfile(names=f"HOSTILE = {HOSTILE!r}")
    return it


def test_hostile_names_break_nothing(
    hostile: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(hostile.path / "summary.md"))
    result = hostile.runpytest_inprocess("--junitxml=out.xml", "--pdp-report=results", "--tb=short")
    result.assert_outcomes(failed=len(HOSTILE))
    text = out(result)
    assert "\u202e" not in text
    assert "\x1b[31m" not in text
    assert max(len(line) for line in text.splitlines() if line.startswith("E")) < 600

    cases = list(ET.parse(hostile.path / "out.xml").iter("testcase"))
    assert len(cases) == len(HOSTILE)
    for case in cases:
        shown = {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}
        assert shown["pdp_status"] == "violated"
        assert "rewiring" in shown["pdp_pair"]
        assert "<script>alert(1)</script>" in shown["pdp_pair"]  # as text, the parser says
        assert shown["pdp_replay"].startswith("pdpaudit replay results")
        assert all(len(value) < 500 and "\u202e" not in value for value in shown.values())

    summary = (hostile.path / "summary.md").read_text()
    # Outside of code, which shows tags as text, there is no tag but the empty comment.
    outside = re.sub(r"```sh\n.*?\n```|(`+)(?!`).*?(?<!`)\1(?!`)", "", summary, flags=re.DOTALL)
    assert "<" not in outside.replace("<!-- -->", "")
    assert "&lt;script&gt;" in outside
    assert "\u202e" not in summary
    assert "\x00" not in summary
    table = [line for line in summary.splitlines() if line.startswith("|")]
    bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table}
    assert bars == {7}  # no name opens or closes a cell
    assert len(table) == 2 + len(HOSTILE)
    assert len(summary) < 50_000

    files = sorted((hostile.path / "results").iterdir())
    assert len(files) == len(HOSTILE)
    assert all(re.fullmatch(r"[A-Za-z0-9-]+\.json", file.name) for file in files)
    body = json.loads(files[0].read_text())
    assert body["claims"][0]["status"] == "violated"


def test_the_results_become_a_report(hostile: pytest.Pytester) -> None:
    from pdpaudit.cli import main

    result = hostile.runpytest_inprocess("--pdp-report=results", "-k", "script or emoji")
    line = next(line for line in result.outlines if line.startswith("results in"))
    assert line == "results in results; for people: pdpaudit report results/*.json -o report.html"
    with pytest.raises(SystemExit) as end:
        main(["report", *map(str, Path("results").glob("*.json")), "-o", "report.html"])
    assert end.value.code == 0
    assert "<script>alert" not in Path("report.html").read_text()


def test_the_summary_is_appended_to(project: Project) -> None:
    it = project("def test_fine(): assert_private(ExactCoin())")
    (it.path / "all.md").write_text("before\n")
    it.runpytest_inprocess("--pdp-summary=all.md")
    it.runpytest_inprocess("--pdp-summary=all.md")
    text = (it.path / "all.md").read_text()
    assert text.startswith("before\n## Privacy audits\n")
    assert text.count("## Privacy audits") == 2
    row = r"| ○ **not rejected** | test\_it.py::<!-- -->test\_fine | 1-DP | 1 (exact) | 1 |"
    assert row in text


def test_a_summary_that_cannot_be_written_is_shown(project: Project) -> None:
    it = project("def test_fine(): assert_private(ExactCoin())")
    result = it.runpytest_inprocess("--pdp-summary=no/such/folder.md")
    result.assert_outcomes(passed=1)
    assert "NOT WRITTEN" in out(result)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("lost", [False, True])
def test_a_baseline_that_cannot_be_written_is_not_said_to_be(project: Project, lost: bool) -> None:
    it = project(
        f"""
        from pathlib import Path

        def test_fine():
            Path("base.json").mkdir() if {lost} else None  # once the session runs
            assert_private(ExactCoin())
        """
    )
    options = ("--pdp-baseline=base.json", "--pdp-update-baseline", "--pdp-summary=all.md")
    result = it.runpytest_inprocess(*options)
    assert ("1 loss recorded" in out(result)) != lost
    assert ("NOT WRITTEN: " in out(result)) == lost


@pytest.mark.parametrize("place", ["--pdp-report=results", "--strict-markers"])
def test_a_verdict_needs_no_place_to_be_written(project: Project, place: str) -> None:
    """The folder is taken by a file once the session runs, as a full disk would refuse it."""
    it = project(
        """
        from pathlib import Path

        for name in ("results", ".pytest_cache"):
            Path(name).write_text("")

        def test_fine(): assert_private(ExactCoin())
        def test_leaks(): assert_private(ExactCoin(1.0, real=2.0))
        """
    )
    result = it.runpytest_inprocess(place, "-W", "ignore")
    result.assert_outcomes(passed=1, failed=1)
    assert "coins.py:ExactCoin is not private as claimed" in out(result)
    assert "replay  pytest test_it.py::test_leaks" in out(result)
    asked = place.startswith("--pdp-report")
    assert ("NOT WRITTEN: " in out(result)) == asked
    fine = it.runpytest_inprocess(place, "-W", "ignore", "-k", "fine")
    assert fine.ret == (pytest.ExitCode.USAGE_ERROR if asked else pytest.ExitCode.OK)


def test_a_long_summary_is_cut() -> None:
    row = {
        "kind": "audit", "test": "t", "tests": 9, "status": "violated", "claim": "1", "bound": 2.0,
        "exact": False, "detectable": "inf", "pair": "p" * 400, "event": "e" * 400, "subject": "s",
        "replay": "r" * 400, "grew": False, "compared": False, "baseline": None, "now": None,
    }  # fmt: skip
    text = summary_markdown([row] * 5000, Settings())
    assert len(text.encode()) < 100_000
    assert f"… and {5000 - MOST_ROWS:,} more" in text.replace("4800", "4,800")
    assert "more that fail" in text
