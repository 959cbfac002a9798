"""Make tables.json and the pages of this folder again: exact Δ and IC of every statistic.

``python reports/statistics/make.py`` writes the same bytes whatever the machine and ``--jobs``.
"""

from __future__ import annotations

import argparse
import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pdpaudit.auditing.published_claims import BoundClaim
from pdpaudit.checks import Row, enumerate_labelled, exhaust, require_statistic
from pdpaudit.checks.evaluation import KEYS
from pdpaudit.core.protocols import FastStatistic
from pdpaudit.core.registry import resolve
from pdpaudit.outputs.records import JSON
from pdpaudit.report.blocks import Table
from pdpaudit.report.rendering import render_html, render_markdown
from pdpaudit.report.sources import KEY as DOSSIER
from pdpaudit.report.sources import published, read_source, section
from pdpaudit.results.files import save, write_text
from pdpaudit.results.results import CheckResult, Result, Status

FOLDER = Path(__file__).parent
COMMAND = "python reports/statistics/make.py"
DIGITS = 6  # significant digits of what is written

#: Every statistic, the paper's first, with the largest number of vertices.
SCOPE = {
    "CN": 7,
    "Triangle": 7,
    "Path_1": 7,
    "Path_2": 7,
    "Path_3": 7,
    "Flow_2": 7,
    "Flow_3": 5,
    "AdamicAdar": 7,
    "ResourceAllocation": 7,
    "CommonNeighboursPerMember": 7,
    "Jaccard": 7,
    "PreferentialAttachment": 7,
    "Katz3": 7,
    "InverseDistance": 7,
    "PersonalisedPageRank": 7,
}
LABELLED = 5  # vertices up to which every labelled network is enumerated, by the scalar form
BEYOND = ", up to relabelling"  # of a table: what was searched beyond
DEGREES = (2, 3, 5)  # of the table that compares all statistics

Bound = Callable[[int], float]

#: The paper's claims that bound Δ, and the statistics here that each covers, by their order.
CLAIMS: Mapping[str, Mapping[str, int]] = {
    "C7": {"Flow_2": 2, "Flow_3": 3},
    "C8": {"Path_1": 1, "Path_2": 2, "Path_3": 3},
    "C9": {"Triangle": 0},
    "C10": {"CN": 0},
    "C11": {"Path_1": 1},
}

#: Smaller bounds that hold for any number of vertices: the bound in words, itself, and why.
TIGHTER: Mapping[str, tuple[str, Bound, str]] = {
    "Triangle": (
        "0",
        lambda d: 0,
        "the corners of a triangle counted for a targeted vertex are all targeted, and edges "
        "between targeted vertices never change",
    ),
    "Path_2": (
        "d - 1",
        lambda d: max(d - 1, 0),
        "of a targeted t only the paths t-u-s change, and u next to t has d - 1 other neighbours",
    ),
    "Path_3": (
        "(d - 1)·max(d, 2d - 3)",
        lambda d: (d - 1) * max(d, 2 * d - 3) if d else 0,
        "only paths through u change; where u is next to t and x of u's d - 1 other neighbours "
        "are not, they are d - 1 paths t-u-s, x(d - 1) + (d - 1 - x)(d - 2) paths t-u-a-s and "
        "(d - 1 - x)(d - 2) paths t-a-u-s, most with x = 0, or x = 1 for d = 2; where u is not "
        "next to t they are d(d - 1) paths t-a-u-s",
    ),
    "Flow_2": (
        "1, and 0 for d < 2",
        lambda d: float(d >= 2),
        "the paths t-u-s share the edge t-u, which carries 1",
    ),
    "Flow_3": ("d / 2", lambda d: d / 2 if d >= 2 else 0, "a path through u uses two of its edges"),
}

NOISE = (
    "A search that orders vertices by noisy values adds noise in proportion to the declared Δ: of "
    "scale 2Δ/ε for report noisy max, which returns the vertex alone. What is declared above the "
    "truth is paid for in accuracy, and buys no privacy; what is declared below it voids the "
    "guarantee. The searches that compare a noisy count of protected vertices with a limit pay for "
    "IC as well."
)


