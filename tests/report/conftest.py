"""Results to report on, written by hand in the form that audits and checks write."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pdpaudit.report.rendering import render_html
from pdpaudit.report.sources import Source, source_from_json

VERSIONS = {"python": "3.12.1", "pdpaudit": "0.1.0", "numpy": "2.0.0"}

NAMES = ["Valjean", "Cosette", "Marius", "Javert", "Fantine", "Enjolras"]


def audit_json() -> dict[str, Any]:
    """One claim violated, one not rejected, one inconclusive, one exact, one skipped."""
    pair = {
        "network": "Les Misérables",
        "family": "swap",
        "vertex": 3,
        "vertex_name": "Javert",
        "left": [0, 2],
        "right": [0, 1, 5],
        "lost": ["Marius"],
        "gained": ["Cosette", "Enjolras"],
        "words": "rewiring Javert from {Valjean, Cosette, Enjolras} to {Valjean, Marius}",
    }
    event = {"feature": "first", "values": [2], "side": "left", "prefix": 1}
    said = {
        **event,
        "words": "Marius is found first",
        "inside": 4903,
        "inside_other": 1360,
        "runs_a_side": 20000,
    }
    witness = {
        "kind": "audit",
        "mechanism": {"name": "PTarget", "parameters": {"epsilon": 0.5, "components": 4}},
        "claim": 1,
        "pair": {
            **pair,
            "base": {
                "n": 6,
                "seeds": [0],
                "targeted": [0, 1, 2],
                "edges": [[0, 1], [1, 2], [4, 5]],
                "names": NAMES,
            },
        },
        "event": event,
        "method": "exact",
        "seed": 7,
        "samples": 20000,
        "confidence": 0.95,
    }
    violated = {
        "id": "PTarget #1",
        "statement": "1-protected DP",
        "source": "Theorem 1",
        "status": "violated",
        "claimed": {"epsilon": 1.0, "delta": 0.0},
        "lower_bound": 1.207,
        "exact": None,
        "confidence": 0.95,
        "method": "exact",
        "event": said,
        "pair": pair,
        "samples": {"discovery": 516412, "confirmation": 40000},
        "detectable_epsilon": 1.126,
        "witness": witness,
    }
    fine = copy.deepcopy(violated) | {
        "id": "PTarget #2",
        "statement": "(3.5, 1e-06)-protected DP",
        "status": "not_rejected",
        "claimed": {"epsilon": 3.5, "delta": 1e-6},
        "detectable_epsilon": 4.0,
    }
    blind = copy.deepcopy(violated) | {
        "id": "PTarget #3",
        "statement": "20-protected DP",
        "status": "inconclusive",
        "claimed": {"epsilon": 20.0, "delta": 0.0},
        "detectable_epsilon": "inf",
    }
    exact = copy.deepcopy(violated) | {
        "id": "PTarget #4",
        "statement": "2-protected DP",
        "status": "not_rejected",
        "claimed": {"epsilon": 2.0, "delta": 0.0},
        "lower_bound": 1.25,
        "exact": 1.25,
        "confidence": None,
        "method": "exact law",
        "event": {
            **event,
            "words": "Marius is found first",
            "probability": 0.4,
            "probability_other": 0.1146,
        },
        "samples": {"discovery": 0, "confirmation": 0},
    }
    skipped = {
        "id": "PTarget #5",
        "statement": "5-protected DP",
        "source": "Theorem 2",
        "status": "skipped",
        "claimed": {"epsilon": 5.0, "delta": 0.0},
        "method": "interrupted before this claim was confirmed",
    }
    return {
        "format": "pdpaudit-result/1",
        "command": "audit",
        "subject": "PTarget",
        "seed": 7,
        "versions": VERSIONS,
        "elapsed_s": 20.493,
        "status": "violated",
        "claims": [violated, fine, blind, exact, skipped],
        "context": {
            "tried": {
                "pairs": 5,
                "by": {"swap on Les Misérables": 2, "swap on karate": 1, "toggle on karate": 2},
                "families": [
                    {"family": "swap", "network": "Les Misérables", "pairs": 2},
                    {"family": "swap", "network": "karate", "pairs": 1},
                    {"family": "toggle", "network": "karate", "pairs": 2},
                ],
            },
            "error_budget": "chance of calling a true claim violated: at most 0.05",
            "network": {"edges": "my edges.csv", "seeds": "Valjean"},
        },
    }


def check_json() -> dict[str, Any]:
    """A check that holds, one that is broken, one with tables, one skipped."""
    witness = {
        "format": "pdpaudit-statistic-witness/1",
        "property": "targeted-sensitivity",
        "statistic": "shared",
        "n": 4,
        "edges": [[1, 2]],
        "vertex": 3,
        "left": [],
        "right": [0, 1, 2],
        "targets": [0, 1],
        "at": 2,
        "max_degree": 3,
        "declared": 1.0,
        "observed": 2.0,
        "values": {"left": [0.0, 0.0, 0.0, 0.0], "right": [1.0, 1.0, 2.0, 0.0]},
    }
    blank = {"declared": None, "observed": None, "exact": False, "scope": "", "witness": None}
    return {
        "format": "pdpaudit-result/1",
        "command": "check",
        "subject": "sops.py:shared",
        "seed": 0,
        "versions": VERSIONS,
        "elapsed_s": 1.0,
        "status": "violated",
        "checks": [
            {**blank, "name": "finite", "status": "certified", "exact": True, "detail": "",
             "scope": "all graphs with up to 5 vertices"},
            {**blank, "name": "targeted-sensitivity", "status": "violated", "declared": 1.0,
             "observed": 2.0, "exact": True, "scope": "all networks with up to 5 vertices",
             "witness": witness, "detail": "declared 1, but vertex 2 moves by 2"},
            {**blank, "name": "impact-cardinality", "status": "certified", "declared": [0, 2, 9],
             "observed": [0, 2, 3], "exact": True, "scope": "all networks with up to 3 vertices",
             "detail": ""},
            {**blank, "name": "tightness", "status": "not_rejected", "exact": True,
             "declared": {"sensitivity": [1.0, "inf"]},
             "observed": {"sensitivity": {"1": [0.0], "2": [0.0, 1.0]}},
             "scope": "all networks with up to 2 vertices", "detail": "attained for degree 1"},
            {**blank, "name": "own-network", "status": "skipped", "detail": "no network was given"},
        ],
    }  # fmt: skip


def simulation_json() -> dict[str, Any]:
    """A search without privacy, one with it, and one whose true cost nobody knows."""
    calls = list(range(0, 2001, 100))
    plain = [min(120.0, 1 + calls[i] // 15) for i in range(len(calls))]
    mean = [0.9 * value + 0.25 for value in plain]
    sd = [value / 16 for value in mean]
    groups = [1 + i / 4 for i in range(len(calls))]
    none = [0.0] * len(calls)
    target = {
        "name": "Target", "mechanism": "Target", "private": False, "runs": 1, "epsilon": None,
        "calls": calls, "mean": plain, "sd": none,
        "components": {"mean": groups, "sd": none}, "multiplier": None,
        "shown": [{"calls": [0, 40, 400, 1900], "found": [1, 30, 90, 120],
                   "discoveries": [[40, 30], [400, 90]]}],
        "discoveries": [[0, 40, 30], [0, 400, 90]],
    }  # fmt: skip
    private = {
        "name": "PTarget", "mechanism": "PTarget:main-text", "private": True, "runs": 200,
        "epsilon": 0.05, "calls": calls, "mean": mean, "sd": sd,
        "components": {"mean": groups, "sd": [0.5] * len(calls)},
        "multiplier": {
            "claimed": {"mean": [1 + i / 100 for i in range(len(calls))], "sd": none},
            "true": {"mean": [1 + i / 40 for i in range(len(calls))], "sd": [0.1] * len(calls)},
            "how": "2ε a round, by the exact law",
        },
        "shown": [
            {"calls": [0, 50 + 10 * i, 900 + i], "found": [1, 20 + i, 90 + i],
             "discoveries": [[50 + 10 * i, 20 + i]]}
            for i in range(3)
        ],
        "discoveries": [[i, 50 + 10 * i, 20 + i] for i in range(200)],
    }  # fmt: skip
    unknown: dict[str, Any] = copy.deepcopy(private) | {"name": "Mine", "epsilon": 1.0, "runs": 20}
    unknown["multiplier"] |= {"true": None, "how": ""}
    unknown["multiplier"]["claimed"]["mean"][-1] = "inf"
    places = [[0.0, 0.1], [0.1, 0.9], [0.2, 0.3], [0.5, 0.5], [0.9, 0.2], [1.0, 1.0]]
    seen = [True, True, True, False, True, False]
    drawing = {
        "vertices": [3, "Valjean", 17, 20, 41, 99],
        "edges": [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5]],
        "positions": places,
        "targeted": [True, True, False, False, True, True],
        "searches": [
            {"name": name, "examined": seen, "found": found, "order": [0, 1, 2, None, 3, None]}
            for name, found in (
                ("Target", [True, True, False, False, True, False]),
                ("PTarget", [True, True, False, False, True, False]),
            )
        ],
    }
    return {
        "format": "pdpaudit-result/1",
        "command": "simulate",
        "subject": "PTarget:main-text against Target",
        "seed": 5,
        "versions": VERSIONS,
        "elapsed_s": 12.0,
        "status": "skipped",
        "context": {
            "simulation": {
                "network": {
                    "source": "my edges.csv", "vertices": 4714, "edges": 91750, "targets": 129,
                    "components": [100, 16, 3, 2, 2, 1, 1, 1, 1, 1, 1], "seed_component": 3,
                    "min_weight": 2.0,
                },
                "population": {"process": "infect", "p": 0.3, "q": 0.8, "rounds": 3, "first": "7"},
                "regime": "dominant",
                "budget": 2000,
                "runs": 200,
                "searches": [target, private, unknown],
                "drawing": drawing,
            },
            "options": {"against": "Target", "epsilon": 0.05, "runs": 200, "edges": "my edges.csv"},
        },
    }  # fmt: skip


def exposure_json() -> dict[str, Any]:
    """An audit that also measured how exposed everybody is; only two were rewired."""
    body = audit_json()
    body["claims"] = [body["claims"][3]]
    body["context"]["exposure"] = {
        "people": 3000,
        "most_exposed": [
            {"vertex": 3, "name": "Javert", "degree": 17, "isolated": 0.5, "rewired": 0.9375,
             "how": "tied to a target found alone", "through": "Marius is found first"},
            {"vertex": 4, "name": "Fantine", "degree": 1, "isolated": 0.25, "rewired": 0.5,
             "how": "isolated", "through": "nobody more is found"},
            {"vertex": 5, "name": "Enjolras", "degree": 0, "isolated": 0.125, "rewired": None,
             "how": "isolated", "through": "Cosette is found first"},
        ],
        "isolated": {
            "measured": 3000, "mean": 0.001, "unaffected": 2990,
            "quantiles": {"0.5": 0.0, "0.9": 0.0, "0.99": 0.125, "1": 0.5},
            "histogram": {"edges": [0.0, 0.125, 0.25, 0.375, 0.5], "counts": [2990, 8, 1, 1]},
        },
        "rewired": {
            "measured": 2, "mean": 0.71875, "unaffected": 0,
            "quantiles": {"0.5": 0.71875, "0.9": 0.9, "0.99": 0.93, "1": 0.9375},
            "histogram": {"edges": [0.0, 0.46875, 0.9375], "counts": [0, 2]},
        },
        "laws_computed": 40,
    }  # fmt: skip
    return body


@pytest.fixture
def audit_body() -> dict[str, Any]:
    """Return the JSON of an audit."""
    return audit_json()


@pytest.fixture
def check_body() -> dict[str, Any]:
    """Return the JSON of a check."""
    return check_json()


@pytest.fixture
def simulation_body() -> dict[str, Any]:
    """Return the JSON of a simulation."""
    return simulation_json()


@pytest.fixture
def exposure_body() -> dict[str, Any]:
    """Return the JSON of an audit with everybody's exposure."""
    return exposure_json()


@pytest.fixture
def measured() -> list[Source]:
    """Return a simulation, and an audit with everybody's exposure."""
    return [
        source_from_json(simulation_json(), "simulation.json"),
        source_from_json(exposure_json(), "exposure.json"),
    ]


@pytest.fixture
def sources() -> list[Source]:
    """Return both results."""
    return [
        source_from_json(audit_json(), "audit.json"),
        source_from_json(check_json(), "check.json"),
    ]


@pytest.fixture
def many_claims() -> dict[str, Any]:
    """Return an audit of 500 claims, each with its pair and the whole of its network."""
    body = audit_json()
    kinds = body["claims"][:4]
    body["claims"] = [
        copy.deepcopy(kinds[i % 4]) | {"id": f"PTarget #{i}", "statement": f"claim {i}"}
        for i in range(500)
    ]
    for claim in body["claims"]:
        base = claim["witness"]["pair"]["base"]
        base["n"], base["names"] = 2000, [*NAMES, *(f"person {i}" for i in range(6, 2000))]
    return body


HOSTILE = {
    "script": "<script>alert(1)</script>",
    "attribute": "\"><img src=x onerror='alert(1)'>",
    "style": "</style></title><b>",
    "comment": "--><!-- ]]>",
    "template": "{{ 7 * 7 }}{% raw %}",
    "link": "[me](javascript:alert(1)) ![p](http://x.example/p.png)",
    "mention": "@all #1 :tada: https://x.example www.x.example",
    "marks": "*a* _b_ `c` | d ~~e~~ $f$ \\",
    "formula": '=HYPERLINK("http://x.example","a")',
    "hebrew": "ז'אן ולז'אן",
    "override": "gpj.\u202eexe",
    "emoji": "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7",
    "control": "\x00\x1b[31m\r\n\x07",
    "surrogate": "\ud800",
    "long": "x" * 10_000,
    "words": "y " * 5_000,
    "heading": "# one\n\n## two\n- three",
}