def measure(name: str, vertices: int, jobs: int) -> JSON:
    """Look at one statistic on all networks with up to ``vertices`` vertices.

    Small ones are all enumerated, labelled, by the scalar form; the search up to relabelling, by
    the fast path where there is one, must give the same tables there, and goes on.
    """
    sop, declared = require_statistic(resolve("sops", name))
    fast = isinstance(sop, FastStatistic)
    labelled = min(LABELLED, vertices)
    certain = enumerate_labelled(declared, max_vertices=labelled, jobs=jobs, deadline=math.inf)
    found = exhaust(declared, max_vertices=vertices, fast=fast, jobs=jobs, deadline=math.inf)
    if _table(certain.rows) != _table(found.rows[:labelled]):
        raise SystemExit(f"{name}: up to relabelling, or by the fast path, values are others")
    return {
        "name": name,
        "definition": (inspect.getdoc(type(sop)) or "").splitlines()[0],
        "vertices": vertices,
        "labelled": labelled,
        "fast_path": fast,
        "violated": sorted({*certain.cases, *found.cases}),
        "declared": {
            "sensitivity": plain_values(declared.sensitivity[:vertices]),
            "impact_cardinality": plain_values(declared.impact_cardinality[:vertices]),
        },
        "exact": _table(found.rows),
    }


def _table(rows: Sequence[Row]) -> dict[str, dict[str, list[float | None]]]:
    return {
        "sensitivity": {str(row.n): plain_values(row.sensitivity) for row in rows},
        "impact_cardinality": {
            str(row.n): plain_values(row.impact_cardinality or ()) for row in rows
        },
    }


def tables(vertices: int, jobs: int, names: Sequence[str] = tuple(SCOPE)) -> list[JSON]:
    """Return what is found of each statistic, with no network larger than ``vertices``."""
    return [measure(name, min(SCOPE[name], vertices), jobs) for name in names]


def result(entries: Sequence[JSON]) -> dict[str, object]:
    """Return what tables.json holds: a result, with what its report is to say first."""
    about = ("name", "definition", "vertices", "labelled", "fast_path", "violated")
    context = {
        DOSSIER: dossier(entries),
        "statistics": [{key: entry[key] for key in about} for entry in entries],
    }
    checks = tuple(map(_check, entries))
    found = Result("statistics", "statistics of proximity", 0, 0.0, checks=checks, context=context)
    return dict(published(found.to_json()))


def _check(entry: JSON) -> CheckResult:
    """Return the verdict on a statistic's declarations, its tables and what they show."""
    bounded = [v for row in entry["declared"].values() for v in row[1:] if v is not None]
    status: Status = "certified" if bounded else "skipped"
    form = " by the fast path" if entry["fast_path"] else ""
    scope = f"every labelled network up to {entry['labelled']} vertices"
    if entry["vertices"] > entry["labelled"]:
        scope += f"; searched{form}: up to {entry['vertices']} vertices up to relabelling"
    return CheckResult(
        name=entry["name"],
        status="violated" if entry["violated"] else status,
        declared={
            key: [math.inf if v is None else v for v in row]
            for key, row in entry["declared"].items()
        },
        observed=_observed(entry),
        exact=True,
        scope=scope,
        detail=" ".join(_about_statistic(entry)),
    )


def _observed(entry: JSON) -> dict[str, dict[str, object]]:
    """Return the tables, those over every labelled network apart from those searched."""
    parts: dict[str, dict[str, object]] = {}
    for key, rows in entry["exact"].items():
        for n, row in rows.items():
            part = key if int(n) <= entry["labelled"] else key + BEYOND
            parts.setdefault(part, {})[n] = row
    return parts


def plain_values(values: Sequence[float]) -> list[float | None]:
    """Round, with no bound (infinity) as null, and whole numbers as such."""
    return [None if math.isinf(value) else rounded(value) for value in values]


def rounded(value: float) -> float:
    """Return a number of the digits that are written, a whole one as such."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def dossier(entries: Sequence[JSON]) -> dict[str, object]:
    """Return what the report says before the tables; a function of what was found."""
    degrees = [f"{letter}({d})" for letter in ("Δ", "IC") for d in DEGREES]
    overview = Table(
        f"Declared / found, over all networks with up to n vertices; certified up to {LABELLED}",
        ("statistic", "n", *degrees, "declarations"),
        tuple(map(_overview, entries)),
    )
    by_name = {entry["name"]: entry for entry in entries}
    claims = tuple(
        _claim(resolve("claims", number), by_name[name], k)
        for number, orders in CLAIMS.items()
        for name, k in orders.items()
        if name in by_name
    )
    columns = ("", "bound", "statistic", "networks", "verdict", "by how much")
    return {
        "title": "Statistics of proximity: exact sensitivity and impact",
        "text": [
            "Δ(d) is the most by which rewiring one protected vertex u can move the value of a "
            "targeted vertex, and IC(d) the number of vertices, u included, whose value it can "
            "change, where both networks have degree at most d. All values here are the largest "
            "over pairs of neighbouring networks on n vertices and every set S of targeted "
            "vertices. Larger networks may need more, except where a bound with its proof is given "
            "below. `none` and ∞ say that no bound in the degree alone is declared.",
            f"Up to {LABELLED} vertices they are certified: every labelled network was enumerated "
            "by the scalar form, and values compared exactly, or within the rounding a statistic "
            "states. Beyond, one network of each class up to relabelling was taken, by the fast "
            "path where there is one: exact as far as these statistics, which are defined without "
            f"regard to numbers, are computed so, which up to {LABELLED} vertices they are.",
        ],
        "made": COMMAND,
        "sections": [
            section("Findings", points=list(_findings(entries))),
            section("All statistics", tables=[overview]),
            section(
                "The paper's bounds on Δ",
                tables=[Table("Claimed and exact", columns, claims)] if claims else [],
            ),
            section("What it means for noise", text=[NOISE]),
        ],
    }


def _overview(entry: JSON) -> tuple[str, ...]:
    cells = [_cell(entry, key, d) for key in KEYS.values() for d in DEGREES]
    return (entry["name"], str(entry["vertices"]), *cells, _verdict(entry))


def _last(entry: JSON, key: str) -> list[float]:
    """Return the exact values on the largest networks, index d."""
    values: list[float] = entry["exact"][key][str(entry["vertices"])]
    return values


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.{DIGITS}g}"


def _cell(entry: JSON, key: str, d: int) -> str:
    if d >= entry["vertices"]:
        return ""
    return f"{_number(entry['declared'][key][d])} / {_number(_last(entry, key)[d])}"


def _verdict(entry: JSON) -> str:
    """Say what became of both declarations."""
    verdicts = []
    for of, key in KEYS.items():
        none = "none to check" if None in entry["declared"][key] else "holds"
        verdicts.append("violated" if of in entry["violated"] else none)
    if len(set(verdicts)) == 1:
        return verdicts[0].replace("holds", "hold")
    return f"Δ {verdicts[0]}; IC {verdicts[1]}"


def _degrees(degrees: Sequence[int]) -> str:
    """Say which degrees: ``2 to 6``, or ``1, 2 and 5``."""
    first, last = degrees[0], degrees[-1]
    if len(degrees) > 2 and last - first == len(degrees) - 1:
        return f"{first} to {last}"
    return " and ".join(filter(None, (", ".join(map(str, degrees[:-1])), str(last))))


def _compare(bounds: Sequence[float | None], exact: Sequence[float]) -> dict[str, list[int]]:
    """Sort the degrees from 1 on by whether the bound is exceeded, attained, loose or absent."""
    sorted_by: dict[str, list[int]] = {"exceeded": [], "attained": [], "loose": [], "absent": []}
    for d in range(1, len(exact)):
        bound = bounds[d]
        if bound is None:
            kind = "absent"
        elif math.isclose(bound, exact[d], rel_tol=10 ** (1 - DIGITS)):
            kind = "attained"
        else:
            kind = "exceeded" if exact[d] > bound else "loose"
        sorted_by[kind].append(d)
    return sorted_by


def _claim(claim: BoundClaim, entry: JSON, k: int) -> tuple[str, ...]:
    n, exact = entry["vertices"], _last(entry, "sensitivity")
    bounds = [claim.bound(k, d) for d in range(n)]
    kinds = _compare(bounds, exact)
    if kinds["exceeded"]:
        verdict = f"violated for d = {_degrees(kinds['exceeded'])}"
    elif kinds["attained"]:
        verdict = f"holds, attained for d = {_degrees(kinds['attained'])}"
    else:
        verdict = "holds, nowhere attained"
    loose = [f"d = {d}: {bounds[d]:g} for {exact[d]:g}" for d in kinds["loose"]]
    networks = f"labelled up to {entry['labelled']} vertices"
    if n > entry["labelled"]:
        networks += f", up to relabelling up to {n}"
    return (claim.id, claim.statement, entry["name"], networks, verdict, "; ".join(loose))


def _findings(entries: Sequence[JSON]) -> Iterator[str]:
    """Say what concerns more than one statistic."""
    broken = [e["name"] for e in entries if e["violated"]]
    yield (
        f"Declarations violated: {', '.join(broken)}."
        if broken
        else "No declaration is violated on any network tried."
    )
    used = [
        e["name"]
        for e in entries
        if _compare(e["declared"]["sensitivity"], _last(e, "sensitivity"))["attained"]
        == list(range(1, e["vertices"]))
    ]
    if used:
        yield f"Δ is declared exactly, for every degree tried: {', '.join(used)}."
    still = [e["name"] for e in entries if max(_last(e, "sensitivity")) == 0]
    if still:
        yield (
            f"Exact Δ is 0 for every degree tried: {', '.join(still)}. No rewiring of a "
            "protected vertex moves the value of a targeted one."
        )
    for entry in entries:
        exact = _last(entry, "sensitivity")
        kinds = _compare(entry["declared"]["sensitivity"], exact)
        if kinds["loose"] and not kinds["exceeded"]:
            d = kinds["loose"][-1]
            if kinds["attained"] and max(kinds["attained"]) > 1:
                continue
            bound = entry["declared"]["sensitivity"][d]
            if exact[d] == 0:
                wasted = "all noise is wasted"
            else:
                sure = "" if entry["name"] in TIGHTER else " (larger networks may need more)"
                wasted = f"noise is {bound / exact[d]:.3g} times too wide{sure}"
            yield (
                f"{entry['name']}: for degree {d}, declared {bound:g}, exact {exact[d]:g}: "
                f"{wasted}."
            )
    for key, words in (("sensitivity", "Δ"), ("impact_cardinality", "IC")):
        none = [e["name"] for e in entries if None in e["declared"][key]]
        if none:
            yield f"No bound on {words} in the degree alone: {', '.join(none)}."


def _about_statistic(entry: JSON) -> Iterator[str]:
    """Say what a statistic is, and what its tables show."""
    n = entry["vertices"]
    yield entry["definition"].replace("``", "").replace(" [1]_", "")
    if entry["name"] in TIGHTER:
        words, bound, why = TIGHTER[entry["name"]]
        kinds = _compare([bound(d) for d in range(n)], _last(entry, "sensitivity"))
        if kinds["exceeded"]:
            raise SystemExit(f"{entry['name']}: {words} is exceeded for d = {kinds['exceeded']}")
        at = f"attained for d = {_degrees(kinds['attained'])}" if kinds["attained"] else "loose"
        yield f"A bound on Δ that holds for any number of vertices: {words} ({at}), as {why}."


def main() -> None:
    """Make the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    write(FOLDER, result(tables(max(SCOPE.values()), parser.parse_args().jobs)))


def write(folder: Path, body: JSON) -> None:
    """Write the result and, from the file as anybody reads it, its pages."""
    save(folder / "tables.json", body)
    source = read_source(folder / "tables.json")
    write_text(folder / "README.md", render_markdown([source]))
    write_text(folder / "index.html", render_html([source]))


if __name__ == "__main__":
    main()