@pytest.fixture(scope="session")
def hostile_names() -> list[str]:
    """Return all names nobody should have."""
    return list(HOSTILE.values())


@pytest.fixture(params=list(HOSTILE.values()), ids=list(HOSTILE))
def hostile(request: pytest.FixtureRequest) -> str:
    """Return a name nobody should have."""
    name: str = request.param
    return name


KEPT = {"format", "status", "side", "feature", "family", "detectable_epsilon", "property", "mean"}


def poison(value: Any, text: str, key: str = "") -> Any:
    """Return JSON in which every piece of text, but for the words of the format, is another."""
    if isinstance(value, dict):
        return {k: poison(item, text, k) for k, item in value.items()}
    if isinstance(value, list):
        return [poison(item, text, key) for item in value]
    return text if isinstance(value, str) and key not in KEPT else value


@pytest.fixture
def hostile_sources(hostile: str, repetitions: Callable[[int, int], int]) -> list[Source]:
    """Return results with the name in every place that holds text.

    All kinds with --slow; by default one kind, each with every fourth name.
    """
    bodies = (audit_json(), check_json(), simulation_json(), exposure_json())
    turn = list(HOSTILE.values()).index(hostile) % len(bodies)
    chosen = bodies[repetitions(turn, 0) : repetitions(turn + 1, len(bodies))]
    return [source_from_json(poison(body, hostile), hostile) for body in chosen]


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    """Return what writes a result file."""

    def write(body: dict[str, Any], name: str = "result.json") -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(body), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def chromium() -> tuple[str, str]:
    """Return the browser and its driver."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    return browser, driver


@pytest.fixture(scope="session")
def hostile_text(repetitions: Callable[[int, int], int]) -> str:
    """Return a page with names that try everything at once.

    Each name in one kind of result by default, each kind in turn; with --slow in all.
    """
    kinds = (audit_json, check_json, simulation_json, exposure_json)
    return render_html(
        [
            source_from_json(poison(make(), name), f"{i}.json")
            for i, name in enumerate(HOSTILE.values())
            for j, make in enumerate(kinds)
            if (i - j) % repetitions(len(kinds), 1) == 0
        ]
    )
